"""Provide full texts to evaluations. Each paper is fetched only once for all callers, and every wait is limited.

Evaluations take turns in using slots, so that an evaluation with many papers does not delay the others."""

import asyncio
import datetime as dt
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from assayer.models import OPEN, Absent, FullText, Paper, PaperId, Window
from assayer.ports import FullTexts
from assayer.run.concurrency import gather_all
from assayer.run.run import Run
from workers.full_texts.acquisition import NO_DATED_COPY, AcquisitionResult, FullTextAcquisition
from workers.full_texts.pdf_locations import PdfLocation, list_known_pdf_locations
from workers.full_texts.settings import FullTextSettings
from workers.literature_apis.capabilities import LocatesPdfs
from workers.outbound.priority_gate import FixedSlots, Place, PriorityGate
from workers.outbound.single_flight import InFlight, SingleFlight, Waiter
from workers.outbound.source_requests import RequestContext

_LOG = logging.getLogger(__name__)
_TOO_LATE_REASON = "not fetched and read in time"

AcquisitionKey = tuple[tuple[PdfLocation, ...], str, dt.date | None]
"""Inputs that determine a paper's text: its known locations, the DOI that locators look up, and the cutoff, which
excludes later copies."""


class LocalFullTexts(NamedTuple):
    """Full texts that need not be fetched, such as those in the corpus. They are tried first."""

    name: str
    """The source's name in the journal."""
    full_texts: FullTexts


class FullTextService:
    """Fetches full texts for all evaluations in a process. Use it as an async context manager.

    A fetch that has started continues after its last caller has left, for at most `work_seconds`, because other callers
    may follow and the fetched copy stays in the archive. A fetch that is still waiting for a slot is cancelled when its
    last caller leaves."""

    def __init__(self, acquisition: FullTextAcquisition, settings: FullTextSettings) -> None:
        self._acquisition = acquisition
        self._settings = settings
        self._slots = PriorityGate(FixedSlots(settings.at_once))
        self._in_flight: SingleFlight[AcquisitionKey, Waiter[AcquisitionResult]] = SingleFlight()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._in_flight.aclose()

    def for_run(
        self, run: Run, local_sources: Sequence[LocalFullTexts] = (), locators: Iterable[LocatesPdfs] = ()
    ) -> FullTexts:
        """Return the full texts for one evaluation, with its own time limits and journal. `locators` are the PDF
        locators created for the run."""
        return _RunFullTexts(self, self._settings, run, tuple(local_sources), tuple(locators))

    async def acquire(
        self, paper: Paper, run: Run, locators: Sequence[LocatesPdfs], seconds: float, window: Window = OPEN
    ) -> tuple[AcquisitionResult, bool]:
        """Fetch a paper's text within `seconds`. Return the result, and whether another caller had already started
        fetching it."""
        hosts = self._settings.hosts
        key = (list_known_pdf_locations(paper, hosts, window), paper.identifiers.doi, window.before)
        if not key[0] and not (locators and paper.identifiers.doi):
            return AcquisitionResult(
                None, given_up=NO_DATED_COPY if list_known_pdf_locations(paper, hosts) else ""
            ), False
        waiter = Waiter[AcquisitionResult]()
        context = RequestContext(owner=run.id, patience=seconds)
        self._in_flight.join(key, waiter, lambda call: self._acquire_in_slot(paper, locators, context, window, call))
        try:
            await asyncio.wait({waiter.result}, timeout=max(0.0, seconds))
        finally:
            self._in_flight.leave(waiter)
        if not waiter.result.done() or waiter.result.cancelled():
            return AcquisitionResult(None, given_up=_TOO_LATE_REASON), waiter.has_joined
        return waiter.result.result(), waiter.has_joined

    async def _acquire_in_slot(
        self,
        paper: Paper,
        locators: Sequence[LocatesPdfs],
        context: RequestContext,
        window: Window,
        call: InFlight[Any],
    ) -> AcquisitionResult:
        async with self._slots.hold_slot(Place(owner=context.owner)):
            call.is_detached = True
            try:
                async with asyncio.timeout(self._settings.work_seconds):
                    return await self._acquisition.acquire(paper, locators, context, window)
            except TimeoutError:
                _LOG.warning("the full text of %s took more than %g s", paper.id, self._settings.work_seconds)
                return AcquisitionResult(None, given_up=_TOO_LATE_REASON)


class _RunFullTexts:
    """Full texts for one run. Implements `assayer.ports.FullTexts`."""

    def __init__(
        self,
        service: FullTextService,
        settings: FullTextSettings,
        run: Run,
        local_sources: tuple[LocalFullTexts, ...],
        locators: tuple[LocatesPdfs, ...],
    ) -> None:
        self._service = service
        self._settings = settings
        self._run = run
        self._local_sources = local_sources
        self._locators = locators
        self._deadline: float | None = None

    async def get(self, papers: Sequence[Paper], window: Window) -> Mapping[PaperId, FullText | Absent]:
        papers_by_id = {paper.id: paper for paper in papers}
        answers: dict[PaperId, FullText | Absent] = {}
        for local_texts in self._local_sources:
            missing_papers = [paper for paper in papers_by_id.values() if paper.id not in answers]
            answers |= await self._get_local(local_texts, missing_papers, window)
        missing_papers = [paper for paper in papers_by_id.values() if paper.id not in answers]
        fetched = await gather_all(self._fetch_text(paper, window) for paper in missing_papers)
        return answers | dict(zip((paper.id for paper in missing_papers), fetched, strict=True))

    async def _get_local(
        self, source: LocalFullTexts, papers: Sequence[Paper], window: Window
    ) -> dict[PaperId, FullText]:
        if not papers:
            return {}
        answers = await source.full_texts.get(papers, window)
        texts = {key: answer for key, answer in answers.items() if isinstance(answer, FullText)}
        self._run.journal.record_use(source.name, "full_texts", requests=len(papers), results=len(texts))
        return texts

    async def _fetch_text(self, paper: Paper, window: Window) -> FullText | Absent:
        """Fetch a paper's full text, recording each attempt in the journal. Only copies known to have existed within
        the evaluation's date window are tried, so the text can be treated as falling within it."""
        seconds = self._compute_seconds_left()
        acquisition, was_shared = await self._service.acquire(paper, self._run, self._locators, seconds, window)
        for attempt in acquisition.attempts:
            if attempt.error is None:
                cached = int(attempt.cached or was_shared)
                self._run.journal.record_use(attempt.source, "full_texts", requests=1, results=1, cached=cached)
            else:
                self._run.journal.record_source_failure(attempt.source, "full_texts", attempt.error)
        if acquisition.paper is None:
            return Absent(reason=acquisition.reason)
        return acquisition.paper.to_full_text(paper.id).model_copy(update={"within_window": True})

    def _compute_seconds_left(self) -> float:
        """Return the seconds left for this evaluation, counted from its first request."""
        now = asyncio.get_running_loop().time()
        if self._deadline is None:
            self._deadline = now + self._settings.run_seconds
        return min(self._settings.paper_seconds, self._deadline - now)
