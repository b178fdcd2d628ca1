"""A panel of two referees (language models), asked concurrently. One judges the plan as a whole; the other goes through
it sentence by sentence. Their points form one numbered list."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from textwrap import shorten
from typing import TypeVar

from assayer.citing.evidence import check_plan_quote
from assayer.evaluation_context import EvaluationContext
from assayer.methods.review import tasks
from assayer.methods.review.options import ReviewOptions
from assayer.methods.review.prior_work import clean_named_works, mask_titles
from assayer.methods.review.schemas import (
    PanelPoint,
    PriorWork,
    RefereeAnswer,
    RefereePoint,
    RefereeQuestion,
    SearchedPoint,
    WalkthroughAnswer,
    WalkthroughPoint,
    WalkthroughQuestion,
)
from assayer.models import FindingSeverity, PlanQuote
from assayer.run.concurrency import Failed, gather_settled
from assayer.text.content_words import content_words

Item = TypeVar("Item")

_SEVERITIES = ("fatal", "major", "minor", None)
_MIN_REPEATED_SHARE = 0.75
"""Minimum share of the longer text's content words that must occur in the shorter text for the two to count as
repetition. Points that say the same in other words are merged by the editor."""
_OPENING_CHARS = 700
_WORDS_PER_POINT = 12
"""The sentence-by-sentence referee is asked for at least one point per this many words of the plan, up to two thirds of
the maximum."""


@dataclass(frozen=True)
class _UnlabelledPoint:
    """A point from either referee, before it is labelled."""

    point: PanelPoint
    quote: PlanQuote
    query: str | None


@dataclass(frozen=True)
class Panel:
    """The referees' points. Novelty claims and points share one sequence of labels: `Q1`, `Q2` …"""

    opening: str
    """The plan's opening words."""
    points: tuple[PanelPoint, ...] = ()
    quotes: dict[str, PlanQuote] = field(default_factory=dict)
    """The quote from the plan that each point is about, keyed by the point's label."""
    novelty: tuple[SearchedPoint, ...] = ()
    searched: tuple[SearchedPoint, ...] = ()
    """The novelty claims, and the points for which a referee gave a search query, as shown when titles are screened and
    papers are read."""
    overview: str = ""
    """The first referee's reasoning before its points."""
    queries: tuple[str, ...] = ()
    """Search queries, in this order: for novelty claims, for points by severity, for the sentence-by-sentence
    points."""
    prior_work: tuple[PriorWork, ...] = ()
    """Works that the first referee named from memory, without duplicates."""


async def ask_panel(context: EvaluationContext[ReviewOptions]) -> Panel:
    """Ask both referees concurrently. If one fails, the journal records it; if both fail, raises an AssayerError."""
    referees = [_ask_referee, _ask_walkthrough] if context.options.walkthrough_points else [_ask_referee]
    outcomes = await gather_settled(referees, lambda ask: ask(context))
    answers = context.run.keep_successes(outcomes, "referee")
    if not answers:
        raise next(outcome.error for outcome in outcomes if isinstance(outcome, Failed))
    referee = next((answer for answer in answers if isinstance(answer, RefereeAnswer)), None)
    walkthrough = next((answer for answer in answers if isinstance(answer, WalkthroughAnswer)), None)
    return _combine_points(context, referee, walkthrough)


async def _ask_referee(context: EvaluationContext[ReviewOptions]) -> RefereeAnswer | WalkthroughAnswer:
    question = RefereeQuestion(
        idea=context.text,
        most=context.options.points,
        most_named=context.options.prior_work,
        day=context.run.cutoff,
    )
    return await context.ask(tasks.REFEREE_BRIEF if context.options.brief else tasks.REFEREE, question)


