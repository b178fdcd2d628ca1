"""Rounds of fast search: queries, finds, judgement, better queries, until nothing new is found."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

from assayer.flow import Failed, each
from assayer.methods.innoeval.dossier import IdeaPart, Kind
from assayer.methods.innoeval.finds import one_line
from assayer.methods.innoeval.options import Options
from assayer.methods.innoeval.queries import Outcome, first_queries, refined_queries
from assayer.methods.innoeval.schemas import TriedFind
from assayer.methods.innoeval.selection import Ranked, Selection
from assayer.methods.innoeval.sources import Candidate, Query, Sources
from assayer.models import PaperId
from assayer.ports import Llm
from assayer.run import Run

__all__ = ["Search"]

Item = TypeVar("Item")

_TITLES = 3
"""Of a query's best finds, shown when it is looked back on."""
_TITLE_CHARS = 120


class Search:
    """The fast search of one evaluation."""

    def __init__(
        self, llm: Llm, run: Run, options: Options, sources: Sources, selection: Selection, digest: str
    ) -> None:
        self._llm, self._run, self._options, self._digest = llm, run, options, digest
        self._sources, self._selection = sources, selection
        self._pool: dict[PaperId, Candidate] = {}
        self._tried: dict[Query, tuple[PaperId, ...]] = {}
        """Every query that was answered, with what it found."""
        self._first: list[Query] = []
        self.rounds = 0
        """Of refined queries that were asked."""

    @property
    def account(self) -> str:
        """How much was asked, for the report."""
        return f"{len(self._tried)} queries were answered, with {self.rounds} round(s) of refinement."

    async def winners(self, parts: Sequence[IdeaPart]) -> list[Ranked]:
        """The best of each kind. Raises LiteratureError, and what went wrong when there was no query at all."""
        found = await self._begin(parts)
        while True:
            new = self._add(found)
            await self._selection.judge([*self._pool.values()])
            if not new or self.rounds == self._options.rounds:
                break
            queries = await self._refine(list(found))
            if not queries:
                break
            self.rounds += 1
            self._run.tell("search", self.rounds, self._options.rounds)
            found = await self._sources.search(queries)
        return self._selection.best([*self._pool.values()], self._options.top)

    async def later(self) -> list[Ranked]:
        """The best of what was published after the cutoff, by the first queries alone. To be called last: no search
        that judges may come after it."""
        if self._run.cutoff is None or not self._options.later:
            return []
        found = await self._sources.search(self._first, "after")
        pool = {one.paper.id: one for candidates in found.values() for one in candidates}
        await self._selection.judge([*pool.values()])
        return self._selection.best([*pool.values()], self._options.later)

    async def _begin(self, parts: Sequence[IdeaPart]) -> dict[Query, list[Candidate]]:
        """Every few parts go on to their search as soon as they have queries."""

        async def one(few: Sequence[IdeaPart]) -> dict[Query, list[Candidate]]:
            queries = await first_queries(self._llm, self._run, self._digest, few, self._sources.kinds)
            share = len(few) / len(parts)
            return await self._sources.search(self._affordable(list(dict.fromkeys(queries)), share))

        some = _split(parts, self._options.parts_per_call)
        outcomes = await each(some, one)
        answered = self._run.keep(outcomes, "part of the idea to search for", [len(few) for few in some])
        if not answered:
            raise next(outcome.error for outcome in outcomes if isinstance(outcome, Failed))
        found = {query: candidates for answer in answered for query, candidates in answer.items()}
        self._first = list(found)
        return found

    def _affordable(self, queries: Sequence[Query], share: float) -> list[Query]:
        """Of web and code no more than this share of what one evaluation may ask, each part's first query first."""
        room = {
            "literature": len(queries),
            "web": math.ceil(self._options.web_queries * share),
            "code": math.ceil(self._options.code_queries * share),
        }
        asked = []
        for query in _in_turn(queries):
            if room[query.kind] > 0:
                asked.append(query)
            room[query.kind] -= 1
        self._run.journal.drop("query of web or code", "beyond what one evaluation may ask", len(queries) - len(asked))
        return asked

    def _add(self, found: dict[Query, list[Candidate]]) -> int:
        """How many of them were not known."""
        before = len(self._pool)
        for query, candidates in found.items():
            self._tried[query] = tuple(one.paper.id for one in candidates)
            for one in candidates:
                self._pool.setdefault(one.paper.id, one)
        return len(self._pool) - before

    async def _refine(self, queries: Sequence[Query]) -> list[Query]:
        """None that was asked before; with fewer than all answers, those there are."""
        outcomes = [self._outcome(query) for query in queries]
        some = _split(outcomes, self._options.tried_per_call)
        limit = -(-self._options.refined // max(1, len(some)))
        refined = await each(some, lambda few: refined_queries(self._llm, self._run, self._digest, few, limit))
        answered = self._run.keep(refined, "query to be refined", [len(few) for few in some])
        asked = {(query.kind, _folded(query.text)) for query in self._tried}
        fresh = {
            (query.kind, _folded(query.text)): query
            for answer in answered
            for query in answer
            if (query.kind, _folded(query.text)) not in asked
        }
        return list(fresh.values())

    def _outcome(self, query: Query) -> Outcome:
        found = self._tried[query]
        best = sorted(found, key=lambda one: (-self._selection.relevance(one), one))[:_TITLES]
        return Outcome(
            query=query,
            found=len(found),
            relevant=sum(map(self._selection.relevant, found)),
            finds=tuple(
                TriedFind(
                    title=one_line(self._pool[one].paper.title)[:_TITLE_CHARS],
                    worth_reading=self._selection.relevant(one),
                )
                for one in best
            ),
        )


def _in_turn(queries: Sequence[Query]) -> list[Query]:
    """Every part's first query of a kind, then every part's second, and so on."""
    before: Counter[tuple[str, Kind]] = Counter()
    turns = []
    for query in queries:
        turns.append(before[query.part, query.kind])
        before[query.part, query.kind] += 1
    return [query for _, query in sorted(zip(turns, queries, strict=True), key=lambda one: one[0])]


def _folded(text: str) -> tuple[str, ...]:
    """The same words in another order are the same query."""
    return tuple(sorted(text.casefold().split()))


def _split(items: Iterable[Item], most: int) -> list[list[Item]]:
    listed = list(items)
    return [listed[start : start + most] for start in range(0, len(listed), most)]
