"""Read and write paper records in Parquet: ingest writes them; builds and updates read them alongside JSON Lines."""

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import ValidationError
from pydantic_core import from_json

from assayer.errors import InputError
from assayer.models import Identifiers
from index.records.paper_record import PaperRecord, describe_first_problem, format_works_as_json

RECORDS_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("title", pa.string()),
        pa.field("abstract", pa.string()),
        pa.field("authors", pa.list_(pa.string())),
        pa.field("publication_date", pa.date32()),
        pa.field("venue", pa.string()),
        pa.field("url", pa.string()),
        pa.field("citation_count", pa.int32()),
        pa.field("identifiers", pa.struct([pa.field(name, pa.string()) for name in Identifiers.model_fields])),
        pa.field("references", pa.list_(pa.string())),
        pa.field("fields", pa.list_(pa.string())),
        pa.field("retracted", pa.bool_()),
        pa.field("sections", pa.list_(pa.struct([pa.field("title", pa.string()), pa.field("text", pa.string())]))),
        pa.field("vector", pa.list_(pa.float32())),
        pa.field("vector_model", pa.string()),
    ]
)
"""Schema with PaperRecord's fields as columns. `references` is null if the source does not list references, `vector` if
there is no vector."""

_VECTOR, _MODEL, _CITED = "vector", "vector_model", "cited_in_text"
_WRITTEN_SCHEMA = RECORDS_SCHEMA.append(pa.field(_CITED, pa.string()))
"""Schema of the files that we write, which also contain the works that texts cite, as JSON. Files from elsewhere need
no such column."""
_GROUP = 4096
"""Number of rows per row group; a reader holds one row group in memory."""
_BATCH = 512


class RecordVector(NamedTuple):
    """Vector of title and abstract supplied with a record, neither checked nor normalised."""

    values: NDArray[np.float32]
    model: str
    """Model name as in `Embedder.name`; empty if the source does not state it."""


class RecordWithVector(NamedTuple):
    record: PaperRecord
    vector: RecordVector | None = None


class RecordWriter:
    """Writes records in row groups. The file is complete after the `with` block. A sink that was passed as an open file
    stays open."""

    def __init__(self, sink: Path | IO[bytes]) -> None:
        self._file = pq.ParquetWriter(sink, _WRITTEN_SCHEMA, compression="zstd")
        self._parse_rows: list[dict[str, Any]] = []
        self._copy_vectors: list[RecordVector | None] = []

    def write(self, record: PaperRecord, vector: RecordVector | None = None) -> None:
        self._parse_rows.append(
            record.model_dump(exclude={"year"}) | {_CITED: format_works_as_json(record.cited_in_text)}
        )
        self._copy_vectors.append(vector)
        if len(self._parse_rows) == _GROUP:
            self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._flush()
        self._file.close()

    def _flush(self) -> None:
        if not self._parse_rows:
            return
        record_columns = pa.Table.from_pylist(self._parse_rows, schema=pa.schema(list(RECORDS_SCHEMA)[:-2]))
        models = pa.array([vector.model or None if vector else None for vector in self._copy_vectors], pa.string())
        table = record_columns.append_column(RECORDS_SCHEMA.field(_VECTOR), _build_vector_array(self._copy_vectors))
        table = table.append_column(RECORDS_SCHEMA.field(_MODEL), models)
        cited_works = pa.array([row[_CITED] for row in self._parse_rows], pa.string())
        self._file.write_table(table.append_column(_WRITTEN_SCHEMA.field(_CITED), cited_works), row_group_size=_GROUP)
        self._parse_rows, self._copy_vectors = [], []


def _build_vector_array(vectors: Sequence[RecordVector | None]) -> pa.Array:
    """Return the vectors as one Arrow array, without creating a Python object for each number."""
    arrays = [np.asarray(vector.values, np.float32) for vector in vectors if vector]
    lengths = [len(vector.values) if vector else 0 for vector in vectors]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    values = np.concatenate(arrays) if arrays else np.empty(0, np.float32)
    is_missing = pa.array([vector is None for vector in vectors], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values, pa.float32()), mask=is_missing)


def list_parquet_files(path: Path) -> list[Path]:
    """Return the Parquet files in a folder, in order, or the path itself if it is a file."""
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def read_records(path: Path) -> Iterator[tuple[int, RecordWithVector | str]]:
    """Yield each row's number, counted from 1, with its record or the reason why it is rejected. A damaged row group is
    reported once, at its first unreadable row. Raises InputError if the file is not a Parquet file of records."""
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{path} cannot be read as Parquet: {reason}", "The file may be incomplete: download it again."
        ) from None
    with file:
        names = set(file.schema_arrow.names)
        missing_columns = {"id", "title", "abstract"} - names
        if missing_columns:
            raise InputError(
                f"{path} is not a file of paper records; missing columns: {', '.join(sorted(missing_columns))}."
            )
        columns = [name for name in (*_WRITTEN_SCHEMA.names, "year") if name in names]
        first = 1
        for group in range(file.num_row_groups):
            yield from _read_group(file, group, columns, first)
            first += file.metadata.row_group(group).num_rows


def _read_group(
    file: pq.ParquetFile, group: int, columns: Sequence[str], first: int
) -> Iterator[tuple[int, RecordWithVector | str]]:
    number = first
    try:
        for batch in file.iter_batches(_BATCH, row_groups=[group], columns=columns):
            for row in _parse_rows(batch):
                yield number, row
                number += 1
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        yield number, "the file is damaged here"


def _parse_rows(batch: pa.RecordBatch) -> Iterator[RecordWithVector | str]:
    count = batch.num_rows
    names = batch.schema.names
    vectors = _copy_vectors(batch.column(_VECTOR)) if _VECTOR in names else [None] * count
    models = batch.column(_MODEL).to_pylist() if _MODEL in names else [None] * count
    record_columns = batch.select([name for name in names if name not in (_VECTOR, _MODEL)])
    for data, values, model in zip(record_columns.to_pylist(), vectors, models, strict=True):
        if isinstance(day := data.get("publication_date"), dt.date):
            data["publication_date"] = day.isoformat()
        if isinstance(cited_json := data.get(_CITED), str):
            data[_CITED] = _read_json(cited_json)
        try:
            record = PaperRecord.model_validate(data)
        except ValidationError as error:
            yield describe_first_problem(error)
        else:
            yield RecordWithVector(record, None if values is None else RecordVector(values, model or ""))


def _read_json(text: str) -> Any:
    try:
        return from_json(text)
    except ValueError:
        return text  # the record's validation rejects it later


def _copy_vectors(column: pa.Array) -> list[NDArray[np.float32] | None]:
    """Return copies of the vectors, so that a kept vector does not keep its whole batch in memory."""
    return [
        np.array(vector.values.to_numpy(zero_copy_only=False), np.float32) if vector.is_valid else None
        for vector in column
    ]
