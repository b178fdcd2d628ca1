"""Rounds of fast search: queries, results, judgement, better queries, until nothing new is found."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from assayer.citing.labels import plain
from assayer.llm import Llm, ask
from assayer.methods.innoeval.dimensions import EvidenceKind
from assayer.methods.innoeval.extraction import IdeaPart
from assayer.methods.innoeval.options import InnoEvalOptions
from assayer.methods.innoeval.prompt_evidence import labelled_parts, on_one_line
from assayer.methods.innoeval.schemas import (
    EarlierQuery,
    PartQueries,
    RefinementQuestion,
    SearchQueriesQuestion,
    TriedQuery,
    TriedQueryResult,
)
from assayer.methods.innoeval.search.fast_search import FastSearch, SearchCandidate, SourceQuery
from assayer.methods.innoeval.search.hybrid_selection import HybridSelection, RankedCandidate
from assayer.methods.innoeval.tasks import queries_task, refinement_task
from assayer.models import PaperId
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, each

__all__ = ["IterativeSearch", "QueryOutcome", "first_queries", "refined_queries"]


Item = TypeVar("Item")

_SHOWN_TITLES = 3
"""Of a query's best results, shown when it is to be refined."""
_TITLE_CHARS = 120


class QueryOutcome(NamedTuple):
    """A query and what it found."""

    query: SourceQuery
    found: int
    relevant: int
    finds: tuple[TriedQueryResult, ...]
    """The best of them."""


