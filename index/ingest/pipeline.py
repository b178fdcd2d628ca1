"""Ingest pipeline: read missing source files, then join the partitions that they change.

An ingest folder:

    ingest.json          its state, written after each successful run
    raw/KIND/SOURCE/     stage one, a folder per source file: part-*.parquet, rejected.jsonl, source.json;
                         `raw_compaction` replaces the folders of many source files by one
    records/             stage two: part-*.parquet, all paper records
    upserts/, deletions/ changes since the first run that the corpus has not applied yet; deletions.txt lists all
                         deletions"""

import asyncio
import datetime as dt
import errno
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from threading import Thread
from typing import NamedTuple

from pydantic import ValidationError

from assayer.errors import ConfigurationError, InputError
from assayer.models import Frozen
from assayer.run.concurrency import gather_all
from index.ingest.duckdb_tables import JoinLimits
from index.ingest.harvest_days import DaySpan, HarvestedDays
from index.ingest.raw_compaction import compact_raw_files, remove_leftovers
from index.ingest.raw_files import (
    IngestedSource,
    build_source_path,
    ingest_file,
    list_ingested_sources,
    name_partition_file,
    remove_source,
)
from index.ingest.record_join import DELETIONS, PartitionSummary, join_partition, read_joined_sources
from index.ingest.source_files import IngestSource, SourceAccess, SourceKind
from index.ingest.source_formats import SOURCE_FORMATS
from index.ingest.storage_path import StoragePath
from index.versions.manifest import RejectionCount

_STATE_FILE = "ingest.json"
_DELETIONS_FILE = "deletions.txt"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

ReportProgress = Callable[[str, int, int], None]
"""Callback for progress: stage, steps done, total steps."""


class IngestOptions(Frozen):
    partitions: int = 64
    """Number of partitions in a new folder. Partitions are joined one at a time."""
    jobs: int = 1
    """Number of files to parse concurrently. If more than 1, each is parsed in a process of its own."""
    join: JoinLimits = JoinLimits()


class IngestState(Frozen):
    """State of an ingest folder after its last successful run."""

    origin: str
    """Origin of the records: `s2`, `arxiv`, `openalex` or `jsonl`."""
    partitions: int
    until: str = ""
    """Latest release or day that the folder contains completely; empty before the first completed run, and for origins
    without releases or days."""
    since: dt.date | None = None
    """First day of the gapless range of arXiv days in the folder; None if unknown."""
    begun: DaySpan | None = None
    """arXiv days that an unfinished run requested."""
    built: bool = False
    kinds: tuple[SourceKind, ...] = ()
    """Kinds of source files that have been read."""
    subjects: str | None = None
    """arXiv set that the folder is restricted to; empty for all sets, None before the first run."""
    manifest: str = ""
    """Address of the OpenAlex manifest."""


class IngestSummary(NamedTuple):
    taken: int
    """Number of source files read in this run."""
    there: int
    """Number of source files read in earlier runs."""
    rows: int
    """Number of usable lines in the files read in this run."""
    parts: int
    """Number of partitions joined."""
    records: int
    """Number of records in the joined partitions."""
    upserts: int
    deletions: int
    rejected: tuple[RejectionCount, ...]


