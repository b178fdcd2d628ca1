"""Folding: many files of stage one become one, so that diffs do not pile up.

Of each key the row that stands is kept, with its layer; what was replaced or deleted is gone. Only what nobody can hand
in again is folded: files that an operator or a manifest names come and go under their own names.

Killed at any moment, nothing is lost: the new file counts from its mark on, which is written last and names what it
absorbs; what is then not removed yet is removed by the next run (`sweep`).
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b

import pyarrow as pa
import pyarrow.parquet as pq

from index.ingest.intake import Source, folder_of, folders_in, marks_in, take_out
from index.ingest.kinds import KINDS, S2_KINDS, KindName
from index.ingest.places import Place
from index.ingest.raw import MARK, Absorbed, SourceMark, part_name
from index.ingest.tables import BATCH, JoinLimits, raw_table, tables

__all__ = ["fold", "sweep"]

_FOLDED: tuple[KindName, ...] = (*S2_KINDS, "arxiv")
_MOST_LAYERS = 8
"""Of one kind, before they are folded: each fold writes all rows of the kind again, as each join does."""

_Marked = Sequence[tuple[Place, SourceMark]]


def sweep(root: Place) -> None:
    """Removes what runs that were killed have left: sources that never were in, and such as were absorbed."""
    absorbed = {(mark.kind, one) for _, mark in marks_in(root) for one in mark.absorbs}
    for folder in folders_in(root):
        if not (folder / MARK).exists():
            folder.remove()
    for folder, mark in marks_in(root):
        if (mark.kind, Absorbed(name=mark.name, seal=mark.seal)) in absorbed:
            take_out(folder)


def fold(root: Place, limits: JoinLimits, report: Callable[[int, int], None]) -> None:
    """Every kind that has too many layers; kinds are folded one by one, and need room for one more of themselves.
    `report` is told the partitions done, and how many there are."""
    marks = marks_in(root)
    for kind in _FOLDED:
        own = [(folder, mark) for folder, mark in marks if mark.kind == kind]
        if len({mark.layer for _, mark in own}) > _MOST_LAYERS:
            _fold(root, kind, own, limits, report)


def _fold(root: Place, kind: KindName, marks: _Marked, limits: JoinLimits, report: Callable[[int, int], None]) -> None:
    source = _folded(kind, marks)
    into = folder_of(root, source)
    parts = sorted({part for _, mark in marks for part in mark.parts})
    rows = {}
    for number, part in enumerate(parts):
        report(number, len(parts))
        files = [folder / part_name(part) for folder, mark in marks if part in mark.parts]
        if some := _fold_part(root, kind, files, into / part_name(part), limits):
            rows[part] = some
    report(len(parts), len(parts))
    mark = SourceMark(
        kind=kind,
        name=source.name,
        layer=source.layer,
        seal=source.seal,
        rows=sum(rows.values()),
        deletions=0,
        bytes=sum(mark.bytes for _, mark in marks),
        rejected=(),
        parts=tuple(rows),
        absorbs=tuple(Absorbed(name=mark.name, seal=mark.seal) for _, mark in marks),
    )
    (into / MARK).write(mark.model_dump_json(indent=1).encode())
    for folder, _ in marks:
        take_out(folder)


def _folded(kind: KindName, marks: _Marked) -> Source:
    """Named by what it is made of, so that the same name means the same rows."""
    names = "\n".join(sorted(f"{mark.name}@{mark.seal}" for _, mark in marks))
    name = f"folded/{blake2b(names.encode(), digest_size=8).hexdigest()}"
    return Source(kind=kind, name=name, layer=max(mark.layer for _, mark in marks), seal="folded")


def _fold_part(root: Place, kind: KindName, files: Sequence[Place], into: Place, limits: JoinLimits) -> int:
    """Writes the rows that stand, under new line numbers; returns how many. Without any there is no file."""
    schema, standing = KINDS[kind].schema, "edges" if kind == "citations" else "latest"
    with tables(root, limits) as base:
        raw_table(base, "rows", files, schema)
        batches = base.sql(f"SELECT * FROM {standing}('rows')").to_arrow_reader(BATCH)  # noqa: S608 - one of two names
        with into.writing() as sink, pq.ParquetWriter(sink, schema, compression="zstd", compression_level=1) as writer:
            written = 0
            for batch in _numbered(batches, schema):
                writer.write_batch(batch)
                written += batch.num_rows
    if not written:
        into.remove()
    return written


def _numbered(batches: pa.RecordBatchReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    place = schema.get_field_index("line")
    before = 0
    for batch in batches:
        lines = pa.array(range(before + 1, before + batch.num_rows + 1), pa.int64())
        yield batch.select(schema.names).cast(schema).set_column(place, schema.field(place), lines)
        before += batch.num_rows
