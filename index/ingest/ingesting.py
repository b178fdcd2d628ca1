"""Ingest as a whole: takes in what is missing, then joins the partitions that this changes.

A folder of ingest:

    ingest.json          what it holds; written when a run has ended well
    raw/KIND/SOURCE/     stage one, a folder for each source file: part-*.parquet, rejected.jsonl, source.json; after
                         a number of diffs one for all that came before (`folding`)
    records/             stage two: part-*.parquet, all paper records
    upserts/, deletions/ what has changed since the first run, until somebody takes it; deletions.txt has all of them
"""

import asyncio
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
from assayer.flow import together
from assayer.models import Frozen
from index.ingest.folding import fold, sweep
from index.ingest.intake import Source, folder_of, marks_in, take_in, take_out
from index.ingest.joining import DELETIONS, PartSummary, join_part, made_from
from index.ingest.kinds import KINDS, KindName
from index.ingest.places import Place
from index.ingest.raw import SourceMark, part_name
from index.ingest.supply import Supply
from index.ingest.tables import JoinLimits
from index.versions.manifest import RejectionCount

__all__ = ["Holding", "Ingest", "IngestOptions", "IngestSummary", "Report"]

_HOLDING = "ingest.json"
_DELETIONS = "deletions.txt"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

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
    subjects: str | None = None
    """arXiv's set that the folder is of, empty for all; None before anybody said."""
    manifest: str = ""
    """Of OpenAlex, that the folder was made from."""


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
        if complete:  # what was said of the sources before is not true of these
            self.holding = self.holding.model_copy(update={"until": "", "kinds": ()})
        self._remember()
        await asyncio.to_thread(self._clear, sources if complete else None)
        taken = await self._take_in(sources, supply)
        return await self.finish(taken, until, tuple(dict.fromkeys(source.kind for source in sources)))

    def begin(self, until: str) -> None:
        """Says what a first run is about to bring, so that one that was killed goes on with the same."""
        self.holding = self.holding.model_copy(update={"until": until})
        self._remember()

    def of_subjects(self, wanted: str | None) -> str:
        """The set that the folder is of, from the first time on; None wants that one. Raises InputError for another:
        one day up to which all is there cannot be that of two sets."""
        held = self.holding.subjects
        if None not in (held, wanted) and held != wanted:
            raise InputError(
                f"{self.root} holds {_set(held)} and not {_set(wanted)}.", "Each set has a folder of its own."
            )
        subjects = wanted or held or ""
        self.holding = self.holding.model_copy(update={"subjects": subjects})
        self._remember()
        return subjects

    async def finish(
        self, taken: Sequence[SourceMark], until: str = "", kinds: Sequence[KindName] = ()
    ) -> IngestSummary:
        """Joins the partitions whose sources are not those that their records were made from."""
        self._remember()
        there = len(await asyncio.to_thread(marks_in, self.root)) - len(taken)
        marks = await asyncio.to_thread(self._fold)
        parts = await self._join(marks)
        await asyncio.to_thread(self._list_deletions)
        held = tuple(dict.fromkeys((*self.holding.kinds, *kinds)))
        self.holding = self.holding.model_copy(
            update={"until": until or self.holding.until, "built": True, "kinds": held}
        )
        self._remember()
        return _summary(taken, there, parts)

    @property
    def next_layer(self) -> int:
        """Above all that is there."""
        return max((mark.layer for _, mark in marks_in(self.root)), default=-1) + 1

    def at_manifest(self, wanted: str) -> None:
        """Remembers from where to go on."""
        self.holding = self.holding.model_copy(update={"manifest": wanted})

    def deletions(self, kind: KindName) -> list[Source]:
        """Sources that are in and only say what is gone."""
        marks = [mark for _, mark in marks_in(self.root) if mark.kind == kind and mark.deletions and not mark.rows]
        return [Source(kind=kind, name=one.name, layer=one.layer, seal=one.seal, deleted=True) for one in marks]

    def missing(self, sources: Sequence[Source]) -> list[Source]:
        marks = [mark for _, mark in marks_in(self.root)]
        there = {(mark.kind, mark.name, mark.seal) for mark in marks}
        there |= {(mark.kind, one.name, one.seal) for mark in marks for one in mark.absorbs}
        return [one for one in sources if (one.kind, one.name, one.seal) not in there]

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

    async def _take_in(self, sources: Sequence[Source], supply: Supply) -> list[SourceMark]:
        missing = await asyncio.to_thread(self.missing, sources)
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

    def _clear(self, kept: Sequence[Source] | None) -> None:
        """Removes what a killed run has left, and all but those that are kept; None keeps all."""
        sweep(self.root)
        if kept is not None:
            stay = {folder_of(self.root, source).path for source in kept}
            for folder, _ in marks_in(self.root):
                if folder.path not in stay:
                    take_out(folder)

    def _fold(self) -> list[tuple[Place, SourceMark]]:
        """What is there afterwards."""
        with _failures_told(self.root):
            sweep(self.root)
            fold(self.root, self._options.join, partial(self._report, "Folding"))
        return marks_in(self.root)

    async def _join(self, marks: Sequence[tuple[Place, SourceMark]]) -> list[PartSummary]:
        changed = await asyncio.to_thread(self._changed, marks)
        if changed:  # until all are joined, the list would not fit what is in upserts/
            await asyncio.to_thread((self.root / _DELETIONS).remove)
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


def _set(subjects: str | None) -> str:
    return f"arXiv's set {subjects}" if subjects else "all of arXiv"


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
        hint = "Make room there, then run it again." if error.errno in _FULL else "Run it again when that is mended."
        raise InputError(f"Ingest into {root} failed: {reason}.", hint) from error
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
