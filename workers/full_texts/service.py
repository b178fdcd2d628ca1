"""Full texts for evaluations: each paper is worked on once, for everybody who asks, and nobody waits for ever."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple, Self

from assayer.flow import together
from assayer.models import Absent, FullText, Paper, PaperId
from assayer.ports import Clock, FullTexts
from assayer.run import Run
from workers.full_texts.acquisition import Acquired, Acquisition
from workers.full_texts.candidates import Candidate, candidates
from workers.full_texts.copies import Downloads
from workers.full_texts.documents import open_documents
from workers.full_texts.places import Places
from workers.full_texts.settings import FullTextSettings, GrobidSettings
from workers.remote.call import Ask
from workers.remote.turns import Turns
from workers.sources.source import LocatesPdfs

__all__ = ["First", "FullTextService", "open_full_texts"]

_LOG = logging.getLogger(__name__)
_LATE = "not fetched and read in time"

Key = tuple[tuple[Candidate, ...], str]
"""What a paper's text depends on: where it may lie, and the DOI that locators are asked for."""


class First(NamedTuple):
    """Texts that are at hand, asked before anything is fetched."""

    name: str
    """The source's name in the journal."""
    full_texts: FullTexts


@dataclass(eq=False)
class _Flight:
    task: asyncio.Task[Acquired]
    begun: asyncio.Event
    waiting: int = 0


class FullTextService:
    """One for a process. It owns the work on each paper, from `async with` to its end.

    Work that has begun goes on when nobody waits for it any more, within `work_seconds` and the number of places:
    others may be about to ask, and what was fetched stays in the archive. Work that still waits for a place is
    dropped with the last one who waits for it.
    """

    def __init__(self, acquisition: Acquisition, settings: FullTextSettings) -> None:
        self._acquisition = acquisition
        self._settings = settings
        self._places = Places(settings.at_once)
        self._flights: dict[Key, _Flight] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks = [flight.task for flight in self._flights.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def for_run(self, run: Run, first: Sequence[First] = (), locators: Iterable[LocatesPdfs] = ()) -> FullTexts:
        """As one evaluation may use it: its own patience, its own journal. Locators are those made for the run."""
        return _RunFullTexts(self, self._settings, run, tuple(first), tuple(locators))

    async def acquire(
        self, paper: Paper, run: Run, locators: Sequence[LocatesPdfs], seconds: float
    ) -> tuple[Acquired, bool]:
        """What came of the paper within the time, and whether somebody else had asked for it already."""
        key = (candidates(paper, self._settings.hosts), paper.identifiers.doi)
        if not key[0] and not (locators and paper.identifiers.doi):
            return Acquired(None), False
        flight = self._flights.get(key)
        shared = flight is not None
        if flight is None:
            flight = self._flights[key] = self._launch(key, paper, run, locators, seconds)
        flight.waiting += 1
        try:
            await asyncio.wait({flight.task}, timeout=max(0.0, seconds))
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.begun.is_set():
                flight.task.cancel()
                self._forget(key, flight)
        if not flight.task.done() or flight.task.cancelled():
            return Acquired(None, given_up=_LATE), shared
        return flight.task.result(), shared

    def _launch(self, key: Key, paper: Paper, run: Run, locators: Sequence[LocatesPdfs], seconds: float) -> _Flight:
        begun = asyncio.Event()
        ask = Ask(asker=run.id, patience=seconds)
        flight = _Flight(asyncio.create_task(self._work(paper, locators, ask, begun)), begun)
        flight.task.add_done_callback(lambda _: self._forget(key, flight))
        return flight

    def _forget(self, key: Key, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]

    async def _work(self, paper: Paper, locators: Sequence[LocatesPdfs], ask: Ask, begun: asyncio.Event) -> Acquired:
        async with self._places.place(ask.asker):
            begun.set()
            try:
                async with asyncio.timeout(self._settings.work_seconds):
                    return await self._acquisition.acquire(paper, locators, ask)
            except TimeoutError:
                _LOG.warning("the full text of %s took more than %g s", paper.id, self._settings.work_seconds)
                return Acquired(None, given_up=_LATE)


class _RunFullTexts:
    """Implements assayer.ports.FullTexts."""

    def __init__(
        self,
        service: FullTextService,
        settings: FullTextSettings,
        run: Run,
        first: tuple[First, ...],
        locators: tuple[LocatesPdfs, ...],
    ) -> None:
        self._service = service
        self._settings = settings
        self._run = run
        self._first = first
        self._locators = locators
        self._until: float | None = None

    async def get(self, papers: Sequence[Paper]) -> Mapping[PaperId, FullText | Absent]:
        self._run.check()
        wanted = {paper.id: paper for paper in papers}
        answers: dict[PaperId, FullText | Absent] = {}
        for first in self._first:
            left = [paper for paper in wanted.values() if paper.id not in answers]
            answers |= await self._at_hand(first, left)
        left = [paper for paper in wanted.values() if paper.id not in answers]
        fetched = await together(map(self._one, left))
        return answers | dict(zip((paper.id for paper in left), fetched, strict=True))

    async def _at_hand(self, first: First, papers: Sequence[Paper]) -> dict[PaperId, FullText]:
        if not papers:
            return {}
        answers = await first.full_texts.get(papers)
        texts = {key: answer for key, answer in answers.items() if isinstance(answer, FullText)}
        self._run.journal.use(first.name, "full_texts", requests=len(papers), results=len(texts))
        return texts

    async def _one(self, paper: Paper) -> FullText | Absent:
        acquired, shared = await self._service.acquire(paper, self._run, self._locators, self._seconds_left())
        for step in acquired.steps:
            if step.error is None:
                cached = int(step.cached or shared)
                self._run.journal.use(step.source, "full_texts", requests=1, results=1, cached=cached)
            else:
                self._run.journal.trouble(step.source, "full_texts", step.error)
        return acquired.paper.full_text(paper.id) if acquired.paper else Absent(reason=acquired.reason)

    def _seconds_left(self) -> float:
        """The evaluation's patience runs from its first request."""
        now = asyncio.get_running_loop().time()
        if self._until is None:
            self._until = now + self._settings.run_seconds
        return min(self._settings.paper_seconds, self._until - now)


@asynccontextmanager
async def open_full_texts(
    settings: FullTextSettings,
    grobid: GrobidSettings,
    store: str,
    downloads: Downloads,
    clock: Clock,
    turns: Turns | None = None,
) -> AsyncIterator[FullTextService]:
    """With documents of its own; see `open_documents`."""
    async with (
        open_documents(settings, grobid, store, downloads, clock, turns) as documents,
        FullTextService(Acquisition(documents, documents, settings), settings) as service,
    ):
        yield service