class IterativeSearch:
    """The fast search of one evaluation."""

    def __init__(
        self, llm: Llm, run: Run, options: InnoEvalOptions, sources: FastSearch, selection: HybridSelection, digest: str
    ) -> None:
        self._llm, self._run, self._options, self._digest = llm, run, options, digest
        self._sources, self._selection = sources, selection
        self._candidates: dict[PaperId, SearchCandidate] = {}
        self._results_by_query: dict[SourceQuery, tuple[PaperId, ...]] = {}
        """Every query that was answered, with what it found."""
        self._first_queries: list[SourceQuery] = []
        self.rounds = 0
        """Of refined queries that were asked."""

    @property
    def summary(self) -> str:
        """How much was searched, for the report."""
        return f"{len(self._results_by_query)} queries were answered, with {self.rounds} round(s) of refinement."

    async def best_sources(self, parts: Sequence[IdeaPart]) -> list[RankedCandidate]:
        """The best of each kind. Raises LiteratureError, and what went wrong when there was no query at all."""
        found = await self._first_round(parts)
        while True:
            new = self._remember(found)
            await self._selection.judge_candidates([*self._candidates.values()])
            if not new or self.rounds == self._options.rounds:
                break
            queries = await self._refine(list(found))
            if not queries:
                break
            self.rounds += 1
            self._run.report_progress("search", self.rounds, self._options.rounds)
            found = await self._sources.search(queries)
        return self._selection.best_candidates([*self._candidates.values()], self._options.top)

    async def later_sources(self) -> list[RankedCandidate]:
        """The best of what was published after the cutoff, by the first queries alone. To be called last: no search
        that judges may come after it."""
        if self._run.cutoff is None or not self._options.later:
            return []
        found = await self._sources.search(self._first_queries, "after")
        pool = {one.paper.id: one for candidates in found.values() for one in candidates}
        await self._selection.judge_candidates([*pool.values()])
        return self._selection.best_candidates([*pool.values()], self._options.later)

    async def _first_round(self, parts: Sequence[IdeaPart]) -> dict[SourceQuery, list[SearchCandidate]]:
        """Every few parts go on to their search as soon as they have queries."""

        async def one(batch: Sequence[IdeaPart]) -> dict[SourceQuery, list[SearchCandidate]]:
            queries = await first_queries(self._llm, self._run, self._digest, batch, self._sources.kinds)
            share = len(batch) / len(parts)
            return await self._sources.search(self._within_limits(list(dict.fromkeys(queries)), share))

        batches = _chunks(parts, self._options.parts_per_call)
        outcomes = await each(batches, one)
        answered = self._run.keep_successes(
            outcomes, "part of the idea to search for", [len(batch) for batch in batches]
        )
        if not answered:
            raise next(outcome.error for outcome in outcomes if isinstance(outcome, Failed))
        found = {query: candidates for answer in answered for query, candidates in answer.items()}
        self._first_queries = list(found)
        return found

    def _within_limits(self, queries: Sequence[SourceQuery], share: float) -> list[SourceQuery]:
        """Of web, code and data no more than this share of what one evaluation may ask, each part's first query
        first."""
        room = {
            "literature": len(queries),
            "web": math.ceil(self._options.web_queries * share),
            "code": math.ceil(self._options.code_queries * share),
            "data": math.ceil(self._options.data_queries * share),
        }
        asked = []
        for query in _parts_in_turn(queries):
            if room[query.kind] > 0:
                asked.append(query)
            room[query.kind] -= 1
        self._run.journal.record_dropped(
            "query of web, code or data", "beyond the limit for one evaluation", len(queries) - len(asked)
        )
        return asked

    def _remember(self, found: dict[SourceQuery, list[SearchCandidate]]) -> int:
        """How many of them were not known."""
        before = len(self._candidates)
        for query, candidates in found.items():
            self._results_by_query[query] = tuple(one.paper.id for one in candidates)
            for one in candidates:
                self._candidates.setdefault(one.paper.id, one)
        return len(self._candidates) - before

    async def _refine(self, queries: Sequence[SourceQuery]) -> list[SourceQuery]:
        """None that was asked before; with fewer than all answers, those there are."""
        outcomes = [self._query_outcome(query) for query in queries]
        batches = _chunks(outcomes, self._options.tried_per_call)
        limit = -(-self._options.refined // max(1, len(batches)))
        now = set(queries)
        earlier = [query for query in self._results_by_query if query not in now]
        refined = await each(
            batches, lambda batch: refined_queries(self._llm, self._run, self._digest, batch, limit, earlier)
        )
        answered = self._run.keep_successes(refined, "query to be refined", [len(batch) for batch in batches])
        asked = {(query.kind, _sorted_words(query.text)) for query in self._results_by_query}
        fresh = {
            (query.kind, _sorted_words(query.text)): query
            for answer in answered
            for query in answer
            if (query.kind, _sorted_words(query.text)) not in asked
        }
        return list(fresh.values())

    def _query_outcome(self, query: SourceQuery) -> QueryOutcome:
        found = self._results_by_query[query]
        best = sorted(found, key=lambda one: (-self._selection.relevance(one), one))[:_SHOWN_TITLES]
        return QueryOutcome(
            query=query,
            found=len(found),
            relevant=sum(map(self._selection.is_relevant, found)),
            finds=tuple(
                TriedQueryResult(
                    title=on_one_line(self._candidates[one].paper.title)[:_TITLE_CHARS],
                    worth_reading=self._selection.is_relevant(one),
                )
                for one in best
            ),
        )


def _parts_in_turn(queries: Sequence[SourceQuery]) -> list[SourceQuery]:
    """Every part's first query of a kind, then every part's second, and so on."""
    before: Counter[tuple[str, EvidenceKind]] = Counter()
    turns = []
    for query in queries:
        turns.append(before[query.part, query.kind])
        before[query.part, query.kind] += 1
    return [query for _, query in sorted(zip(turns, queries, strict=True), key=lambda one: one[0])]


def _sorted_words(text: str) -> tuple[str, ...]:
    """The same words in another order are the same query."""
    return tuple(sorted(text.casefold().split()))


def _chunks(items: Iterable[Item], most: int) -> list[list[Item]]:
    listed = list(items)
    return [listed[start : start + most] for start in range(0, len(listed), most)]


async def first_queries(
    llm: Llm, run: Run, digest: str, parts: Sequence[IdeaPart], kinds: Sequence[EvidenceKind]
) -> list[SourceQuery]:
    """Raises an LlmError or BudgetExhausted."""
    labelled = labelled_parts(parts)
    question = SearchQueriesQuestion(digest=digest, parts=labelled, kinds=tuple(kinds))
    answer = await ask(llm, queries_task(question.kinds), question, run)
    names = {part.label: part.name for part in labelled}
    return [
        SourceQuery(names[entry.part], kind, text)
        for entry in answer.queries
        for kind in kinds
        for text in map(plain, _of_kind(entry, kind))
        if text
    ]


def _of_kind(entry: PartQueries, kind: EvidenceKind) -> list[str]:
    return {"literature": entry.literature, "web": entry.web, "code": entry.code, "data": entry.data}[kind]


async def refined_queries(
    llm: Llm,
    run: Run,
    digest: str,
    outcomes: Sequence[QueryOutcome],
    limit: int,
    earlier: Sequence[SourceQuery] = (),
) -> list[SourceQuery]:
    """What to ask instead of or beside what was asked, of the same kind for the same part. Raises as
    `first_queries`."""
    tried = {
        f"Q{number}": TriedQuery(
            label=f"Q{number}",
            kind=one.query.kind,
            part=one.query.part,
            query=one.query.text,
            found=one.found,
            relevant=one.relevant,
            finds=one.finds,
        )
        for number, one in enumerate(outcomes, start=1)
    }
    question = RefinementQuestion(
        digest=digest,
        tried=tuple(tried.values()),
        earlier=tuple(EarlierQuery(kind=one.kind, part=one.part, query=one.text) for one in earlier),
        limit=limit,
    )
    answer = await ask(llm, refinement_task(limit), question, run)
    refined = [(tried[one.tried], plain(one.query)) for one in answer.queries]
    return [SourceQuery(origin.part, origin.kind, text) for origin, text in refined if text][:limit]
