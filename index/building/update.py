"""Update a corpus with a delta: write a new segment for new and changed papers, and hide rows in older segments."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias

from assayer.errors import InputError
from assayer.models import Frozen, PaperId
from assayer.ports import Embedder, LexicalEmbedder
from index.building.acceptance import Accept
from index.building.compaction import SegmentRevision, revise_segments
from index.building.gathered_vectors import RecordVectors
from index.building.text_embedding import KnownVectors, OnProgress, TextEmbedding, ignore_progress, load_segment_vectors
from index.building.version_builder import BuildOptions, VersionBuilder, VersionPlan
from index.disk_access import explain_disk_errors
from index.records.paper_record import PaperRecord
from index.records.record_sources import RecordReader, RecordSource, RejectedLine, describe_source
from index.search.version_reader import VersionReader
from index.segments.gpus import open_gpus
from index.segments.paper_store import compute_record_digest
from index.versions.manifest import CorpusChanges, Manifest, check_embedder, read_manifest
from index.versions.version_store import VersionStore

ReadContents: TypeAlias = Callable[[Sequence[PaperRecord]], Awaitable[None]]
"""Function called with the new and changed papers before they are written, to extract their names and claims."""


class UpdateSummary(Frozen):
    manifest: Manifest
    published: bool
    """False if nothing changed, so that the current version stays current."""
    changes: CorpusChanges
    """Changes made by this update, whether or not it is published."""


class _Compared(NamedTuple):
    """Result of comparing a delta with the current version."""

    new: list[PaperRecord]
    changed: list[PaperRecord]
    replaced: list[int]
    """Units of the changed papers in the current version."""
    unchanged: int
    removed: list[int]
    """Units of the deleted papers."""
    unknown: int
    """Number of deletions that name papers not in the corpus."""

    @property
    def coming(self) -> list[PaperRecord]:
        return [*self.new, *self.changed]

    @property
    def leaving(self) -> list[int]:
        return [*self.replaced, *self.removed]


@dataclass(frozen=True)
class Delta:
    upserts: Sequence[PaperRecord]
    """New and changed records, each complete and with a unique id."""
    deletions: Collection[PaperId] = ()
    sources: tuple[RecordSource, ...] = ()
    rejections: Sequence[RejectedLine] = ()
    ready: KnownVectors = field(default_factory=lambda: KnownVectors([]))
    """Vectors supplied with the records."""


class StageTime(Frozen):
    name: str
    seconds: float


class Stopwatch:
    """Adds up the time spent in each named stage, including stages that fail."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start the stopwatch; `clock` returns seconds since any fixed time."""
        self._clock = clock
        self._start = clock()
        self._seconds_by_stage: dict[str, float] = {}

    @property
    def seconds(self) -> float:
        """Seconds since the stopwatch was created."""
        return round(self._clock() - self._start, 1)

    @property
    def stages(self) -> tuple[StageTime, ...]:
        """Stages in the order they first started."""
        return tuple(
            StageTime(name=name, seconds=round(seconds, 2)) for name, seconds in self._seconds_by_stage.items()
        )

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self._seconds_by_stage.setdefault(name, 0.0)
        start = self._clock()
        try:
            yield
        finally:
            self._seconds_by_stage[name] += self._clock() - start


async def update_corpus(
    delta: Delta,
    directory: Path,
    embedder: Embedder,
    progress: OnProgress | None = None,
    options: BuildOptions | None = None,
    accept: Accept | None = None,
    watch: Stopwatch | None = None,
    read_contents: ReadContents | None = None,
) -> UpdateSummary:
    """Apply a delta to a corpus and make the result the current version, unless nothing changes. The manifest records
    the changes.

    Raises CorpusError if the corpus is missing, damaged, not writable, built with another model, or being built by
    another process. Raises ConfigurationError if a GPU is missing. Exceptions from `accept` are passed on. After an
    exception, the previous version is still current."""
    versions, watch = VersionStore(directory), watch or Stopwatch()
    versions.find_current_path()
    open_gpus((options or BuildOptions()).device)  # fails early if there is no suitable GPU, before texts are embedded
    with explain_disk_errors(directory), versions.hold_build_lock():
        manifest = read_manifest(versions.find_current_path())
        check_embedder(manifest, embedder, directory)
        with watch.stage("verify the current version"):
            await asyncio.to_thread(versions.verify, manifest)
        build_options = (options or BuildOptions()).model_copy(update={"exact_up_to": manifest.exact_up_to})
        reader = VersionReader.open(versions, manifest)
        update = _Update(
            versions,
            manifest,
            reader,
            embedder,
            progress or ignore_progress,
            build_options,
            accept,
            watch,
            read_contents,
        )
        return await update.run(delta)


