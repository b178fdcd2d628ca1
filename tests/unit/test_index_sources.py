import gzip
import json
from pathlib import Path

import pytest

from assayer.errors import InputError
from index.sources import describe, harvest
from tests.corpus_papers import RECORDS, record, write_jsonl


def reasons(path: Path) -> list[tuple[int, str]]:
    return [(one.line, one.reason) for one in harvest([path]).rejections]


def test_harvest_of_good_lines_keeps_all(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.jsonl.gz"):
        found = harvest([write_jsonl(tmp_path / name, RECORDS)])
        assert list(found.records) == [one["id"] for one in RECORDS]
        assert not found.rejections


def test_harvest_sets_bad_lines_aside_with_place_and_reason(tmp_path: Path) -> None:
    lines = [json.dumps(record(0)), "", "{not json", "[1, 2]", json.dumps(record(1, title="")), json.dumps(record(0))]
    path = write_jsonl(tmp_path / "a.jsonl", [*lines, json.dumps(record(2))])
    assert reasons(path) == [
        (3, "not valid JSON"),
        (4, "not a JSON object"),
        (5, "title is missing"),
        (6, "duplicate id"),
    ]
    assert list(harvest([path]).records) == ["bee-00", "bee-02"]


def test_harvest_of_duplicate_ids_keeps_the_first(tmp_path: Path) -> None:
    first = write_jsonl(tmp_path / "a.jsonl", [record(0, title="First")])
    second = write_jsonl(tmp_path / "b.jsonl", [record(0, title="Second"), record(1)])
    found = harvest([first, second])
    assert found.records["bee-00"].title == "First"
    assert [(one.source, one.line) for one in found.rejections] == [("b.jsonl", 1)]


def test_harvest_of_another_encoding_keeps_the_lines_it_can_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    latin = json.dumps(record(1, title="Männertreu"), ensure_ascii=False).encode("latin-1")
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(record(0)).encode() + b"\n" + latin + b"\n")
    assert reasons(path) == [(2, "not UTF-8")]


def test_harvest_of_a_cut_off_gzip_keeps_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    lines = "".join(json.dumps(record(n, abstract=f"{n} words " * 400)) + "\n" for n in range(200))
    data = gzip.compress(lines.encode())
    path.write_bytes(data[: len(data) * 3 // 4])
    found = harvest([path])
    assert 0 < len(found.records) < 200
    assert "damaged or cut off" in found.rejections[-1].reason


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b"", "The file is empty"),
        ("a.jsonl", b'{"id": "x", "title": "T"}\n', "Line 1: abstract is missing"),
        ("a.jsonl.gz", b"not gzip at all", "damaged or cut off"),
        ("a.jsonl", bytes(range(256)), "Line 1"),
    ],
)
def test_harvest_of_a_source_without_a_paper_is_an_error(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match="holds no valid paper") as caught:
        harvest([path])
    assert said in str(caught.value)


def test_describe_of_what_is_no_source_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,title\n")
    with pytest.raises(InputError, match=r"\.jsonl"):
        describe(tmp_path / "a.csv")
    with pytest.raises(InputError, match="no file"):
        describe(tmp_path / "missing.jsonl")


def test_describe_changes_with_the_content(tmp_path: Path) -> None:
    first = describe(write_jsonl(tmp_path / "a.jsonl", [record(0)]))
    second = describe(write_jsonl(tmp_path / "a.jsonl", [record(1)]))
    assert first.sha256 != second.sha256
