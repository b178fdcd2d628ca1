"""Panel of referees: one who reviews the whole plan, then others with a narrower focus who see the first referee's
points. All points form a single numbered list."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from textwrap import shorten
from typing import TypeVar, get_args

from assayer.citing.evidence import plan_quote
from assayer.evaluation_context import EvaluationContext
from assayer.methods.review import tasks
from assayer.methods.review.options import Lens, ReviewOptions
from assayer.methods.review.prior_work import named_works, without_titles
from assayer.methods.review.schemas import (
    PanelPoint,
    PriorWork,
    RefereeAnswer,
    RefereePoint,
    RefereeQuestion,
    SearchedPoint,
)
from assayer.models import PlanQuote
from assayer.run.concurrency import Failed, as_result, gather_settled
from assayer.text.content_words import content_words

Item = TypeVar("Item")

_REFEREES: dict[Lens, str] = {
    "methods": "design",
    "expert": "subfield",
    "first_reader": "first reader",
    "whole": "whole",
}
"""Display name of each referee, for the editor."""
_SEVERITIES = ("fatal", "major", "minor")
_REPETITION = 0.75
"""Minimum share of the longer text's content words that two texts have in common to count as repetitions. The editor
merges points that say the same in other words."""
_OPENING_CHARS = 700


@dataclass(frozen=True)
class Panel:
    """Points of the referees asked so far. Novelty claims and points share one sequence of labels: `Q1`, `Q2` …"""

    opening: str
    """Beginning of the plan."""
    points: tuple[PanelPoint, ...] = ()
    quotes: dict[str, PlanQuote] = field(default_factory=dict)
    """Quoted words from the plan that a point is about, keyed by the label of the point."""
    novelty: tuple[SearchedPoint, ...] = ()
    searched: tuple[SearchedPoint, ...] = ()
    """Novelty claims, and the points for which a referee gave a query, as shown in the title screening and the reading
    of papers."""
    not_stated: tuple[str, ...] = ()
    """Things that the plan does not state, according to its referees."""
    overviews: tuple[str, ...] = ()
    """Referees' considerations before their points."""
    queries: tuple[str, ...] = ()
    """Search queries: those of the first referee, then those of the others. Within each group, queries for novelty
    claims come first, then queries for points by severity."""
    prior_work: tuple[PriorWork, ...] = ()
    """Works that referees named from memory, without duplicates: those of the first referee, then those of the others
    in turn."""


async def ask_first_referee(context: EvaluationContext[ReviewOptions]) -> Panel | Failed:
    """Ask the referee for the whole plan. A failure is journalled."""
    outcome = await as_result(_ask(context, "whole", ()))
    context.run.keep_successes([outcome], "referee")
    if isinstance(outcome, Failed):
        return outcome
    return _joined(context, _without_points(context), [("whole", outcome)])


async def ask_other_referees(context: EvaluationContext[ReviewOptions], first: Panel | Failed) -> Panel:
    """Return the first referee's panel extended by the points of the others. Raises an AssayerError only if no referee
    answered."""
    made = () if isinstance(first, Failed) else tuple(point.claim for point in first.points)
    lenses = [lens for lens in get_args(Lens) if lens != "whole"][: context.options.referees]
    outcomes = await gather_settled(lenses, lambda lens: _ask(context, lens, made))
    context.run.keep_successes(outcomes, "referee")
    answered = [
        (lens, outcome) for lens, outcome in zip(lenses, outcomes, strict=True) if not isinstance(outcome, Failed)
    ]
    if isinstance(first, Failed):
        if not answered:
            raise first.error
        first = _without_points(context)
    return _joined(context, first, answered)


def _without_points(context: EvaluationContext[ReviewOptions]) -> Panel:
    return Panel(opening=shorten(context.text, _OPENING_CHARS, placeholder=" …"))


