"""Panel of referees with different lenses, asked concurrently, and their points as a single numbered list."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
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
from assayer.run.concurrency import Failed, gather_settled
from assayer.text.content_words import content_words

__all__ = ["Panel", "ask_panel", "distinct", "is_repetition"]

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
"""Minimum share of the longer text's content words at which two texts count as the same. The editor handles repetitions
in other words."""
_OPENING_CHARS = 700


@dataclass(frozen=True)
class Panel:
    """Points of all referees, with the labels `Q1`, `Q2` … in the order of lenses."""

    points: tuple[PanelPoint, ...]
    quotes: dict[str, PlanQuote]
    """Quoted words of the plan that a point concerns, by label of the point."""
    novelty: tuple[SearchedPoint, ...]
    searched: tuple[SearchedPoint, ...]
    """Novelty claims, and the points that a referee named a query for, as the search and the reader see them."""
    opening: str
    """Beginning of the plan."""
    overviews: tuple[str, ...]
    """Referees' thinking before their points."""
    queries: tuple[str, ...]
    """Search queries: for novelty claims first, then for points by severity."""
    prior_work: tuple[PriorWork, ...]
    """Works that referees named from memory, each once, the first one of every referee first."""


async def ask_panel(context: EvaluationContext[ReviewOptions]) -> Panel:
    """Ask every referee. Raises an AssayerError only if no referee answered."""
    options = context.options

    async def ask(lens: Lens) -> RefereeAnswer:
        question = RefereeQuestion(
            idea=context.text,
            lens=lens,
            most=_most_points(options, lens),
            most_named=options.prior_work,
            day=context.run.cutoff,
        )
        return await context.ask(tasks.REFEREE, question)

    outcomes = await gather_settled(get_args(Lens), ask)
    context.run.keep_successes(outcomes, "referee")
    answered = [
        (lens, outcome)
        for lens, outcome in zip(get_args(Lens), outcomes, strict=True)
        if not isinstance(outcome, Failed)
    ]
    if not answered:
        raise next(outcome.error for outcome in outcomes if isinstance(outcome, Failed))
    return _panel(context, answered)


def _most_points(options: ReviewOptions, lens: Lens) -> int:
    return options.points if lens == "whole" else options.side_points


def _panel(context: EvaluationContext[ReviewOptions], answered: Sequence[tuple[Lens, RefereeAnswer]]) -> Panel:
    options = context.options
    works = named_works(context, [answer.prior_work[: options.prior_work] for _, answer in answered])
    answered = [(lens, without_titles(answer, works, context.run)) for lens, answer in answered]
    stated = [(lens, point) for lens, answer in answered for point in answer.points[: _most_points(options, lens)]]
    points = distinct(stated, lambda item: item[1].claim)
    context.run.journal.record_dropped("point", "repeats another referee's point", len(stated) - len(points))
    claims = distinct((claim for _, answer in answered for claim in answer.novelty), lambda item: item.claim)
    labels = [f"Q{number}" for number in range(1, len(claims) + len(points) + 1)]
    novelty = [
        SearchedPoint(label=label, text=claim.claim, is_novelty=True)
        for label, claim in zip(labels, claims, strict=False)
    ]
    labelled = list(zip(labels[len(claims) :], points, strict=True))
    quotes = {label: plan_quote(point.quote, context.text) for label, (_, point) in labelled}
    by_severity = sorted((point for _, point in points), key=lambda item: _SEVERITIES.index(item.severity))
    queries = dict.fromkeys(
        " ".join(query.split())
        for query in (*(item.query for item in claims), *(item.query or "" for item in by_severity))
        if query.strip()
    )
    return Panel(
        points=tuple(_panel_point(label, lens, point, quotes[label]) for label, (lens, point) in labelled),
        quotes=quotes,
        novelty=tuple(novelty),
        searched=(
            *novelty,
            *(SearchedPoint(label=label, text=point.claim) for label, (_, point) in labelled if point.query),
        ),
        overviews=tuple(f"{_REFEREES[lens]}: {answer.overview}" for lens, answer in answered),
        opening=shorten(context.text, _OPENING_CHARS, placeholder=" …"),
        queries=tuple(queries)[: options.queries],
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


def distinct(items: Iterable[Item], text: Callable[[Item], str], others: Sequence[Item] = ()) -> list[Item]:
    """Return the items whose text repeats neither one of `others` nor an earlier one."""
    kept: list[Item] = []
    for item in items:
        if not any(is_repetition(text(item), text(known)) for known in (*others, *kept)):
            kept.append(item)
    return kept


def is_repetition(text: str, other: str) -> bool:
    """Return whether two texts share most of their content words."""
    words, others = content_words(text), content_words(other)
    longer = max(len(words), len(others))
    return longer > 0 and len(words & others) >= _REPETITION * longer
