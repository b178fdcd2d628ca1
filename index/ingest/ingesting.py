"""Ingest as a whole: takes in what is missing, then joins the partitions that this changes.

A folder of ingest:

    ingest.json          what it holds; written when a run has ended well
    raw/KIND/SOURCE/     stage one, a folder for each source file: part-*.parquet, rejected.jsonl, source.json
    records/             stage two: part-*.parquet, all paper records
    upserts/, deletions/ what has changed since the first run, until somebody takes it; deletions.txt has all of them
"""

import asyncio
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from threading import Thread
from typing import NamedTuple

from pydantic import ValidationError

from assayer.errors import ConfigurationError, InputError
from assayer.flow import together
from assayer.models import Frozen
from index.ingest.intake import Source, folder_of, marks_in, take_in
from index.ingest.joining import DELETIONS, JoinLimits, PartSummary, join_part, made_from
from index.ingest.kinds import KINDS, KindName
from index.ingest.places import Place
from index.ingest.raw import SourceMark, part_name
from index.ingest.supply import Supply
from index.versions.manifest import RejectionCount

__all__ = ["Holding", "Ingest", "IngestOptions", "IngestSummary", "Report"]

_HOLDING = "ingest.json"
_DELETIONS = "deletions.txt"

Report = Callable[[str, int, int], None]
"""A stage in words, steps done, steps in all."""


class IngestOptions(Frozen):
    partitions: int = 64
    """Of a new folder; one is read, joined and written at a time."""
    jobs: int = 1
    """Files that are parsed at the same time, each in a process of its own when there are several."""
    join: JoinLimits = JoinLimits()


class Holding(Frozen):
    """What a folder of ingest holds, as of its last run that ended well."""

    origin: str
    """`s2`, `arxiv`, `openalex` or `jsonl`."""
    partitions: int
    until: str = ""
    """The release or day up to which it is complete; empty before the first run has ended, and where there is none."""
    built: bool = False
    kinds: tuple[KindName, ...] = ()
    """Of files that are all in."""


class IngestSummary(NamedTuple):
    taken: int
    """Source files."""
    there: int
    """That were in before."""
    rows: int
    """Lines of those taken that are usable."""
    parts: int
    """Partitions joined."""
    records: int
    """In the partitions joined."""
    upserts: int
    deletions: int
    rejected: tuple[RejectionCount, ...]