async def _ask_walkthrough(context: EvaluationContext[ReviewOptions]) -> RefereeAnswer | WalkthroughAnswer:
    limit = context.options.walkthrough_points
    min_points = min(len(context.text.split()) // _WORDS_PER_POINT, limit * 2 // 3)
    return await context.ask(
        tasks.WALKTHROUGH, WalkthroughQuestion(idea=context.text, least=max(min_points, 5), most=limit)
    )


def _combine_points(
    context: EvaluationContext[ReviewOptions], referee: RefereeAnswer | None, walkthrough: WalkthroughAnswer | None
) -> Panel:
    """Combine both referees' points, leaving out points that repeat another one in nearly the same words."""
    options, run = context.options, context.run
    works = clean_named_works(context, referee.prior_work[: options.prior_work] if referee else [])
    referee = mask_titles(referee, works, run) if referee else None
    walkthrough = mask_titles(walkthrough, works, run) if walkthrough else None
    stated_points = [
        _state_point(context, item, "whole", item.claim, item.severity, item.why, item.fix)
        for item in (referee.points[: options.points] if referee else ())
    ]
    stated_points += [
        _state_point(context, item, "walkthrough", item.text)
        for item in (walkthrough.points[: options.walkthrough_points] if walkthrough else ())
    ]
    points = remove_repeated(stated_points, lambda item: item.point.claim)
    run.journal.record_dropped("point", "repeats another point", len(stated_points) - len(points))
    claims = remove_repeated(referee.novelty if referee else [], lambda item: item.claim)
    novelty = tuple(
        SearchedPoint(label=f"Q{number}", text=claim.claim, is_novelty=True)
        for number, claim in enumerate(claims, start=1)
    )
    points_by_label = {f"Q{number}": item for number, item in enumerate(points, start=len(novelty) + 1)}
    by_severity = sorted(points, key=lambda item: _SEVERITIES.index(item.point.severity))
    queries = [
        " ".join(query.split())
        for query in (*(claim.query for claim in claims), *(item.query or "" for item in by_severity))
        if query.strip()
    ]
    return Panel(
        opening=shorten(context.text, _OPENING_CHARS, placeholder=" …"),
        points=tuple(item.point.model_copy(update={"label": label}) for label, item in points_by_label.items()),
        quotes={label: item.quote for label, item in points_by_label.items()},
        novelty=novelty,
        searched=(
            *novelty,
            *(
                SearchedPoint(label=label, text=item.point.claim)
                for label, item in points_by_label.items()
                if item.query
            ),
        ),
        overview=referee.overview if referee else "",
        queries=tuple(dict.fromkeys(queries))[: options.queries],
        prior_work=works,
    )


def _state_point(
    context: EvaluationContext[ReviewOptions],
    item: RefereePoint | WalkthroughPoint,
    referee: str,
    claim: str,
    severity: FindingSeverity | None = None,
    why: str = "",
    fix: str = "",
) -> _UnlabelledPoint:
    quote = check_plan_quote(item.quote, context.text)
    point = PanelPoint(
        label="",
        referee=referee,
        kind=item.kind,
        severity=severity,
        claim=claim,
        why=why,
        fix=fix,
        quoted=quote.state == "verified",
    )
    return _UnlabelledPoint(point, quote, item.query)


def remove_repeated(
    items: Iterable[Item], get_text: Callable[[Item], str], known_texts: Iterable[str] = ()
) -> list[Item]:
    """Return the items whose text repeats neither a known text nor an earlier item's."""
    distinct_items: list[Item] = []
    texts = [*known_texts]
    for item in items:
        if not any(is_repetition(get_text(item), other) for other in texts):
            distinct_items.append(item)
            texts.append(get_text(item))
    return distinct_items


def is_repetition(text: str, other_text: str) -> bool:
    """Return whether two texts share most of their content words."""
    words, other_words = content_words(text), content_words(other_text)
    longer_count = max(len(words), len(other_words))
    return longer_count > 0 and len(words & other_words) >= _MIN_REPEATED_SHARE * longer_count