@dataclass(frozen=True)
class _Update:
    versions: VersionStore
    manifest: Manifest
    reader: VersionReader
    embedder: Embedder
    progress: OnProgress
    options: BuildOptions
    accept: Accept | None
    watch: Stopwatch
    read_contents: ReadContents | None

    async def run(self, delta: Delta) -> UpdateSummary:
        with self.watch.stage("compare"):
            comparison = await asyncio.to_thread(_compare, self.reader, delta)
        if not (comparison.coming or comparison.leaving):
            self.versions.prune(self.options.keep)  # leftovers of an update that was killed after publishing
            return UpdateSummary(
                manifest=self.manifest, published=False, changes=self._summarise_changes(comparison, embedded_count=0)
            )
        if self.read_contents is not None:
            with self.watch.stage("read names and claims"):
                await self.read_contents(comparison.coming)
        leaving_rows = map(self.reader.locate_unit, comparison.leaving)
        max_papers = self.options.papers_per_segment
        revision = revise_segments(self.reader.segments, leaving_rows, len(comparison.coming), max_papers)
        manifest, changes = await self._publish(delta, comparison, revision)
        return UpdateSummary(manifest=manifest, published=True, changes=changes)

    async def _publish(
        self, delta: Delta, comparison: _Compared, revision: SegmentRevision
    ) -> tuple[Manifest, CorpusChanges]:
        with self.watch.stage("look up vectors"):
            known_vectors = await asyncio.to_thread(load_segment_vectors, revision.reusable_rows)
        lexical = None
        if self.manifest.lexical and isinstance(self.embedder, LexicalEmbedder):  # otherwise the corpus has no weights
            lexical = self.embedder
        embedding = TextEmbedding(self.embedder, self.progress, delta.ready, known_vectors, lexical=lexical)
        builder = VersionBuilder(self.versions, embedding, self.options)
        ordinal = 1 + max((entry.ordinal for entry in self.manifest.segments), default=-1)
        with self.watch.stage("embed and write segments"):
            added_segments = await builder.write_segments(
                chain(comparison.coming, revision.read_rewritten_records()), ordinal
            )
        changes = self._summarise_changes(comparison, embedding.embedded)
        removed_papers, removed_passages = revision.list_dropped_documents()
        plan = VersionPlan(
            kept=revision.kept_entries,
            added=added_segments,
            hidden=revision.hidden_rows,
            removed_papers=removed_papers,
            removed_passages=removed_passages,
            previous_directory=self.versions.get_version_path(self.manifest.version),
            fit=self.manifest.fit,
            sources=delta.sources,
            rejections=delta.rejections,
            changes=changes,
        )
        with self.watch.stage("write the word index and publish"):
            return await builder.publish(plan, self.accept), changes

    def _summarise_changes(self, comparison: _Compared, embedded_count: int) -> CorpusChanges:
        return CorpusChanges(
            before=self.manifest.version,
            new=len(comparison.new),
            changed=len(comparison.changed),
            unchanged=comparison.unchanged,
            removed=len(comparison.removed),
            unknown=comparison.unknown,
            embedded=embedded_count,
            seconds=self.watch.seconds,
        )


def _compare(reader: VersionReader, delta: Delta) -> _Compared:
    units = reader.find_units(PaperId(record.id) for record in delta.upserts)
    new_records: list[PaperRecord] = []
    changed_records: dict[int, PaperRecord] = {}
    for record in delta.upserts:
        unit = units.get(PaperId(record.id))
        if unit is None:
            new_records.append(record)
        elif reader.get_record_digest(unit) != compute_record_digest(record):
            changed_records[unit] = record
    unchanged_count = len(delta.upserts) - len(new_records) - len(changed_records)
    removed_units = list(reader.find_units(delta.deletions).values())
    return _Compared(
        new_records,
        list(changed_records.values()),
        list(changed_records),
        unchanged_count,
        removed_units,
        len(set(delta.deletions)) - len(removed_units),
    )


def read_delta(upserts: Sequence[Path], deletions: Path | None = None, embedder: Embedder | None = None) -> Delta:
    """Read a delta from record sources and a file of ids to delete, one per line. Vectors supplied with records must
    come from the embedder's model; without an embedder they are ignored. Raises InputError if the input is unusable, or
    if a paper is both updated and deleted."""
    if not upserts and deletions is None:
        raise InputError(
            "There is nothing to update.",
            "Pass files of papers to add or change, or a file of ids to delete with --remove.",
        )
    sources = tuple(describe_source(path) for path in upserts)
    harvest = RecordReader(upserts, embedder)
    with RecordVectors() as ready_vectors:
        records, vectors = list(ready_vectors.collect(harvest)), ready_vectors.get_vectors()
    deleted_ids = _read_ids(deletions) if deletions else []
    upserted_ids = {record.id for record in records}
    in_both = [deleted_id for deleted_id in deleted_ids if deleted_id in upserted_ids]
    if in_both:
        raise InputError(
            f"Papers listed for removal are also in the records to add ({len(in_both)}, for example {in_both[0]}).",
            f"Remove them from {deletions} or from the records.",
        )
    return Delta(records, deleted_ids, sources, harvest.rejections, vectors)


def _read_ids(path: Path) -> list[PaperId]:
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}.") from None
    ids = list(dict.fromkeys(PaperId(line.strip()) for line in lines if line.strip()))
    if not ids:
        raise InputError(f"{path} contains no ids.", "Write one id per line.")
    return ids
