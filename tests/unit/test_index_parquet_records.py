"""Paper records in Parquet: what is written is read again, and what is damaged is told."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assayer.errors import InputError
from index.records.paper_record import PaperRecord
from index.records.parquet_records import RecordVector, RecordWithVector, RecordWriter, list_parquet_files, read_records

FULL = PaperRecord.model_validate(
    {
        "id": "S2:1",
        "title": "One",
        "abstract": "It is about one.",
        "authors": ["Ada Lovelace"],
        "year": 1843,
        "venue": "Notes",
        "url": "https://example.org/1",
        "citation_count": 3,
        "doi": "10.1000/one",
        "references": ["S2:2"],
        "fields": ["Mathematics"],
        "retracted": True,
        "sections": [{"title": "Introduction", "text": "In the beginning."}],
    }
)
RECORD_WITHOUT_VECTOR = PaperRecord.model_validate({"id": "S2:2", "title": "Two", "abstract": "It is about two."})


def write_records(path: Path, *records: RecordWithVector) -> Path:
    with RecordWriter(path) as writer:
        for record, vector in records:
            writer.write(record, vector)
    return path


def test_written_records_are_read_back(tmp_path: Path) -> None:
    path = write_records(tmp_path / "a.parquet", RecordWithVector(FULL), RecordWithVector(RECORD_WITHOUT_VECTOR))
    assert list(read_records(path)) == [
        (1, RecordWithVector(FULL.model_copy(update={"year": None}))),
        (2, RecordWithVector(RECORD_WITHOUT_VECTOR)),
    ]


def test_vectors_keep_values_and_model_when_read_back(tmp_path: Path) -> None:
    vectors = [
        RecordVector(np.array([1, np.nan], np.float32), "small"),
        None,
        RecordVector(np.empty(0, np.float32), ""),
    ]
    path = write_records(
        tmp_path / "a.parquet", *(RecordWithVector(RECORD_WITHOUT_VECTOR, vector) for vector in vectors)
    )
    read_vectors = [row.vector for _, row in read_records(path) if isinstance(row, RecordWithVector)]
    assert read_vectors[0] is not None
    assert read_vectors[0].model == "small"
    np.testing.assert_array_equal(read_vectors[0].values, np.array([1, np.nan], np.float32))
    assert read_vectors[1] is None
    assert read_vectors[2] is not None
    assert read_vectors[2].values.size == 0


def test_invalid_row_is_reported_by_number_and_other_rows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"id": [7, 8, 9], "title": ["a", None, "c"], "abstract": ["x", "y", "z"]}), path)
    rows_by_number = dict(read_records(path))
    assert rows_by_number[2] == "title is missing"
    assert [row.record.id for row in rows_by_number.values() if isinstance(row, RecordWithVector)] == ["7", "9"]


def test_damaged_row_group_does_not_affect_other_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    ids = [f"S2:{n}" for n in range(300)]
    table = pa.table({"id": ids, "title": ids, "abstract": ids})
    pq.write_table(table, path, row_group_size=100, compression="zstd")
    start = pq.ParquetFile(path).metadata.row_group(1).column(0).dictionary_page_offset
    file_bytes = bytearray(path.read_bytes())
    file_bytes[start : start + 200] = b"\xff" * 200
    path.write_bytes(file_bytes)
    rows_by_number = dict(read_records(path))
    assert rows_by_number[101] == "the file is damaged here"
    assert sum(isinstance(row, RecordWithVector) for row in rows_by_number.values()) == 200


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more", b'{"id": 1}'])
def test_non_parquet_file_is_rejected_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.parquet cannot be read as Parquet"):
        list(read_records(path))


def test_table_with_missing_columns_is_rejected_naming_them(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["1"]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="missing columns: abstract, title"):
        list(read_records(tmp_path / "a.parquet"))


def test_parquet_files_of_a_folder_are_returned_in_order(tmp_path: Path) -> None:
    for name in ("part-00001.parquet", "part-00000.parquet", "rejected.jsonl"):
        (tmp_path / name).touch()
    assert [path.name for path in list_parquet_files(tmp_path)] == ["part-00000.parquet", "part-00001.parquet"]
