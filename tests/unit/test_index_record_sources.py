import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assayer.errors import InputError
from index.records.paper_record import PaperRecord
from index.records.parquet_records import RecordVector, RecordWithVector, RecordWriter
from index.records.record_sources import RecordReader, RejectedLine, describe_source
from tests.corpus_papers import RECORDS, record, write_jsonl
from workers.embedding.hashing_embedder import HashingEmbedder

DIMENSIONS = 8
EMBEDDER = HashingEmbedder(dimensions=DIMENSIONS)


def read_all(*paths: Path) -> tuple[list[RecordWithVector], list[RejectedLine]]:
    harvest = RecordReader(paths, EMBEDDER)
    return list(harvest), harvest.rejections


def list_ids(path: Path) -> list[str]:
    return [item.record.id for item in read_all(path)[0]]


def list_rejection_reasons(path: Path) -> list[tuple[int, str]]:
    return [(item.line, item.reason) for item in read_all(path)[1]]


def make_record_with_vector(number: int, vector: Any, model: str = EMBEDDER.name) -> dict[str, Any]:
    return record(number, vector=vector, vector_model=model)


def test_harvest_keeps_all_valid_lines(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.jsonl.gz"):
        path = write_jsonl(tmp_path / name, RECORDS)
        assert list_ids(path) == [item["id"] for item in RECORDS]
        assert not list_rejection_reasons(path)


def test_harvest_reports_bad_lines_with_place_and_reason(tmp_path: Path) -> None:
    lines = [json.dumps(record(0)), "", "{not json", "[1, 2]", json.dumps(record(1, title="")), json.dumps(record(0))]
    path = write_jsonl(tmp_path / "a.jsonl", [*lines, json.dumps(record(2))])
    assert list_rejection_reasons(path) == [
        (3, "not valid JSON"),
        (4, "not a JSON object"),
        (5, "title is missing"),
        (6, "duplicate id"),
    ]
    assert list_ids(path) == ["bee-00", "bee-02"]


def test_harvest_of_duplicate_ids_keeps_the_first(tmp_path: Path) -> None:
    first = write_jsonl(tmp_path / "a.jsonl", [record(0, title="First")])
    second = write_jsonl(tmp_path / "b.jsonl", [record(0, title="Second"), record(1)])
    records, rejections = read_all(first, second)
    assert [item.record.id for item in records] == ["bee-00", "bee-01"]
    assert records[0].record.title == "First"
    assert [(rejection.source, rejection.line) for rejection in rejections] == [("b.jsonl", 1)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b"", "The file is empty"),
        ("a.jsonl", b'{"id": "x", "title": "T"}\n', "Line 1: abstract is missing"),
        ("a.jsonl.gz", b"not gzip at all", "not valid JSON"),
        ("a.jsonl", bytes(range(256)), "Line 1"),
    ],
)
def test_source_without_valid_papers_is_rejected(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match="contains no valid paper") as caught:
        read_all(path)
    assert message in str(caught.value)


def test_unsupported_or_missing_source_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,title\n")
    with pytest.raises(InputError, match=r"\.jsonl"):
        describe_source(tmp_path / "a.csv")
    with pytest.raises(InputError, match="no file"):
        describe_source(tmp_path / "missing.jsonl")


def test_source_description_changes_with_content(tmp_path: Path) -> None:
    first = describe_source(write_jsonl(tmp_path / "a.jsonl", [record(0)]))
    second = describe_source(write_jsonl(tmp_path / "a.jsonl", [record(1)]))
    assert first.sha256 != second.sha256


def test_harvested_vectors_are_normalised_to_unit_length(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [make_record_with_vector(0, [2.0] * DIMENSIONS), record(1)])
    first, second = read_all(path)[0]
    assert first.vector is not None
    assert first.vector.values.tolist() == pytest.approx([DIMENSIONS**-0.5] * DIMENSIONS)
    assert second.vector is None


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        ([1.0] * 3, "vector has 3 numbers, not 8"),
        ([1.0] * 7 + [float("nan")], "vector is zero or not finite"),
        ([0.0] * 8, "vector is zero or not finite"),
        ("nonsense", "vector has 0 numbers, not 8"),
        ([1.0, "x"], "vector has 0 numbers, not 8"),
    ],
)
def test_harvest_drops_bad_vector_but_keeps_its_record(tmp_path: Path, vector: Any, reason: str) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [record(0), make_record_with_vector(1, vector)])
    records, rejections = read_all(path)
    assert [(item.record.id, item.vector) for item in records] == [("bee-00", None), ("bee-01", None)]
    assert [(rejection.line, rejection.reason) for rejection in rejections] == [
        (2, f"{reason}: the text is embedded instead")
    ]


@pytest.mark.parametrize("model", ["specter2", ""])
def test_vectors_of_another_model_are_rejected_unless_ignored(tmp_path: Path, model: str) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [make_record_with_vector(0, [1.0] * DIMENSIONS, model)])
    with pytest.raises(InputError, match=model or "does not name") as caught:
        read_all(path)
    assert "--embed-anew" in caught.value.hint
    assert [item.vector for item in RecordReader([path])] == [None]


def test_harvest_reads_all_parts_of_a_parquet_folder(tmp_path: Path) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    for part in range(2):
        with RecordWriter(folder / f"part-{part}.parquet") as writer:
            for number in (part, part + 1):
                values = np.full(DIMENSIONS, 3.0, np.float32)
                writer.write(PaperRecord.model_validate(record(number)), RecordVector(values, EMBEDDER.name))
    records, rejections = read_all(folder)
    assert [item.record.id for item in records] == ["bee-00", "bee-01", "bee-02"]
    assert all(item.vector is not None for item in records)
    assert [(rejection.source, rejection.line, rejection.reason) for rejection in rejections] == [
        ("part-1.parquet", 1, "duplicate id")
    ]
    before = describe_source(folder)
    (folder / "part-1.parquet").unlink()
    assert describe_source(folder).sha256 != before.sha256


def test_folder_without_parquet_files_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contains no Parquet files"):
        describe_source(tmp_path)
