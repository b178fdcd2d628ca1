"""First stage of ingest: convert a source file to raw Parquet, partitioned by the hash of the paper's id. A file is
converted completely or not at all."""

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assayer.models import Frozen
from index.hashing import hash64
from index.ingest.openalex_snapshot import read_merged_ids
from index.ingest.record_rows import build_deletion_row
from index.ingest.source_files import IngestSource
from index.ingest.source_formats import SOURCE_FORMATS, make_paper_id
from index.ingest.storage_path import StoragePath, open_address
from index.records.json_lines import DAMAGE_ERRORS, DAMAGED, read_bounded_lines, read_lines
from index.versions.manifest import RejectionCount

SOURCE_FILE, REJECTED_FILE = "source.json", "rejected.jsonl"
_FLUSH = 64 * 2**20
"""Bytes of source text to buffer before writing a row group to each partition."""
_LISTED = 1_000
"""Maximum number of rejected lines listed per source; any others are only counted."""
_RAW = "raw"


class RowStamp(NamedTuple):
    """Columns that determine which of a key's rows is current: the first line in the highest layer."""

    line: int
    layer: int
    deleted: bool


class AbsorbedSource(Frozen):
    """Name and seal of a source that was compacted into another."""

    name: str
    seal: str


class IngestedSource(Frozen):
    """Record of a source file that was read completely, with counts. It is written last, and a folder without it is
    ignored."""

    kind: str
    name: str
    layer: int
    seal: str
    """Size, ETag or checksum that changes with the source's contents."""
    rows: int
    deletions: int
    bytes: int
    """Size in bytes after decompression."""
    rejected: tuple[RejectionCount, ...]
    parts: tuple[int, ...]
    """Partitions that contain rows from the source."""
    absorbs: tuple[AbsorbedSource, ...] = ()
    """Sources that were compacted into this one; they are ignored, even if they still exist."""


def name_partition_file(part: int) -> str:
    return f"part-{part:05}.parquet"


class RawFileWriter:
    """Splits rows into one Parquet file per partition, and holds about 64 MB of text in memory. The files are complete
    when the context ends."""

    def __init__(self, folder: StoragePath, schema: pa.Schema, partitions: int) -> None:
        """Create a writer. `schema` must end with the columns of RowStamp; rows contain the values of the other
        columns."""
        self._folder = folder
        self._schema = schema
        self._partitions = partitions
        self._stack = ExitStack()
        self._files: dict[int, pq.ParquetWriter] = {}
        self._rows: list[Sequence[Any]] = []
        self._ids: list[str | None] = []
        self._held_bytes = 0

    @property
    def parts(self) -> tuple[int, ...]:
        return tuple(sorted(self._files))

    def add(self, paper: str | None, row: Sequence[Any], stamp: RowStamp, size: int) -> None:
        """Add a row. `paper` is the id that determines the partition; if it is None, the row is added to every
        partition. `size` is the number of bytes in its text."""
        self._rows.append((*row, *stamp))
        self._ids.append(paper)
        self._held_bytes += size
        if self._held_bytes >= _FLUSH:
            self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        with self._stack:
            if kind is None:
                self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        columns = zip(*self._rows, strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, self._schema, strict=True)]
        table = pa.Table.from_arrays(arrays, schema=self._schema)
        parts = (hash64(paper_id or "" for paper_id in self._ids) % np.uint64(self._partitions)).astype(np.int64)
        parts[[paper_id is None for paper_id in self._ids]] = -1
        everywhere = parts == -1
        for part in range(self._partitions) if everywhere.any() else np.unique(parts).tolist():
            rows = np.flatnonzero((parts == part) | everywhere)
            self._open_file(part).write_table(table.take(rows))
        self._rows, self._ids, self._held_bytes = [], [], 0

    def _open_file(self, part: int) -> pq.ParquetWriter:
        if part not in self._files:
            sink = self._stack.enter_context((self._folder / name_partition_file(part)).open_atomic())
            writer = pq.ParquetWriter(sink, self._schema, compression="zstd", compression_level=1)
            self._files[part] = self._stack.enter_context(writer)
        return self._files[part]