class Ingest:
    """Ingests into one folder from one origin. No other process may write to the folder at the same time."""

    def __init__(self, address: str, origin: str, options: IngestOptions, report: ReportProgress) -> None:
        """Open or create the folder. Raises InputError if it contains anything other than an ingest from this
        origin."""
        self.root = StoragePath.parse(address)
        self._options = options
        self._report = report
        self.state = self._read_state(origin)

    async def run(
        self, sources: Sequence[IngestSource], supply: SourceAccess, until: str = "", *, complete: bool = False
    ) -> IngestSummary:
        """Read the missing sources, and join the partitions that they change. With `complete`, all other sources are
        removed."""
        if complete:  # the recorded release and kinds may not apply to these sources
            self.state = self.state.model_copy(update={"until": "", "kinds": ()})
        self._write_state()
        await asyncio.to_thread(self._remove_obsolete, sources if complete else None)
        ingested_sources = await self._ingest_missing(sources, supply)
        return await self.join(ingested_sources, until, tuple(dict.fromkeys(source.kind for source in sources)))

    def begin(self, until: str) -> None:
        """Record which release a first run reads, so that an interrupted run continues with the same release."""
        self.state = self.state.model_copy(update={"until": until})
        self._write_state()

    @property
    def days(self) -> HarvestedDays:
        state = self.state
        return HarvestedDays(state.since, dt.date.fromisoformat(state.until) if state.until else None, state.begun)

    def begin_days(self, spans: Sequence[DaySpan]) -> None:
        """Record the requested days before they are read. If this run is interrupted, the next run requests them
        again."""
        if spans:
            span = DaySpan(min(span.first for span in spans), max(span.last for span in spans))
            self.state = self.state.model_copy(update={"begun": span})
            self._write_state()

    async def join_days(self, spans: Sequence[DaySpan], ingested_sources: Sequence[IngestedSource]) -> IngestSummary:
        """Join the partitions after all requested days have been read, and record the days."""
        days = self.days.add_harvested_spans(spans)
        summary = await self.join(ingested_sources, days.until.isoformat() if days.until else "")
        self.state = self.state.model_copy(update={"since": days.since, "begun": None})
        self._write_state()
        return summary

    def bind_arxiv_set(self, requested_set: str | None) -> str:
        """Restrict the folder to an arXiv set, and return the set. The first run determines it; if `requested_set` is
        None, the existing set is kept. Raises InputError for a different set, because the recorded days apply to one
        set only."""
        current_set = self.state.subjects
        if None not in (current_set, requested_set) and current_set != requested_set:
            raise InputError(
                f"{self.root} contains {_describe_set(current_set)}, not {_describe_set(requested_set)}.",
                "Use a separate folder for each set.",
            )
        arxiv_set = requested_set or current_set or ""
        self.state = self.state.model_copy(update={"subjects": arxiv_set})
        self._write_state()
        return arxiv_set

    async def join(
        self, ingested_sources: Sequence[IngestedSource], until: str = "", kinds: Sequence[SourceKind] = ()
    ) -> IngestSummary:
        """Join the partitions whose sources have changed since they were last joined."""
        self._write_state()
        earlier_count = len(await asyncio.to_thread(list_ingested_sources, self.root)) - len(ingested_sources)
        marks = await asyncio.to_thread(self._compact)
        parts = await self._join_changed(marks)
        await asyncio.to_thread(self._list_deletions)
        all_kinds = tuple(dict.fromkeys((*self.state.kinds, *kinds)))
        self.state = self.state.model_copy(
            update={"until": until or self.state.until, "built": True, "kinds": all_kinds}
        )
        self._write_state()
        return _summarise(ingested_sources, earlier_count, parts)

    @property
    def next_layer(self) -> int:
        """Number of a layer above those of all sources."""
        return max((mark.layer for _, mark in list_ingested_sources(self.root)), default=-1) + 1

    def remember_manifest(self, manifest: str) -> None:
        """Record the manifest's address for the next run."""
        self.state = self.state.model_copy(update={"manifest": manifest})

    def list_deletion_sources(self, kind: SourceKind) -> list[IngestSource]:
        """Return those sources of a kind that have been read and contain only deletions."""
        marks = [
            mark
            for _, mark in list_ingested_sources(self.root)
            if mark.kind == kind and mark.deletions and not mark.rows
        ]
        return [
            IngestSource(kind=kind, name=mark.name, layer=mark.layer, seal=mark.seal, deleted=True) for mark in marks
        ]

    def find_missing(self, sources: Sequence[IngestSource]) -> list[IngestSource]:
        marks = [mark for _, mark in list_ingested_sources(self.root)]
        ingested = {(mark.kind, mark.name, mark.seal) for mark in marks}
        ingested |= {(mark.kind, absorb.name, absorb.seal) for mark in marks for absorb in mark.absorbs}
        return [source for source in sources if (source.kind, source.name, source.seal) not in ingested]

    def _read_state(self, origin: str) -> IngestState:
        place = self.root / _STATE_FILE
        if not place.exists():
            if any(not name.startswith(".") for name in self.root.list_child_names()):
                raise InputError(f"{self.root} is neither empty nor an ingest folder.", "Choose an empty folder.")
            return IngestState(origin=origin, partitions=self._options.partitions)
        try:
            state = IngestState.model_validate_json(place.read())
        except ValidationError:
            raise InputError(f"{place} cannot be read.", "Start over with an empty folder.") from None
        if state.origin != origin:
            raise InputError(
                f"{self.root} contains papers from {state.origin}.", "Use a separate folder for each origin."
            )
        return state

    def _write_state(self) -> None:
        (self.root / _STATE_FILE).write(self.state.model_dump_json(indent=1).encode() + b"\n")

    async def _ingest_missing(self, sources: Sequence[IngestSource], supply: SourceAccess) -> list[IngestedSource]:
        missing_sources = await asyncio.to_thread(self.find_missing, sources)
        ingested_count = len(sources) - len(missing_sources)
        slots = asyncio.Semaphore(self._options.jobs + 1)  # one more, to fetch a file while others are parsed
        self._report("Reading", ingested_count, len(sources))

        async def ingest_source(source: IngestSource) -> IngestedSource:
            nonlocal ingested_count
            async with slots, supply.open_source(source) as address:
                mark = await asyncio.get_running_loop().run_in_executor(
                    pool, ingest_file, source, address, str(self.root), self.state.partitions
                )
            ingested_count += 1
            self._report("Reading", ingested_count, len(sources))
            return mark

        with _explain_failures(self.root), _create_pool(self._options.jobs) as pool:
            return await gather_all(ingest_source(source) for source in missing_sources)

    def _remove_obsolete(self, current_sources: Sequence[IngestSource] | None) -> None:
        """Remove leftovers of interrupted runs and, unless `current_sources` is None, all sources not in it."""
        remove_leftovers(self.root)
        if current_sources is not None:
            current_folders = {build_source_path(self.root, source).path for source in current_sources}
            for folder, _ in list_ingested_sources(self.root):
                if folder.path not in current_folders:
                    remove_source(folder)

    def _compact(self) -> list[tuple[StoragePath, IngestedSource]]:
        """Compact raw files, and return the resulting sources."""
        with _explain_failures(self.root):
            remove_leftovers(self.root)
            compact_raw_files(self.root, self._options.join, partial(self._report, "Compacting"))
        return list_ingested_sources(self.root)

    async def _join_changed(self, marks: Sequence[tuple[StoragePath, IngestedSource]]) -> list[PartitionSummary]:
        changed_partitions = await asyncio.to_thread(self._find_changed_partitions, marks)
        if changed_partitions:  # the list would be inconsistent with upserts/ until all partitions are joined
            await asyncio.to_thread((self.root / _DELETIONS_FILE).remove)
        summaries = []
        for number, part in enumerate(changed_partitions):
            self._report("Joining", number, len(changed_partitions))
            summaries.append(await asyncio.to_thread(self._join_partition, part, marks))
        self._report("Joining", len(changed_partitions), len(changed_partitions))
        return summaries

    def _find_changed_partitions(self, marks: Sequence[tuple[StoragePath, IngestedSource]]) -> list[int]:
        parts = range(self.state.partitions)
        return [part for part in parts if read_joined_sources(self.root, part) != _list_names(part, marks)]

    def _join_partition(self, part: int, marks: Sequence[tuple[StoragePath, IngestedSource]]) -> PartitionSummary:
        files: dict[SourceKind, list[StoragePath]] = {
            kind: [
                folder / name_partition_file(part) for folder, mark in marks if mark.kind == kind and part in mark.parts
            ]
            for kind in SOURCE_FORMATS
            if any(mark.kind == kind for _, mark in marks)
        }
        with _explain_failures(self.root):
            return join_partition(
                self.root, part, files, _list_names(part, marks), not self.state.built, self._options.join
            )

    def _list_deletions(self) -> None:
        folder = self.root / DELETIONS
        deleted_ids = [(folder / name).read() for name in folder.list_child_names()]
        if deleted_ids:
            (self.root / _DELETIONS_FILE).write(b"".join(deleted_ids))
        else:
            (self.root / _DELETIONS_FILE).remove()


