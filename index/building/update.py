"""Brings a corpus up to date by what has changed: a new segment, and rows of older ones that no longer answer."""

import asyncio
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from assayer.models import Frozen, PaperId
from assayer.ports import Embedder
from index.building.acceptance import Accept
from index.building.delta import Delta
from index.building.known import known_vectors
from index.building.making import BuildOptions, Maker, Plan
from index.building.revision import Revision, revise
from index.building.stages import Stopwatch
from index.building.writing import Embedding, OnProgress, silent
from index.disk import writing_to
from index.reading.records import PaperRecord
from index.searching.reader import Reader
from index.segments.store import digest
from index.versions.manifest import Changes, Manifest, read_manifest
from index.versions.opening import refuse_other_model
from index.versions.versions import Versions

__all__ = ["UpdateSummary", "update_corpus"]


class UpdateSummary(Frozen):
    manifest: Manifest
    published: bool
    """False: nothing has changed, and the version at hand goes on."""
    changes: Changes
    """By this update, published or not."""


class _Compared(NamedTuple):
    """A delta against the version at hand."""

    new: list[PaperRecord]
    changed: list[PaperRecord]
    replaced: list[int]
    """Units of the papers that changed, as they were."""
    unchanged: int
    removed: list[int]
    """Units of the papers that are deleted."""
    unknown: int
    """Deletions of papers that are not there."""

    @property
    def coming(self) -> list[PaperRecord]:
        return [*self.new, *self.changed]

    @property
    def leaving(self) -> list[int]:
        return [*self.replaced, *self.removed]


async def update_corpus(
    delta: Delta,
    directory: Path,
    embedder: Embedder,
    progress: OnProgress | None = None,
    options: BuildOptions | None = None,
    accept: Accept | None = None,
    watch: Stopwatch | None = None,
) -> UpdateSummary:
    """Publishes a new version, or leaves the one at hand where nothing has changed. What changed stands in the
    manifest. Raises what `accept` does, and CorpusError when there is no corpus, when it is damaged, made with another
    model, being built by another process, or cannot be written; the version at hand then goes on answering."""
    versions, watch = Versions(directory), watch or Stopwatch()
    versions.current()
    with writing_to(directory), versions.building():
        manifest = read_manifest(versions.current())
        refuse_other_model(manifest, embedder, directory)
        with watch.stage("check what is there"):
            await asyncio.to_thread(versions.verify, manifest)
        chosen = (options or BuildOptions()).model_copy(update={"exact_up_to": manifest.exact_up_to})
        reader = Reader.open(versions, manifest)
        update = _Update(versions, manifest, reader, embedder, progress or silent, chosen, accept, watch)
        return await update.run(delta)


@dataclass(frozen=True)
class _Update:
    versions: Versions
    manifest: Manifest
    reader: Reader
    embedder: Embedder
    progress: OnProgress
    options: BuildOptions
    accept: Accept | None
    watch: Stopwatch

    async def run(self, delta: Delta) -> UpdateSummary:
        with self.watch.stage("compare"):
            compared = await asyncio.to_thread(_compare, self.reader, delta)
        if not (compared.coming or compared.leaving):
            self.versions.prune(self.options.keep)  # what an update left that was killed after it had published
            return UpdateSummary(manifest=self.manifest, published=False, changes=self._changes(compared, embedded=0))
        leaving = map(self.reader.locate, compared.leaving)
        most = self.options.papers_per_segment
        revision = revise(self.reader.segments, leaving, len(compared.coming), most)
        manifest, changes = await self._publish(delta, compared, revision)
        return UpdateSummary(manifest=manifest, published=True, changes=changes)

    async def _publish(self, delta: Delta, compared: _Compared, revision: Revision) -> tuple[Manifest, Changes]:
        with self.watch.stage("look up vectors"):
            known = await asyncio.to_thread(known_vectors, revision.read_again)
        embedding = Embedding(self.embedder, self.progress, delta.ready, known)
        maker = Maker(self.versions, embedding, self.options)
        ordinal = 1 + max((entry.ordinal for entry in self.manifest.segments), default=-1)
        with self.watch.stage("embed and write segments"):
            added = await maker.segments(chain(compared.coming, revision.records()), ordinal)
        changes = self._changes(compared, embedding.embedded)
        removed, removed_passages = revision.dropped()
        plan = Plan(
            kept=revision.kept,
            added=added,
            hidden=revision.hidden,
            removed=removed,
            removed_passages=removed_passages,
            before=self.versions.path(self.manifest.version),
            fit=self.manifest.fit,
            sources=delta.sources,
            rejections=delta.rejections,
            changes=changes,
        )
        with self.watch.stage("write words and publish"):
            return await maker.publish(plan, self.accept), changes

    def _changes(self, compared: _Compared, embedded: int) -> Changes:
        return Changes(
            before=self.manifest.version,
            new=len(compared.new),
            changed=len(compared.changed),
            unchanged=compared.unchanged,
            removed=len(compared.removed),
            unknown=compared.unknown,
            embedded=embedded,
            seconds=self.watch.seconds,
        )


def _compare(reader: Reader, delta: Delta) -> _Compared:
    units = reader.units(PaperId(record.id) for record in delta.upserts)
    new: list[PaperRecord] = []
    changed: dict[int, PaperRecord] = {}
    for record in delta.upserts:
        unit = units.get(PaperId(record.id))
        if unit is None:
            new.append(record)
        elif reader.digest(unit) != digest(record):
            changed[unit] = record
    unchanged = len(delta.upserts) - len(new) - len(changed)
    removed = list(reader.units(delta.deletions).values())
    return _Compared(
        new, list(changed.values()), list(changed), unchanged, removed, len(set(delta.deletions)) - len(removed)
    )
