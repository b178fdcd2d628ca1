"""A plan reviewed from its own text: the checklist always, flaws and missing comparators by a language model.

One call, beside everything else that a method asks, so that it adds nothing to the depth of an evaluation.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from assayer.citing.claim_numbers import KnownNumbers, numbers_in
from assayer.citing.evidence import Evidence, check_quote
from assayer.citing.labels import marker, plain
from assayer.literature.library import Library
from assayer.llm import Llm, ask
from assayer.models import (
    Absent,
    Hit,
    MissingComparator,
    NearPaper,
    Paper,
    PaperId,
    PlanFlaw,
    PlanQuote,
    PlanReview,
)
from assayer.plan_review.checklist import checklist
from assayer.plan_review.task import FLAWS, DoubtedPlan, FoundFlaw, LackingComparator
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, attempt, each

__all__ = ["ReviewedPlan", "review_plan"]

_HITS = 20
_NEAR = 0.5
"""Least cosine of a paper with the description of a comparator for which it is named."""
_MOST_NAMED = 3
_PLAN = PaperId("plan")
"""Stands for the plan where quotes and numbers are held against a source."""

_NO_MODEL = Absent(reason="doubting a plan takes a language model, and none is configured.")
_NOTHING_NEAR = Absent(reason="no paper near enough was found.")


@dataclass(frozen=True)
class ReviewedPlan:
    """Papers stand in it as markers, until the report is numbered."""

    review: PlanReview
    papers: dict[PaperId, Paper] = field(default_factory=dict)
    """Those that may hold a missing comparator."""


async def review_plan(text: str, llm: Llm, library: Library, run: Run) -> ReviewedPlan:
    """Raises what makes going on pointless for all; otherwise what failed is absent with its reason."""
    rows = await asyncio.to_thread(checklist, text)  # seconds, where a plan is long
    if not llm.models:
        return ReviewedPlan(PlanReview(checklist=rows, flaws=_NO_MODEL))
    answer = await attempt(ask(llm, FLAWS, DoubtedPlan(idea=text), run))
    if isinstance(answer, Failed):
        run.keep_successes([answer], "review of the plan")
        return ReviewedPlan(PlanReview(checklist=rows, flaws=Absent(reason=f"not written: {answer.error.reason}.")))
    papers: dict[PaperId, Paper] = {}
    near = await _near_papers(answer.comparators, library, run)
    comparators = []
    for one, found in zip(answer.comparators, near, strict=True):
        if not isinstance(found, Absent):
            papers |= {paper.id: paper for paper, _ in found}
        comparators.append(_comparator(one, text, found))
    flaws = tuple(_flaw(one, text) for one in answer.flaws)
    return ReviewedPlan(PlanReview(checklist=rows, flaws=flaws, comparators=tuple(comparators)), papers)


def _flaw(found: FoundFlaw, plan: str) -> PlanFlaw:
    text = plain(found.text)
    return PlanFlaw(
        aspect=found.aspect,
        text=text,
        change=plain(found.change),
        certainty=found.certainty,
        quote=_quoted(found.quote, plan),
        numbers_not_found=KnownNumbers(frozenset(), {_PLAN: numbers_in(plan)}).missing_from(text, [_PLAN]),
    )


def _comparator(
    lacking: LackingComparator, plan: str, found: Sequence[tuple[Paper, float]] | Absent
) -> MissingComparator:
    return MissingComparator(
        text=plain(lacking.text),
        purpose=plain(lacking.purpose),
        quote=_quoted(lacking.quote, plan),
        papers=found
        if isinstance(found, Absent)
        else tuple(NearPaper(label=marker(paper.id), similarity=cosine) for paper, cosine in found),
    )


def _quoted(words: str, plan: str) -> PlanQuote:
    found = check_quote(words, Evidence(label="", paper_id=_PLAN, title="", year=None, text=plan))
    if found is None:
        return PlanQuote(quote="", state="not_found")
    return PlanQuote(quote=found.words, state=found.state, objection=found.objection)


async def _near_papers(
    lacking: Sequence[LackingComparator], library: Library, run: Run
) -> list[tuple[tuple[Paper, float], ...] | Absent]:
    if not lacking:
        return []
    searched = await attempt(library.search([one.query for one in lacking], _HITS))
    if isinstance(searched, Failed):
        run.keep_successes([searched], "search for a comparator", [len(lacking)])
        return [Absent(reason=f"not searched: {searched.error.reason}.")] * len(lacking)

    async def nearest(pair: tuple[LackingComparator, list[Hit]]) -> tuple[tuple[Paper, float], ...] | Absent:
        one, hits = pair
        papers = {hit.paper.id: hit.paper for hit in hits}
        cosines = await library.similarity(f"{one.text}. {one.purpose}", list(papers))
        near = sorted(
            (paper for paper in papers if cosines.get(paper, 0.0) >= _NEAR), key=lambda at: (-cosines[at], at)
        )
        return tuple((papers[one], round(cosines[one], 4)) for one in near[:_MOST_NAMED]) or _NOTHING_NEAR

    outcomes = await each(zip(lacking, searched, strict=True), nearest)
    run.keep_successes(outcomes, "search for a comparator")
    return [Absent(reason=f"not compared: {one.error.reason}.") if isinstance(one, Failed) else one for one in outcomes]
