"""Iterative search: rounds of queries, results, judgement and refined queries, until nothing new is found."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count
from typing import TypeVar

from assayer.citing.labels import strip_citations
from assayer.evaluation_context import EvaluationContext
from assayer.llm import ask
from assayer.methods.innoeval.dimensions import EvidenceKind
from assayer.methods.innoeval.extraction import IdeaPart
from assayer.methods.innoeval.options import InnoEvalOptions
from assayer.methods.innoeval.prompt_evidence import label_parts
from assayer.methods.innoeval.schemas import (
    RefinementQuestion,
    SearchQueriesQuestion,
    SourceQuery,
    TriedQuery,
    TriedQueryResult,
)
from assayer.methods.innoeval.search.fast_search import FastSearch, SearchCandidate
from assayer.methods.innoeval.search.hybrid_selection import HybridSelection, RankedCandidate
from assayer.methods.innoeval.tasks import build_queries_task, build_refinement_task
from assayer.methods.scholareval.paper_evidence import format_title
from assayer.models import PaperId
from assayer.run.concurrency import Failed, gather_settled

Item = TypeVar("Item")

_SHOWN_TITLES = 3
"""Number of best results whose titles are shown when a query is refined."""
_TITLE_CHARS = 120


class IterativeSearch:
    """Searches in rounds: the first queries, then queries refined by the best results so far. Each evaluation has its
    own instance."""

    def __init__(
        self, context: EvaluationContext[InnoEvalOptions], sources: FastSearch, selection: HybridSelection, digest: str
    ) -> None:
        self._llm, self._run, self._options, self._digest = context.llm, context.run, context.options, digest
        self._sources, self._selection = sources, selection
        self._candidates: dict[PaperId, SearchCandidate] = {}
        self._results_by_query: dict[SourceQuery, tuple[PaperId, ...]] = {}
        """Results of every query that was answered."""
        self._first_queries: list[SourceQuery] = []
        self.rounds = 0
        """Number of rounds of refined queries so far."""

    @property
    def summary(self) -> str:
        """Description of how much was searched, for the report."""
        return f"Queries answered: {len(self._results_by_query)}; rounds of refinement: {self.rounds}."

    async def find_best_sources(self, parts: Sequence[IdeaPart]) -> list[RankedCandidate]:
        """Search in rounds, and return the best sources of each kind. Raises LiteratureError if the corpus fails, or
        the first error if no queries could be generated."""
        candidates_by_query = await self._run_first_round(parts)
        while True:
            new_count = self._remember(candidates_by_query)
            await self._selection.judge_candidates([*self._candidates.values()])
            if not new_count or self.rounds == self._options.rounds:
                break
            queries = await self._refine_queries(list(candidates_by_query))
            if not queries:
                break
            self.rounds += 1
            self._run.report_progress("search", self.rounds, self._options.rounds)
            candidates_by_query = await self._sources.search(queries)
        return self._selection.select_best_candidates([*self._candidates.values()], self._options.top)

    async def find_later_sources(self) -> list[RankedCandidate]:
        """Return the best sources published after the cutoff, found with the initial queries alone. Call this last: no
        search that judges candidates may follow."""
        if self._run.cutoff is None or not self._options.later:
            return []
        candidates_by_query = await self._sources.search(self._first_queries, "after")
        pool = {
            candidate.paper.id: candidate for candidates in candidates_by_query.values() for candidate in candidates
        }
        await self._selection.judge_candidates([*pool.values()])
        return self._selection.select_best_candidates([*pool.values()], self._options.later)

    async def _run_first_round(self, parts: Sequence[IdeaPart]) -> dict[SourceQuery, list[SearchCandidate]]:
        """Run the first round. Each batch of parts is searched as soon as its queries are ready."""

        async def search_batch(batch: Sequence[IdeaPart]) -> dict[SourceQuery, list[SearchCandidate]]:
            queries = await self._ask_for_queries(batch)
            share = len(batch) / len(parts)
            return await self._sources.search(self._limit_queries(list(dict.fromkeys(queries)), share))

        batches = _split_into_chunks(parts, self._options.parts_per_call)
        outcomes = await gather_settled(batches, search_batch)
        answers = self._run.keep_successes(
            outcomes, "part of the idea to search for", [len(batch) for batch in batches]
        )
        if not answers:
            raise next(outcome.error for outcome in outcomes if isinstance(outcome, Failed))
        candidates_by_query = {query: candidates for answer in answers for query, candidates in answer.items()}
        self._first_queries = list(candidates_by_query)
        return candidates_by_query

    async def _ask_for_queries(self, parts: Sequence[IdeaPart]) -> list[SourceQuery]:
        """Ask the model for the initial queries. Raises LlmError or BudgetExhausted if the request fails."""
        labelled_parts = label_parts(parts)
        question = SearchQueriesQuestion(digest=self._digest, parts=labelled_parts, kinds=self._sources.kinds)
        answer = await ask(self._llm, build_queries_task(question.kinds), question, self._run)
        names = {part.label: part.name for part in labelled_parts}
        return [
            SourceQuery(names[entry.part], kind, text)
            for entry in answer.queries
            for kind in question.kinds
            for text in map(strip_citations, getattr(entry, kind))
            if text
        ]

    def _limit_queries(self, queries: Sequence[SourceQuery], share: float) -> list[SourceQuery]:
        """Limit queries for web, code and data to this share of the evaluation's maximum. Each part's first query takes
        precedence."""
        remaining_by_kind = {
            "literature": len(queries),
            "web": math.ceil(self._options.web_queries * share),
            "code": math.ceil(self._options.code_queries * share),
            "data": math.ceil(self._options.data_queries * share),
        }
        kept_queries = []
        for query in _interleave_parts(queries):
            if remaining_by_kind[query.kind] > 0:
                kept_queries.append(query)
            remaining_by_kind[query.kind] -= 1
        self._run.journal.record_dropped(
            "query for web, code or data", "beyond the limit for one evaluation", len(queries) - len(kept_queries)
        )
        return kept_queries

    def _remember(self, candidates_by_query: dict[SourceQuery, list[SearchCandidate]]) -> int:
        """Store the results, and return how many were new."""
        count_before = len(self._candidates)
        for query, candidates in candidates_by_query.items():
            self._results_by_query[query] = tuple(candidate.paper.id for candidate in candidates)
            for candidate in candidates:
                self._candidates.setdefault(candidate.paper.id, candidate)
        return len(self._candidates) - count_before

    async def _refine_queries(self, queries: Sequence[SourceQuery]) -> list[SourceQuery]:
        """Return refined queries that were not asked before. If some LLM requests fail, the queries from the others are
        returned."""
        batches = _split_into_chunks(queries, self._options.tried_per_call)
        limit = -(-self._options.refined // max(1, len(batches)))
        current_queries = set(queries)
        earlier_queries = tuple(query for query in self._results_by_query if query not in current_queries)
        outcomes = await gather_settled(batches, lambda batch: self._refine_batch(batch, limit, earlier_queries))
        answers = self._run.keep_successes(outcomes, "query to be refined", [len(batch) for batch in batches])
        known_keys = {(query.kind, _build_query_key(query.text)) for query in self._results_by_query}
        new_queries = {
            (query.kind, _build_query_key(query.text)): query
            for answer in answers
            for query in answer
            if (query.kind, _build_query_key(query.text)) not in known_keys
        }
        return list(new_queries.values())

    async def _refine_batch(
        self, queries: Sequence[SourceQuery], limit: int, earlier_queries: tuple[SourceQuery, ...]
    ) -> list[SourceQuery]:
        """Ask the model for queries that replace or complement earlier ones of the same kind for the same part. Raises
        the same errors as `_ask_for_queries`."""
        tried_by_label = {item.label: item for item in map(self._describe_tried_query, count(1), queries)}
        question = RefinementQuestion(
            digest=self._digest, tried=tuple(tried_by_label.values()), earlier=earlier_queries, limit=limit
        )
        answer = await ask(self._llm, build_refinement_task(limit), question, self._run)
        refined_texts = [(tried_by_label[query.tried], strip_citations(query.query)) for query in answer.queries]
        return [SourceQuery(origin.part, origin.kind, text) for origin, text in refined_texts if text][:limit]

    def _describe_tried_query(self, number: int, query: SourceQuery) -> TriedQuery:
        """Return a query with its results, as shown to the model that refines it."""
        candidates = self._results_by_query[query]
        best = sorted(candidates, key=lambda item: (-self._selection.get_relevance(item), item))[:_SHOWN_TITLES]
        return TriedQuery(
            label=f"Q{number}",
            kind=query.kind,
            part=query.part,
            query=query.text,
            found=len(candidates),
            relevant=sum(map(self._selection.is_relevant, candidates)),
            finds=tuple(
                TriedQueryResult(
                    title=format_title(self._candidates[item].paper, _TITLE_CHARS),
                    worth_reading=self._selection.is_relevant(item),
                )
                for item in best
            ),
        )


def _interleave_parts(queries: Sequence[SourceQuery]) -> list[SourceQuery]:
    """Sort the queries so that every part's first query of a kind comes first, then every part's second, and so on."""
    counts: Counter[tuple[str, EvidenceKind]] = Counter()
    ranks = []
    for query in queries:
        ranks.append(counts[query.part, query.kind])
        counts[query.part, query.kind] += 1
    return [query for _, query in sorted(zip(ranks, queries, strict=True), key=lambda item: item[0])]


def _build_query_key(text: str) -> tuple[str, ...]:
    """Return a query's words as a key; queries with the same words in a different order have the same key."""
    return tuple(sorted(text.casefold().split()))


def _split_into_chunks(items: Iterable[Item], size: int) -> list[list[Item]]:
    item_list = list(items)
    return [item_list[start : start + size] for start in range(0, len(item_list), size)]
