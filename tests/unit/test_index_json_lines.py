"""JSON Lines, plain and packed: good lines come through whatever stands beside them."""

import gzip
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.records.json_lines import MAX_LINE_BYTES, read_lines

OBJECTS = st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=10), max_size=3), max_size=8)


def compress(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


@given(OBJECTS, st.booleans())
def test_written_objects_are_read_in_order(objects: list[dict[str, object]], packed: bool) -> None:
    content = b"".join(json.dumps(item).encode() + b"\n" for item in objects)
    lines = list(read_lines(io.BytesIO(compress(content) if packed else content)))
    assert [line.data for line in lines] == objects
    assert [line.number for line in lines] == list(range(1, len(objects) + 1))


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_read_without_failure(content: bytes) -> None:
    for line in read_lines(io.BytesIO(content)):
        assert isinstance(line.data, str | dict)


@given(st.integers(20, 400))
def test_truncated_gzip_keeps_earlier_lines_and_reports_the_damage(cut: int) -> None:
    compressed = compress(
        b"".join(json.dumps({"n": n, "text": f"{n * 7919 % 1000:b}"}).encode() + b"\n" for n in range(200))
    )
    lines = list(read_lines(io.BytesIO(compressed[: min(cut, len(compressed) - 1)])))
    *good, last = lines
    assert last.data == "the compressed file is damaged or cut off here"
    values = [line.data["n"] for line in good if isinstance(line.data, dict)]
    assert values == list(range(len(values)))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a": "caf\xe9"}', "not UTF-8"),
        (b'{"a": ', "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[1]", "not a JSON object"),
        (b'"' + b"x" * MAX_LINE_BYTES + b'"', f"the line has more than {MAX_LINE_BYTES:,} bytes"),
    ],
    ids=["encoding", "cut", "nested", "list", "long"],
)
def test_bad_line_is_reported_with_number_and_reading_continues(line: bytes, reason: str) -> None:
    lines = list(read_lines(io.BytesIO(b'{"n": 1}\n\n' + line + b'\n{"n": 4}\n')))
    assert [(item.number, item.data) for item in lines] == [(1, {"n": 1}), (3, reason), (4, {"n": 4})]


def test_byte_order_mark_is_not_part_of_first_line() -> None:
    assert [line.data for line in read_lines(io.BytesIO(b'\xef\xbb\xbf{"n": 1}\n'))] == [{"n": 1}]