async def _ask(context: EvaluationContext[ReviewOptions], lens: Lens, made: tuple[str, ...]) -> RefereeAnswer:
    question = RefereeQuestion(
        idea=context.text,
        lens=lens,
        most=_most_points(context.options, lens),
        most_named=context.options.prior_work,
        made=made,
        day=context.run.cutoff,
    )
    return await context.ask(tasks.REFEREE_BRIEF if context.options.brief else tasks.REFEREE, question)


def _most_points(options: ReviewOptions, lens: Lens) -> int:
    return options.points if lens == "whole" else options.side_points


def _joined(
    context: EvaluationContext[ReviewOptions], panel: Panel, answered: Sequence[tuple[Lens, RefereeAnswer]]
) -> Panel:
    """Return the panel with the answers of further referees, without points that repeat an earlier one."""
    options, run = context.options, context.run
    works = named_works(context, [answer.prior_work[: options.prior_work] for _, answer in answered], panel.prior_work)
    answered = [(lens, without_titles(answer, works, run)) for lens, answer in answered]
    earlier = [without_titles(point, works[len(panel.prior_work) :], run) for point in panel.points]
    stated = [(lens, point) for lens, answer in answered for point in answer.points[: _most_points(options, lens)]]
    points = distinct(stated, lambda item: item[1].claim, [point.claim for point in earlier])
    run.journal.record_dropped("point", "repeats another referee's point", len(stated) - len(points))
    claims = distinct(
        (claim for _, answer in answered for claim in answer.novelty),
        lambda item: item.claim,
        [item.text for item in panel.novelty],
    )
    first = len(panel.novelty) + len(panel.points) + 1
    labels = [f"Q{number}" for number in range(first, first + len(claims) + len(points))]
    novelty = [
        SearchedPoint(label=label, text=claim.claim, is_novelty=True)
        for label, claim in zip(labels, claims, strict=False)
    ]
    labelled = list(zip(labels[len(claims) :], points, strict=True))
    quotes = {label: plan_quote(point.quote, context.text) for label, (_, point) in labelled}
    by_severity = sorted((point for _, point in points), key=lambda item: _SEVERITIES.index(item.severity))
    queries = [
        " ".join(query.split())
        for query in (*(item.query for item in claims), *(item.query or "" for item in by_severity))
        if query.strip()
    ]
    return replace(
        panel,
        points=(*earlier, *(_panel_point(label, lens, point, quotes[label]) for label, (lens, point) in labelled)),
        quotes=panel.quotes | quotes,
        novelty=(*panel.novelty, *novelty),
        searched=(
            *panel.searched,
            *novelty,
            *(SearchedPoint(label=label, text=point.claim) for label, (_, point) in labelled if point.query),
        ),
        not_stated=(*panel.not_stated, *(item for _, answer in answered for item in answer.not_stated if item)),
        overviews=(*panel.overviews, *(f"{_REFEREES[lens]}: {answer.overview}" for lens, answer in answered)),
        queries=tuple(dict.fromkeys((*panel.queries, *queries)))[: options.queries],
        prior_work=works,
    )


def _panel_point(label: str, lens: Lens, point: RefereePoint, quote: PlanQuote) -> PanelPoint:
    return PanelPoint(
        label=label,
        referee=_REFEREES[lens],
        kind=point.kind,
        severity=point.severity,
        claim=point.claim,
        why=point.why,
        fix=point.fix,
        quoted=quote.state == "verified",
    )


def distinct(items: Iterable[Item], text: Callable[[Item], str], known: Iterable[str] = ()) -> list[Item]:
    """Return the items whose text repeats neither a known text nor that of an earlier item."""
    kept: list[Item] = []
    texts = [*known]
    for item in items:
        if not any(is_repetition(text(item), other) for other in texts):
            kept.append(item)
            texts.append(text(item))
    return kept


def is_repetition(text: str, other: str) -> bool:
    """Return whether two texts share most of their content words."""
    words, others = content_words(text), content_words(other)
    longer = max(len(words), len(others))
    return longer > 0 and len(words & others) >= _REPETITION * longer
