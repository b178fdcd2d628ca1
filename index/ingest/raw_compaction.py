"""Compact raw files: merge many sources into one, so that diffs do not accumulate.

Each key's current row is kept, with its layer; replaced and deleted rows are dropped. Only sources that are read once
(releases, diffs, harvests) are compacted. Files that an operator or a manifest lists are not, because they can be
removed later by name.

Compaction can be interrupted at any time: the new source is valid once its `source.json`, which lists the absorbed
sources, is written. The next run removes absorbed sources that still exist (`remove_leftovers`)."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b

import pyarrow as pa
import pyarrow.parquet as pq

from index.ingest.duckdb_tables import BATCH, JoinLimits, add_raw_table, open_database
from index.ingest.raw_files import (
    SOURCE_FILE,
    AbsorbedSource,
    IngestedSource,
    build_source_path,
    list_ingested_sources,
    list_source_folders,
    name_partition_file,
    remove_source,
)
from index.ingest.source_files import S2_KINDS, IngestSource, SourceKind
from index.ingest.source_formats import SOURCE_FORMATS
from index.ingest.storage_path import StoragePath

_COMPACTED: tuple[SourceKind, ...] = (*S2_KINDS, "arxiv")
_MAX_LAYERS = 8
"""Maximum number of layers per kind; if there are more, they are compacted. Compaction, like a join, rewrites all of
the kind's rows."""

_Sources = Sequence[tuple[StoragePath, IngestedSource]]


def remove_leftovers(root: StoragePath) -> None:
    """Remove leftovers of interrupted runs: unfinished sources, and sources that were compacted into others."""
    absorbed_sources = {(mark.kind, absorb) for _, mark in list_ingested_sources(root) for absorb in mark.absorbs}
    for folder in list_source_folders(root):
        if not (folder / SOURCE_FILE).exists():
            folder.remove()
    for folder, mark in list_ingested_sources(root):
        if (mark.kind, AbsorbedSource(name=mark.name, seal=mark.seal)) in absorbed_sources:
            remove_source(folder)


def compact_raw_files(root: StoragePath, limits: JoinLimits, report: Callable[[int, int], None]) -> None:
    """Compact every kind that has too many layers, one kind after another. Each needs disk space for a second copy.
    `report` is called with the number of partitions done and the total."""
    marks = list_ingested_sources(root)
    for kind in _COMPACTED:
        marks_of_kind = [(folder, mark) for folder, mark in marks if mark.kind == kind]
        if len({mark.layer for _, mark in marks_of_kind}) > _MAX_LAYERS:
            _compact_kind(root, kind, marks_of_kind, limits, report)


def _compact_kind(
    root: StoragePath, kind: SourceKind, marks: _Sources, limits: JoinLimits, report: Callable[[int, int], None]
) -> None:
    source = _name_compacted_source(kind, marks)
    target = build_source_path(root, source)
    parts = sorted({part for _, mark in marks for part in mark.parts})
    rows = {}
    for number, part in enumerate(parts):
        report(number, len(parts))
        files = [folder / name_partition_file(part) for folder, mark in marks if part in mark.parts]
        if row_count := _compact_partition(root, kind, files, target / name_partition_file(part), limits):
            rows[part] = row_count
    report(len(parts), len(parts))
    mark = IngestedSource(
        kind=kind,
        name=source.name,
        layer=source.layer,
        seal=source.seal,
        rows=sum(rows.values()),
        deletions=0,
        bytes=sum(mark.bytes for _, mark in marks),
        rejected=(),
        parts=tuple(rows),
        absorbs=tuple(AbsorbedSource(name=mark.name, seal=mark.seal) for _, mark in marks),
    )
    (target / SOURCE_FILE).write(mark.model_dump_json(indent=1).encode())
    for folder, _ in marks:
        remove_source(folder)


def _name_compacted_source(kind: SourceKind, marks: _Sources) -> IngestSource:
    """Return the compacted source. Its name is a hash of the sources that it replaces."""
    names = "\n".join(sorted(f"{mark.name}@{mark.seal}" for _, mark in marks))
    name = f"folded/{blake2b(names.encode(), digest_size=8).hexdigest()}"
    return IngestSource(kind=kind, name=name, layer=max(mark.layer for _, mark in marks), seal="folded")


def _compact_partition(
    root: StoragePath, kind: SourceKind, files: Sequence[StoragePath], target: StoragePath, limits: JoinLimits
) -> int:
    """Write the current rows with new line numbers, and return how many there are. If there are none, no file
    remains."""
    schema, view = SOURCE_FORMATS[kind].schema, "edges" if kind == "citations" else "latest"
    with open_database(root, limits) as base:
        add_raw_table(base, "rows", files, schema)
        batches = base.sql(f"SELECT * FROM {view}('rows')").to_arrow_reader(BATCH)  # noqa: S608 - one of two names
        with (
            target.open_atomic() as sink,
            pq.ParquetWriter(sink, schema, compression="zstd", compression_level=1) as writer,
        ):
            rows_written = 0
            for batch in _renumber_lines(batches, schema):
                writer.write_batch(batch)
                rows_written += batch.num_rows
    if not rows_written:
        target.remove()
    return rows_written


def _renumber_lines(batches: pa.RecordBatchReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    place = schema.get_field_index("line")
    lines_before = 0
    for batch in batches:
        lines = pa.array(range(lines_before + 1, lines_before + batch.num_rows + 1), pa.int64())
        yield batch.select(schema.names).cast(schema).set_column(place, schema.field(place), lines)
        lines_before += batch.num_rows
