"""Stage one's files: rows of one source file, checked, in Parquet, apart by the hash of the paper's id."""

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assayer.models import Frozen
from index.ids import hashed
from index.ingest.places import Place
from index.versions.manifest import RejectionCount

__all__ = ["MARK", "REJECTED", "Absorbed", "RawWriter", "SourceMark", "Stamp", "part_name", "raw_schema"]

MARK, REJECTED = "source.json", "rejected.jsonl"
_FLUSH = 64 * 2**20
"""Bytes of source text held before they are written as a row group of each partition."""


class Stamp(NamedTuple):
    """Where a row stands: the last one of a key counts, by layer, then by line."""

    line: int
    layer: int
    deleted: bool


class Absorbed(Frozen):
    """What `SourceMark` says of a source that was folded into another."""

    name: str
    seal: str


class SourceMark(Frozen):
    """That a source file is in, and how it went. Written last, so a folder without it is not there."""

    kind: str
    name: str
    layer: int
    seal: str
    """What tells this content from another under the same name: a size, an etag, a checksum."""
    rows: int
    deletions: int
    bytes: int
    """Unpacked."""
    rejected: tuple[RejectionCount, ...]
    parts: tuple[int, ...]
    """Partitions that it has rows of."""
    absorbs: tuple[Absorbed, ...] = ()
    """What was folded into it, and counts no more where it still lies beside it."""


def part_name(part: int) -> str:
    return f"part-{part:05}.parquet"


def raw_schema(columns: pa.Schema) -> pa.Schema:
    """With the stamp behind the columns."""
    stamp = [pa.field("line", pa.int64()), pa.field("layer", pa.int32()), pa.field("deleted", pa.bool_())]
    return pa.schema([*columns, *stamp])


class RawWriter:
    """Rows in, one Parquet file a partition out; the files are whole after the `with`. Holds 64 MB of text at most."""

    def __init__(self, folder: Place, schema: pa.Schema, partitions: int) -> None:
        """`schema` is a raw one; rows are tuples in the order of its columns, the stamp's apart."""
        self._folder = folder
        self._schema = schema
        self._partitions = partitions
        self._stack = ExitStack()
        self._files: dict[int, pq.ParquetWriter] = {}
        self._rows: list[Sequence[Any]] = []
        self._ids: list[str | None] = []
        self._held = 0

    @property
    def parts(self) -> tuple[int, ...]:
        return tuple(sorted(self._files))

    def add(self, paper: str | None, row: Sequence[Any], stamp: Stamp, size: int) -> None:
        """`paper` is the id that decides the partition; None puts the row into every one. `size` in bytes of text."""
        self._rows.append((*row, *stamp))
        self._ids.append(paper)
        self._held += size
        if self._held >= _FLUSH:
            self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:
            if kind is None:
                self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        columns = zip(*self._rows, strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, self._schema, strict=True)]
        table = pa.Table.from_arrays(arrays, schema=self._schema)
        parts = (hashed(one or "" for one in self._ids) % np.uint64(self._partitions)).astype(np.int64)
        parts[[one is None for one in self._ids]] = -1
        everywhere = parts == -1
        for part in range(self._partitions) if everywhere.any() else np.unique(parts).tolist():
            rows = np.flatnonzero((parts == part) | everywhere)
            self._file(part).write_table(table.take(rows))
        self._rows, self._ids, self._held = [], [], 0

    def _file(self, part: int) -> pq.ParquetWriter:
        if part not in self._files:
            sink = self._stack.enter_context((self._folder / part_name(part)).writing())
            writer = pq.ParquetWriter(sink, self._schema, compression="zstd", compression_level=1)
            self._files[part] = self._stack.enter_context(writer)
        return self._files[part]