class Ingest:
    """One folder, one origin. Nothing else may write into the folder meanwhile."""

    def __init__(self, address: str, origin: str, options: IngestOptions, report: Report) -> None:
        """Raises InputError for a folder that holds something else."""
        self.root = Place.of(address)
        self._options = options
        self._report = report
        self.holding = self._found(origin)

    async def run(
        self, sources: Sequence[Source], supply: Supply, until: str = "", *, complete: bool = False
    ) -> IngestSummary:
        """Takes in what is missing of the sources and joins what that changes. A `complete` list says all there is:
        what it does not name goes."""
        self._remember()
        taken = await self._take_in(sources, supply, complete)
        return await self.finish(taken, until, tuple(dict.fromkeys(source.kind for source in sources)))

    def begin(self, until: str) -> None:
        """Says what a first run is about to bring, so that one that was killed goes on with the same."""
        self.holding = self.holding.model_copy(update={"until": until})
        self._remember()

    async def finish(
        self, taken: Sequence[SourceMark], until: str = "", kinds: Sequence[KindName] = ()
    ) -> IngestSummary:
        """Joins the partitions whose sources are not those that their records were made from."""
        self._remember()
        marks = await asyncio.to_thread(marks_in, self.root)
        parts = await self._join(marks)
        await asyncio.to_thread(self._list_deletions)
        held = tuple(dict.fromkeys((*self.holding.kinds, *kinds)))
        self.holding = self.holding.model_copy(
            update={"until": until or self.holding.until, "built": True, "kinds": held}
        )
        self._remember()
        return _summary(taken, len(marks) - len(taken), parts)

    @property
    def next_layer(self) -> int:
        """Above all that is there."""
        return max((mark.layer for _, mark in marks_in(self.root)), default=-1) + 1

    def missing(self, sources: Sequence[Source]) -> list[Source]:
        there = {(mark.kind, mark.name): mark.seal for _, mark in marks_in(self.root)}
        return [one for one in sources if there.get((one.kind, one.name)) != one.seal]

    def _found(self, origin: str) -> Holding:
        place = self.root / _HOLDING
        if not place.exists():
            if any(not name.startswith(".") for name in self.root.names()):
                raise InputError(f"{self.root} holds something else than ingested papers.", "Give an empty folder.")
            return Holding(origin=origin, partitions=self._options.partitions)
        try:
            holding = Holding.model_validate_json(place.read())
        except ValidationError:
            raise InputError(f"{place} cannot be read.", "Begin anew with an empty folder.") from None
        if holding.origin != origin:
            raise InputError(f"{self.root} holds papers from {holding.origin}.", "Each origin has a folder of its own.")
        return holding

    def _remember(self) -> None:
        (self.root / _HOLDING).write(self.holding.model_dump_json(indent=1).encode() + b"\n")

    async def _take_in(self, sources: Sequence[Source], supply: Supply, complete: bool) -> list[SourceMark]:
        missing = await asyncio.to_thread(self.missing, sources)
        if complete:
            await asyncio.to_thread(self._drop, sources)
        done = len(sources) - len(missing)
        turns = asyncio.Semaphore(self._options.jobs + 1)  # one more, which is fetched while others are parsed
        self._report("Reading", done, len(sources))

        async def one(source: Source) -> SourceMark:
            nonlocal done
            async with turns, supply.at(source) as address:
                mark = await asyncio.get_running_loop().run_in_executor(
                    pool, take_in, source, address, str(self.root), self.holding.partitions
                )
            done += 1
            self._report("Reading", done, len(sources))
            return mark

        with _failures_told(self.root), _pool(self._options.jobs) as pool:
            return await together(one(source) for source in missing)

    def _drop(self, sources: Sequence[Source]) -> None:
        kept = {folder_of(self.root, source).path for source in sources}
        for folder, _ in marks_in(self.root):
            if folder.path not in kept:
                folder.remove()

    async def _join(self, marks: Sequence[tuple[Place, SourceMark]]) -> list[PartSummary]:
        changed = await asyncio.to_thread(self._changed, marks)
        summaries = []
        for number, part in enumerate(changed):
            self._report("Joining", number, len(changed))
            summaries.append(await asyncio.to_thread(self._join_one, part, marks))
        self._report("Joining", len(changed), len(changed))
        return summaries

    def _changed(self, marks: Sequence[tuple[Place, SourceMark]]) -> list[int]:
        parts = range(self.holding.partitions)
        return [part for part in parts if made_from(self.root, part) != _names(part, marks)]

    def _join_one(self, part: int, marks: Sequence[tuple[Place, SourceMark]]) -> PartSummary:
        files: dict[KindName, list[Place]] = {
            kind: [folder / part_name(part) for folder, mark in marks if mark.kind == kind and part in mark.parts]
            for kind in KINDS
            if any(mark.kind == kind for _, mark in marks)
        }
        with _failures_told(self.root):
            return join_part(self.root, part, files, _names(part, marks), not self.holding.built, self._options.join)

    def _list_deletions(self) -> None:
        folder = self.root / DELETIONS
        gone = [(folder / name).read() for name in folder.names()]
        if gone:
            (self.root / _DELETIONS).write(b"".join(gone))
        else:
            (self.root / _DELETIONS).remove()


def _names(part: int, marks: Iterable[tuple[Place, SourceMark]]) -> tuple[str, ...]:
    """What tells the records of a partition from those made from other sources."""
    return tuple(sorted(f"{mark.kind}/{mark.name}@{mark.seal}" for _, mark in marks if part in mark.parts))


def _summary(taken: Sequence[SourceMark], there: int, parts: Sequence[PartSummary]) -> IngestSummary:
    reasons: Counter[str] = Counter()
    for one in (*(one for mark in taken for one in mark.rejected), *(one for part in parts for one in part.rejected)):
        reasons[one.reason] += one.count
    return IngestSummary(
        taken=len(taken),
        there=there,
        rows=sum(mark.rows for mark in taken),
        parts=len(parts),
        records=sum(part.records for part in parts),
        upserts=sum(part.upserts for part in parts),
        deletions=sum(part.deletions for part in parts),
        rejected=tuple(RejectionCount(reason=reason, count=count) for reason, count in reasons.most_common()),
    )


@contextmanager
def _failures_told(root: Place) -> Iterator[None]:
    """What the machine refuses comes out as a sentence. Nothing is lost by it."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise InputError(f"Ingest into {root} failed: {reason}.", "Make room there, then run it again.") from error
    except BrokenProcessPool as error:
        raise ConfigurationError(
            "A process that parsed a file was killed.", "Memory may be short: lower ASSAYER_INGEST__JOBS."
        ) from error


def _pool(jobs: int) -> Executor:
    if jobs == 1:
        return ThreadPoolExecutor(1, thread_name_prefix="ingest")
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """A parent that is killed would leave its workers writing into a folder that the next run is at work in."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()