def build_source_path(root: StoragePath, source: IngestSource) -> StoragePath:
    """Return a source's folder, whose name is readable and unique."""
    readable_name = re.sub(r"[^A-Za-z0-9._=-]+", "-", source.name).strip("-.")[-80:]
    return (
        root
        / _RAW
        / source.kind
        / f"{readable_name}-{hashlib.blake2b(source.name.encode(), digest_size=4).hexdigest()}"
    )


def list_source_folders(root: StoragePath) -> list[StoragePath]:
    """Return the folders of all sources, including unfinished ones."""
    raw = root / _RAW
    return [raw / kind / name for kind in raw.list_child_names() for name in (raw / kind).list_child_names()]


def list_ingested_sources(root: StoragePath) -> list[tuple[StoragePath, IngestedSource]]:
    """Return the sources that were read completely, with their folders."""
    return [
        (folder, IngestedSource.model_validate_json((folder / SOURCE_FILE).read()))
        for folder in list_source_folders(root)
        if (folder / SOURCE_FILE).exists()
    ]


def remove_source(folder: StoragePath) -> None:
    """Remove a source, starting with its `source.json`, so that a partly removed source is ignored."""
    (folder / SOURCE_FILE).remove()
    folder.remove()


class SourceWriter:
    """Writes the rows of one source. The source becomes valid when the context ends without an error."""

    def __init__(self, source: IngestSource, root: StoragePath, partitions: int) -> None:
        self._source = source
        self._folder = build_source_path(root, source)
        remove_source(self._folder)  # leftovers of an interrupted attempt
        self._stack = ExitStack()
        self._rejections_file = self._stack.enter_context((self._folder / REJECTED_FILE).open_atomic())
        writer = RawFileWriter(self._folder, SOURCE_FORMATS[source.kind].schema, partitions)
        self._writer = self._stack.enter_context(writer)
        self._reasons: Counter[str] = Counter()
        self._rows = self._deletions = self._bytes = 0

    def add(self, line: int, row: Sequence[Any] | str, size: int, deleted: bool = False) -> None:
        """Add a row. If the line is rejected, `row` is the reason instead."""
        self._bytes += size
        if isinstance(row, str):
            self._reject(line, row)
            return
        self._rows += not deleted
        self._deletions += deleted
        self._writer.add(make_paper_id(row[0]), row, RowStamp(line, self._source.layer, deleted), size)

    @property
    def mark(self) -> IngestedSource:
        reasons = tuple(RejectionCount(reason=reason, count=count) for reason, count in self._reasons.most_common())
        return IngestedSource(
            kind=self._source.kind,
            name=self._source.name,
            layer=self._source.layer,
            seal=self._source.seal,
            rows=self._rows,
            deletions=self._deletions,
            bytes=self._bytes,
            rejected=reasons,
            parts=self._writer.parts,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
        if kind is None:
            (self._folder / SOURCE_FILE).write(self.mark.model_dump_json(indent=1).encode())

    def _reject(self, line: int, reason: str) -> None:
        self._reasons[reason] += 1
        if self._reasons.total() <= _LISTED:
            rejection = {"source": self._source.name, "line": line, "reason": reason}
            self._rejections_file.write(json.dumps(rejection, ensure_ascii=False).encode() + b"\n")


def ingest_file(source: IngestSource, address: str, root: str, partitions: int) -> IngestedSource:
    """Read the file at an address into raw files. If it is damaged, the lines before the damage are kept."""
    with open_address(address) as file, SourceWriter(source, StoragePath.parse(root), partitions) as intake:
        if source.kind == "openalex" and source.deleted:
            _write_merged_ids(file, intake)
        else:
            convert_to_row = SOURCE_FORMATS[source.kind].convert_row
            for line in read_lines(file):
                row = line.data if isinstance(line.data, str) else convert_to_row(line.data)
                intake.add(line.number, row, line.size, source.deleted)
    return intake.mark


def _write_merged_ids(file: IO[bytes], intake: SourceWriter) -> None:
    number = 1
    lines = (line.decode("utf-8", "replace").removeprefix("\ufeff") for line in read_bounded_lines(file) if line)
    try:
        for number, paper_id in enumerate(read_merged_ids(lines), start=2):
            intake.add(number, build_deletion_row(paper_id), len(paper_id), deleted=True)
    except DAMAGE_ERRORS:
        intake.add(number + 1, DAMAGED, 0)
    except csv.Error:
        intake.add(number + 1, "not valid CSV from here on", 0)
