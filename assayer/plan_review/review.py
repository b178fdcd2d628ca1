"""Review a plan from its own text: a language model finds flaws and missing comparators (what the plan should be
compared with).

It takes a single request, which runs concurrently with the method's other requests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from assayer.citing.claim_numbers import KnownNumbers, collect_numbers
from assayer.citing.evidence import check_plan_quote
from assayer.citing.labels import build_marker, strip_citations
from assayer.evaluation_context import EvaluationContext
from assayer.models import Absent, Hit, MissingComparator, NearPaper, Paper, PaperId, PlanFlaw, PlanReview
from assayer.plan_review.task import FLAWS, DoubtedPlan, FoundFlaw, LackingComparator
from assayer.run.concurrency import Failed, catch_failure, gather_settled

_MAX_HITS = 20
_MIN_SIMILARITY = 0.5
"""Minimum cosine similarity between a paper and the description of a comparator for the paper to be listed."""
_MAX_PAPERS_LISTED = 3
_PLAN = PaperId("plan")
"""Placeholder id for the plan, used as the source when numbers are checked."""

_NOTHING_NEAR = Absent(reason="no paper that was found is similar enough.")


@dataclass(frozen=True)
class ReviewedPlan:
    """Result of a plan review. Its texts cite papers by markers until the report numbers them."""

    review: PlanReview
    papers: dict[PaperId, Paper] = field(default_factory=dict)
    """Papers that may contain a missing comparator, by id."""


async def review_plan(context: EvaluationContext[Any]) -> ReviewedPlan:
    """Review the plan. Parts that failed are absent, with the reason. Raises errors that would affect every other
    request too."""
    text = context.text
    answer = await context.try_to_ask(FLAWS, DoubtedPlan(idea=text), "review of the plan")
    if isinstance(answer, Failed):
        return ReviewedPlan(PlanReview(flaws=Absent(reason=f"the review failed: {answer.error.reason}.")))
    papers: dict[PaperId, Paper] = {}
    near_papers = await _find_near_papers(answer.comparators, context)
    comparators = []
    for comparator, comparator_papers in zip(answer.comparators, near_papers, strict=True):
        if not isinstance(comparator_papers, Absent):
            papers |= {paper.id: paper for paper, _ in comparator_papers}
        comparators.append(_build_comparator(comparator, text, comparator_papers))
    flaws = tuple(_build_flaw(flaw, text) for flaw in answer.flaws)
    return ReviewedPlan(PlanReview(flaws=flaws, comparators=tuple(comparators)), papers)


def _build_flaw(flaw: FoundFlaw, plan: str) -> PlanFlaw:
    text = strip_citations(flaw.text)
    return PlanFlaw(
        aspect=flaw.aspect,
        text=text,
        change=strip_citations(flaw.change),
        certainty=flaw.certainty,
        quote=check_plan_quote(flaw.quote, plan),
        numbers_not_found=KnownNumbers(frozenset(), {_PLAN: collect_numbers(plan)}).find_missing(text, [_PLAN]),
    )


def _build_comparator(
    comparator: LackingComparator, plan: str, near_papers: Sequence[tuple[Paper, float]] | Absent
) -> MissingComparator:
    return MissingComparator(
        text=strip_citations(comparator.text),
        purpose=strip_citations(comparator.purpose),
        quote=check_plan_quote(comparator.quote, plan),
        papers=near_papers
        if isinstance(near_papers, Absent)
        else tuple(NearPaper(label=build_marker(paper.id), similarity=cosine) for paper, cosine in near_papers),
    )


async def _find_near_papers(
    comparators: Sequence[LackingComparator], context: EvaluationContext[Any]
) -> list[tuple[tuple[Paper, float], ...] | Absent]:
    if not comparators:
        return []
    library, run = context.library, context.run
    search_results = await catch_failure(library.search([item.query for item in comparators], _MAX_HITS))
    if isinstance(search_results, Failed):
        run.journal.record_failure("search for a comparator", search_results.error, len(comparators))
        return [Absent(reason=f"not searched: {search_results.error.reason}.")] * len(comparators)

    async def find_nearest(pair: tuple[LackingComparator, list[Hit]]) -> tuple[tuple[Paper, float], ...] | Absent:
        comparator, hits = pair
        papers = {hit.paper.id: hit.paper for hit in hits}
        cosines = await library.similarity(f"{comparator.text}. {comparator.purpose}", list(papers))
        near = sorted(
            (paper for paper in papers if cosines.get(paper, 0.0) >= _MIN_SIMILARITY), key=lambda at: (-cosines[at], at)
        )
        return tuple((papers[item], round(cosines[item], 4)) for item in near[:_MAX_PAPERS_LISTED]) or _NOTHING_NEAR

    outcomes = await gather_settled(zip(comparators, search_results, strict=True), find_nearest)
    run.keep_successes(outcomes, "search for a comparator")
    return [
        Absent(reason=f"not compared: {outcome.error.reason}.") if isinstance(outcome, Failed) else outcome
        for outcome in outcomes
    ]