def _describe_set(arxiv_set: str | None) -> str:
    return f"arXiv's set {arxiv_set}" if arxiv_set else "all of arXiv"


def _list_names(part: int, marks: Iterable[tuple[StoragePath, IngestedSource]]) -> tuple[str, ...]:
    """Return names that identify a partition's sources and their contents."""
    return tuple(sorted(f"{mark.kind}/{mark.name}@{mark.seal}" for _, mark in marks if part in mark.parts))


def _summarise(
    ingested_sources: Sequence[IngestedSource], earlier_count: int, parts: Sequence[PartitionSummary]
) -> IngestSummary:
    reasons: Counter[str] = Counter()
    for rejection in (
        *(rejection for mark in ingested_sources for rejection in mark.rejected),
        *(rejection for part in parts for rejection in part.rejected),
    ):
        reasons[rejection.reason] += rejection.count
    return IngestSummary(
        taken=len(ingested_sources),
        there=earlier_count,
        rows=sum(mark.rows for mark in ingested_sources),
        parts=len(parts),
        records=sum(part.records for part in parts),
        upserts=sum(part.upserts for part in parts),
        deletions=sum(part.deletions for part in parts),
        rejected=tuple(RejectionCount(reason=reason, count=count) for reason, count in reasons.most_common()),
    )


@contextmanager
def _explain_failures(root: StoragePath) -> Iterator[None]:
    """Convert operating system errors to errors with advice."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        hint = (
            "Free some space there, then run the command again."
            if error.errno in _FULL
            else "Fix this and run the command again."
        )
        raise InputError(f"Ingest into {root} failed: {reason}.", hint) from error
    except BrokenProcessPool as error:
        raise ConfigurationError(
            "Ingest failed: a process was killed while it was parsing a file.",
            "If memory is short, reduce ASSAYER_INGEST__JOBS.",
        ) from error


def _create_pool(jobs: int) -> Executor:
    if jobs == 1:
        return ThreadPoolExecutor(1, thread_name_prefix="ingest")
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """Make this worker process exit if its parent is killed; otherwise it would write to a folder that the next run
    uses."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()
