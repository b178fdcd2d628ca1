"""Brings a corpus up to date by what has changed: a new segment, and rows of older ones that no longer answer."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assayer.errors import CorpusError
from assayer.models import Frozen, PaperId
from assayer.ports import Embedder
from index.compaction import Size, rewritten
from index.delta import Delta
from index.hiding import read_hidden
from index.making import BuildOptions, Maker, Plan, known_vectors
from index.manifest import Changes, Manifest, read_manifest
from index.opening import refuse_other_model
from index.reader import Reader
from index.records import PaperRecord
from index.segment import Segment
from index.store import digest
from index.versions import Versions
from index.words import place
from index.writing import Embedding, OnProgress

__all__ = ["UpdateSummary", "update_corpus"]


class UpdateSummary(Frozen):
    manifest: Manifest
    published: bool
    """False: nothing has changed, and the version at hand goes on."""


class _Sorted(NamedTuple):
    new: list[PaperRecord]
    changed: list[PaperRecord]
    replaced: list[int]
    """Units of the papers that changed, as they were."""
    unchanged: int


async def update_corpus(
    delta: Delta,
    directory: Path,
    embedder: Embedder,
    progress: OnProgress | None = None,
    options: BuildOptions | None = None,
) -> UpdateSummary:
    """Publishes a new version, or leaves the one at hand where nothing has changed. What changed stands in the
    manifest. Raises CorpusError when there is no corpus, when it is damaged, made with another model, being built by
    another process, or cannot be written; the version at hand then goes on answering."""
    versions = Versions(directory)
    try:
        with versions.building():
            manifest = read_manifest(versions.current())
            refuse_other_model(manifest, embedder, directory)
            await asyncio.to_thread(versions.verify, manifest)
            chosen = (options or BuildOptions()).model_copy(update={"exact_up_to": manifest.exact_up_to})
            update = _Update(versions, manifest, Reader.open(versions, manifest), embedder, progress or _silent, chosen)
            return await update.run(delta)
    except OSError as error:
        raise CorpusError(f"The corpus in {directory} cannot be written: {error.strerror or error}.") from error


@dataclass(frozen=True)
class _Update:
    versions: Versions
    manifest: Manifest
    reader: Reader
    embedder: Embedder
    progress: OnProgress
    options: BuildOptions

    async def run(self, delta: Delta) -> UpdateSummary:
        started = time.monotonic()
        found = await asyncio.to_thread(self._sort, delta.upserts)
        gone = self.reader.units(delta.deletions)
        if not (found.new or found.changed or gone):
            return UpdateSummary(manifest=self.manifest, published=False)
        hiding = [*found.replaced, *gone.values()]
        hidden = self._hidden(hiding)
        again = self._again(hidden, len(found.new) + len(found.changed))
        rewriting = [self.reader.segments[number] for number in again]
        records = [*found.new, *found.changed, *self._live(again, hidden)]
        touched = {number for number, _ in map(self.reader.locate, found.replaced)} | set(again)
        known = await asyncio.to_thread(known_vectors, [self.reader.segments[number] for number in sorted(touched)])
        embedding = Embedding(self.embedder, self.progress, known)
        maker = Maker(self.versions, embedding, self.options)
        ordinal = 1 + max(entry.ordinal for entry in self.manifest.segments)
        added = await maker.segments(records, ordinal)
        removed, removed_passages = self._places(hiding, rewriting)
        manifest = await maker.publish(
            Plan(
                kept=[entry for number, entry in enumerate(self.manifest.segments) if number not in again],
                added=added,
                hidden={
                    self.manifest.segments[number].name: rows for number, rows in hidden.items() if number not in again
                },
                removed=removed,
                removed_passages=removed_passages,
                before=self.versions.path(self.manifest.version),
                fit=self.manifest.fit,
                sources=delta.sources,
                rejections=delta.rejections,
                changes=Changes(
                    before=self.manifest.version,
                    new=len(found.new),
                    changed=len(found.changed),
                    unchanged=found.unchanged,
                    removed=len(gone),
                    unknown=len(set(delta.deletions)) - len(gone),
                    embedded=embedding.embedded,
                    seconds=round(time.monotonic() - started, 1),
                ),
            )
        )
        return UpdateSummary(manifest=manifest, published=True)

    def _sort(self, upserts: Sequence[PaperRecord]) -> _Sorted:
        units = self.reader.units(PaperId(record.id) for record in upserts)
        found = _Sorted([], [], [], 0)
        unchanged = 0
        for record in upserts:
            unit = units.get(PaperId(record.id))
            if unit is None:
                found.new.append(record)
            elif self.reader.digest(unit) == digest(record):
                unchanged += 1
            else:
                found.changed.append(record)
                found.replaced.append(unit)
        return found._replace(unchanged=unchanged)

    def _hidden(self, units: Iterable[int]) -> dict[int, list[int]]:
        """Rows by the segment's number, those of before included."""
        directory = self.versions.path(self.manifest.version)
        rows: dict[int, set[int]] = defaultdict(set)
        for number, entry in enumerate(self.manifest.segments):
            if entry.hidden:
                rows[number] |= set(read_hidden(directory, entry.name).tolist())
        for number, row in map(self.reader.locate, units):
            rows[number].add(row)
        return {number: sorted(some) for number, some in rows.items()}

    def _again(self, hidden: dict[int, list[int]], coming: int) -> list[int]:
        sizes = [Size(one.papers, len(hidden.get(number, ()))) for number, one in enumerate(self.manifest.segments)]
        return rewritten(sizes, coming, self.options.papers_per_segment)

    def _live(self, again: Sequence[int], hidden: dict[int, list[int]]) -> list[PaperRecord]:
        live = []
        for number in again:
            segment, gone = self.reader.segments[number], set(hidden.get(number, ()))
            live += [segment.store.record(row) for row in range(len(segment)) if row not in gone]
        return live

    def _places(self, hiding: Iterable[int], rewriting: Iterable[Segment]) -> tuple[list[int], list[int]]:
        """In the two word indexes: of the papers that go now, and of all of the segments that are written again."""
        rows: dict[int, set[int]] = defaultdict(set)
        for number, row in map(self.reader.locate, hiding):
            rows[number].add(row)
        for number, segment in enumerate(self.reader.segments):
            if segment in rewriting:
                rows[number] = set(range(len(segment)))
        papers: list[int] = []
        passages: list[int] = []
        for number, some in rows.items():
            segment = self.reader.segments[number]
            papers += [place(segment.entry.ordinal, row) for row in sorted(some)]
            of_them = np.flatnonzero(np.isin(segment.places[:, 0], list(some)))
            passages += [place(segment.entry.ordinal, int(one)) for one in of_them]
        return papers, passages


def _silent(done: int, total: int) -> None:
    """Nobody watches."""
