"""Query remote sources concurrently for one evaluation, within its budget.

If a source is down, busy or returns malformed responses, only its own results are missing: the failure is recorded in
the journal and not raised. Each evaluation has a budget of queries and waiting time per source, so that one idea cannot
use up the limits shared by all."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple, TypeVar

from assayer.errors import SourceError
from assayer.models import Identifiers, Operation, Paper, Retraction, Window
from assayer.ports import Clock
from assayer.run.concurrency import gather_all
from assayer.run.run import Run
from workers.literature.settings import LiteratureSettings
from workers.literature_apis.capabilities import (
    ListsCitingPapers,
    ListsReferences,
    LiteratureSource,
    RecommendsPapers,
    ReportsRetractions,
    ResolvesIdentifiers,
    SearchesPapers,
    SearchesSnippets,
    Snippet,
)
from workers.outbound.source_requests import RequestContext, build_out_of_time_error

_LAST_ANSWER_SECONDS = 60.0
"""Maximum seconds that an evaluation waits for a source's last response, over all pages, after its time budget is used
up."""


class SourceBudget:
    """One evaluation's remaining budget for one source: queries of each kind, and seconds with at least one query in
    flight."""

    def __init__(self, queries: int, seconds: float, clock: Clock) -> None:
        self._queries = queries
        self._seconds = seconds
        self._clock = clock
        self._used_counts: Counter[Operation] = Counter()
        self._in_flight = 0
        self._waiting_since = 0.0

    def take(self, operation: Operation, requested: int) -> int:
        """Take up to `requested` queries from the budget; return how many may be sent."""
        granted = min(requested, self._queries - self._used_counts[operation])
        self._used_counts[operation] += granted
        return granted

    @property
    def seconds_left(self) -> float:
        in_flight_seconds = self._clock.monotonic() - self._waiting_since if self._in_flight else 0.0
        return max(0.0, self._seconds - in_flight_seconds)

    @contextmanager
    def count_waiting(self) -> Iterator[None]:
        """Count the time while the context is open. Time shared by concurrent queries counts only once."""
        if not self._in_flight:
            self._waiting_since = self._clock.monotonic()
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._seconds -= self._clock.monotonic() - self._waiting_since


Item = TypeVar("Item")
Result = TypeVar("Result")
Port = TypeVar("Port", bound=LiteratureSource)

_RemoteCall = Callable[[RequestContext], Awaitable[Sequence[Result]]]


class RemoteQuery(NamedTuple):
    query: str
    limit: int
    window: Window


class RemoteLiterature:
    """Queries all remote sources within one evaluation's budget."""

    def __init__(self, sources: Sequence[LiteratureSource], settings: LiteratureSettings, run: Run) -> None:
        self._sources = sources
        self._settings = settings
        self._run = run
        self._budgets = {
            source.name: SourceBudget(settings.questions, settings.patience_seconds, run.clock) for source in sources
        }

    def __bool__(self) -> bool:
        return bool(self._sources)

    @property
    def can_check_retractions(self) -> bool:
        return any(isinstance(source, ReportsRetractions) for source in self._sources)

    async def search(self, queries: Sequence[RemoteQuery]) -> list[list[Paper]]:
        """Return the papers found for each query in all sources, grouped by source. Put the most important queries
        first, because a source's budget may not cover all of them."""
        sources = [
            item for item in self._sources if isinstance(item, SearchesPapers) and item.name in self._settings.searched
        ]
        return await self._query_all(sources, "search", queries, lambda source, query: partial(source.search, *query))

    async def snippets(self, queries: Sequence[RemoteQuery]) -> list[list[Snippet]]:
        sources = [source for source in self._sources if isinstance(source, SearchesSnippets)]
        return await self._query_all(
            sources, "snippets", queries, lambda source, query: partial(source.snippets, *query)
        )

    async def recommend(self, papers: Sequence[Identifiers], limit: int) -> list[list[Paper]]:
        """Return papers similar to each paper."""
        sources = [source for source in self._sources if isinstance(source, RecommendsPapers)]
        return await self._query_all(
            sources, "neighbours", papers, lambda source, paper: partial(source.recommend, [paper], limit)
        )

    async def references(self, papers: Sequence[Identifiers], limit: int) -> list[list[Paper]]:
        """Return the papers that each paper cites, from the first source that knows any."""
        sources = [source for source in self._sources if isinstance(source, ListsReferences)]
        return await self._query_in_turn(
            sources, "references", papers, lambda source, paper: partial(source.references, paper, limit)
        )

    async def citing(self, papers: Sequence[Identifiers], limit: int, window: Window) -> list[list[Paper]]:
        """Return the papers that cite each paper, from the first source that knows any."""
        sources = [source for source in self._sources if isinstance(source, ListsCitingPapers)]
        return await self._query_in_turn(
            sources, "citations", papers, lambda source, paper: partial(source.citing, paper, limit, window)
        )

    async def resolve(self, papers: Sequence[Identifiers]) -> list[Paper]:
        """Return the records of those papers that are found, each from the first source that has it, in no particular
        order."""
        resolved: list[Paper] = []
        unresolved = list(papers)
        for source in [source for source in self._sources if isinstance(source, ResolvesIdentifiers)]:
            if not unresolved or not self._take(source, "papers", 1):
                continue
            records = await self._fetch(source, "papers", partial(source.resolve, unresolved))
            resolved += [record for record in records if record is not None]
            unresolved = (
                [paper for paper, record in zip(unresolved, records, strict=True) if record is None]
                if records
                else unresolved
            )
        return resolved

    async def retractions(self, papers: Sequence[Identifiers]) -> list[tuple[Identifiers, Retraction]]:
        """Return all retraction notices from all sources; a paper may have several. Each source is queried once, with
        its own time limit, so that earlier slow queries do not prevent this check. If a source fails, the journal
        records how many papers it did not check."""

        async def fetch_notices(
            source: ReportsRetractions, context: RequestContext
        ) -> list[tuple[Identifiers, Retraction]]:
            notices: Mapping[Identifiers, Retraction] = await source.retractions(papers, context)
            return list(notices.items())

        sources = [source for source in self._sources if isinstance(source, ReportsRetractions)] if papers else []
        answers = await gather_all(
            self._fetch_with_timeout(
                SourceBudget(1, self._settings.retraction_seconds, self._run.clock),
                source,
                "retractions",
                partial(fetch_notices, source),
            )
            for source in sources
        )
        for source, answer in zip(sources, answers, strict=True):
            if answer is None:
                self._run.journal.unchecked_for_retraction[source.name] += len(papers)
        return [notice for answer in answers for notice in answer or ()]

    def _take(
        self, source: LiteratureSource, operation: Operation, requested: int, max_requests: int | None = None
    ) -> int:
        granted = self._budgets[source.name].take(
            operation, requested if max_requests is None else min(requested, max_requests)
        )
        reason = "it exceeded the limit of one evaluation for one source"
        self._run.journal.record_dropped("question to a remote source", reason, requested - granted)
        return granted

    async def _query_in_turn(
        self,
        sources: Sequence[Port],
        operation: Operation,
        items: Sequence[Item],
        call: Callable[[Port, Item], _RemoteCall[Result]],
    ) -> list[list[Result]]:
        """Query the sources one after another, each for the items that still have no results, within its budget."""
        answers: list[list[Result]] = [[] for _ in items]
        for source in sources:
            unanswered = [number for number, answer in enumerate(answers) if not answer]
            unanswered = unanswered[: self._take(source, operation, len(unanswered))]
            requests = (self._fetch(source, operation, call(source, items[number])) for number in unanswered)
            for number, answer in zip(unanswered, await gather_all(requests), strict=True):
                answers[number] = answer
        return answers

    async def _query_all(
        self,
        sources: Sequence[Port],
        operation: Operation,
        items: Sequence[Item],
        call: Callable[[Port, Item], _RemoteCall[Result]],
    ) -> list[list[Result]]:
        """Query all sources concurrently, each for as many of the first items as its budget allows."""
        numbered_sources = []
        for source in sources:
            granted = self._take(source, operation, len(items), self._settings.questions_at_once)
            numbered_sources += [(number, source) for number in range(granted)]
        requests = (self._fetch(source, operation, call(source, items[number])) for number, source in numbered_sources)
        answers: list[list[Result]] = [[] for _ in items]
        for (number, _), answer in zip(numbered_sources, await gather_all(requests), strict=True):
            answers[number] += answer
        return answers

    async def _fetch(self, source: LiteratureSource, operation: Operation, call: _RemoteCall[Result]) -> list[Result]:
        """Return the source's results; empty if it does not respond."""
        return await self._fetch_with_timeout(self._budgets[source.name], source, operation, call) or []

    async def _fetch_with_timeout(
        self, budget: SourceBudget, source: LiteratureSource, operation: Operation, call: _RemoteCall[Result]
    ) -> list[Result] | None:
        """Return the source's results, or None if it fails or does not respond in time."""
        context = RequestContext(owner=self._run.id, patience=budget.seconds_left)
        try:
            with budget.count_waiting():
                result = await _await_in_time(context.patience, source.name, call(context))
        except SourceError as error:
            self._run.journal.record_source_failure(source.name, operation, error)
            return None
        self._run.journal.record_use(source.name, operation, results=sum(item is not None for item in result))
        return list(result)


async def _await_in_time(max_seconds: float, source: str, call: Awaitable[Sequence[Result]]) -> Sequence[Result]:
    try:
        async with asyncio.timeout(max_seconds + _LAST_ANSWER_SECONDS):
            return await call
    except TimeoutError:
        raise build_out_of_time_error(source, max_seconds) from None
