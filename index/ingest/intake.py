"""Stage one: one source file becomes raw Parquet of its kind, or stays undone."""

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import IO, Any, Self

from assayer.models import Frozen
from index.ingest.kinds import KINDS, KindName, paper_of
from index.ingest.openalex_rows import merged_ids
from index.ingest.places import Place, opened
from index.ingest.raw import MARK, REJECTED, RawWriter, SourceMark, Stamp
from index.ingest.record_rows import deletion
from index.reading.lines import DAMAGED, DAMAGES, bounded_lines, read_lines
from index.versions.manifest import RejectionCount

__all__ = ["Intake", "Source", "folder_of", "folders_in", "marks_in", "take_in", "take_out"]

_LISTED = 1_000
"""Rejected lines that are listed of one source; all are counted."""
_RAW = "raw"


class Source(Frozen):
    """A file that ingest shall have, wherever it comes from."""

    kind: KindName
    name: str
    """Unique in its kind, and the same whenever it is asked for again."""
    address: str = ""
    """Where it is read; a service that lends out addresses for a while leaves it empty."""
    layer: int = 0
    """Among rows of one key the highest counts."""
    seal: str = ""
    deleted: bool = False
    """Its lines name what is gone."""


def folder_of(root: Place, source: Source) -> Place:
    """Readable, and different for different names."""
    readable = re.sub(r"[^A-Za-z0-9._=-]+", "-", source.name).strip("-.")[-80:]
    return root / _RAW / source.kind / f"{readable}-{hashlib.blake2b(source.name.encode(), digest_size=4).hexdigest()}"


def folders_in(root: Place) -> list[Place]:
    """Of all sources, those that are not in yet too."""
    raw = root / _RAW
    return [raw / kind / name for kind in raw.names() for name in (raw / kind).names()]


def marks_in(root: Place) -> list[tuple[Place, SourceMark]]:
    """Of the sources that are in, with their folders."""
    return [
        (folder, SourceMark.model_validate_json((folder / MARK).read()))
        for folder in folders_in(root)
        if (folder / MARK).exists()
    ]


def take_out(folder: Place) -> None:
    """Its mark goes first: no half of a source is ever in."""
    (folder / MARK).remove()
    folder.remove()


class Intake:
    """Takes the rows of one source; when the `with` ends well, the source is in."""

    def __init__(self, source: Source, root: Place, partitions: int) -> None:
        self._source = source
        self._folder = folder_of(root, source)
        take_out(self._folder)  # what an attempt that was killed has left
        self._stack = ExitStack()
        self._rejected = self._stack.enter_context((self._folder / REJECTED).writing())
        writer = RawWriter(self._folder, KINDS[source.kind].schema, partitions)
        self._writer = self._stack.enter_context(writer)
        self._reasons: Counter[str] = Counter()
        self._rows = self._deletions = self._bytes = 0

    def add(self, line: int, row: Sequence[Any] | str, size: int, deleted: bool = False) -> None:
        """`row` may be the reason why there is none."""
        self._bytes += size
        if isinstance(row, str):
            self._reject(line, row)
            return
        self._rows += not deleted
        self._deletions += deleted
        self._writer.add(paper_of(row[0]), row, Stamp(line, self._source.layer, deleted), size)

    @property
    def mark(self) -> SourceMark:
        reasons = tuple(RejectionCount(reason=reason, count=count) for reason, count in self._reasons.most_common())
        return SourceMark(
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
            (self._folder / MARK).write(self.mark.model_dump_json(indent=1).encode())

    def _reject(self, line: int, reason: str) -> None:
        self._reasons[reason] += 1
        if self._reasons.total() <= _LISTED:
            told = {"source": self._source.name, "line": line, "reason": reason}
            self._rejected.write(json.dumps(told, ensure_ascii=False).encode() + b"\n")


def take_in(source: Source, address: str, root: str, partitions: int) -> SourceMark:
    """Reads the file at the address from beginning to end; what came before a damage counts."""
    with opened(address) as file, Intake(source, Place.of(root), partitions) as intake:
        if source.kind == "openalex" and source.deleted:
            _merged(file, intake)
        else:
            row_of = KINDS[source.kind].row_of
            for line in read_lines(file):
                row = line.data if isinstance(line.data, str) else row_of(line.data)
                intake.add(line.number, row, line.size, source.deleted)
    return intake.mark


def _merged(file: IO[bytes], intake: Intake) -> None:
    number = 1
    lines = (line.decode("utf-8", "replace").removeprefix("\ufeff") for line in bounded_lines(file) if line)
    try:
        for number, gone in enumerate(merged_ids(lines), start=2):
            intake.add(number, deletion(gone), len(gone), deleted=True)
    except DAMAGES:
        intake.add(number + 1, DAMAGED, 0)
    except csv.Error:
        intake.add(number + 1, "not a table from here on", 0)
