"""Report part that answers the criteria of a call for proposals."""

from collections.abc import Sequence
from typing import NamedTuple

from assayer.models import CRITERIA, Absent, Assessment, Criterion, Frozen, Part, Point, Score, ScoreCertainty

TITLE = "The call's own criteria"
_CERTAINTIES: tuple[ScoreCertainty, ...] = ("low", "moderate", "high")
_NO_SUMMARY = Absent(reason="each criterion is answered separately.")


class ShownCriterion(Frozen):
    """A criterion as shown to the language model."""

    label: str
    text: str


class JudgedCriterion(NamedTuple):
    criterion: Criterion
    answer: str
    """Answer to the criterion's question: what the plan offers for it."""
    score: int | None
    """Score, or None if the plan does not say enough to judge."""
    certainty: ScoreCertainty
    limit: Point | None
    """The finding that prevents a higher score, with its evidence."""


def label_criteria(criteria: Sequence[Criterion]) -> tuple[ShownCriterion, ...]:
    """Label the criteria `C1`, `C2` … in order, for a prompt."""
    return tuple(ShownCriterion(label=f"C{number}", text=item.text) for number, item in enumerate(criteria, start=1))


def criteria_part(judged: Sequence[JudgedCriterion]) -> Part:
    """Build the report part about the criteria. Its score is the weighted mean of their scores; if any criterion has no
    score, the part has none."""
    unscored_names = [item.criterion.name for item in judged if item.score is None]
    total: Score | Absent = Absent(reason=f"no score for {', '.join(unscored_names)}.")
    if not unscored_names:
        weights = sum(item.criterion.weight for item in judged)
        mean = sum(item.criterion.weight * (item.score or 0) for item in judged) / weights
        total = Score(
            value=round(mean, 2),
            scale_min=1,
            scale_max=10,
            basis="Weighted mean of the criteria.",
            certainty=min((item.certainty for item in judged), key=_CERTAINTIES.index),
        )
    assessments = tuple(map(_assessment, judged))
    return Part(name=CRITERIA, title=TITLE, score=total, summary=_NO_SUMMARY, assessments=assessments)


def build_unjudged_part(criteria: Sequence[Criterion], reason: str) -> Part:
    """Build the report part for criteria that were not judged, giving the reason."""
    absent = Absent(reason=reason)
    return Part(
        name=CRITERIA,
        title=TITLE,
        score=absent,
        summary=_NO_SUMMARY,
        assessments=tuple(
            Assessment(name=item.name, statement=_statement(item), score=absent, points=(), readings=())
            for item in criteria
        ),
    )


def _assessment(item: JudgedCriterion) -> Assessment:
    score: Score | Absent = Absent(reason=f"the plan says too little: {item.answer}")
    if item.score is not None:
        score = Score(value=item.score, scale_min=1, scale_max=10, basis=item.answer, certainty=item.certainty)
    points = (item.limit,) if item.limit else ()
    return Assessment(
        name=item.criterion.name, statement=_statement(item.criterion), score=score, points=points, readings=()
    )


def _statement(criterion: Criterion) -> str:
    return criterion.question if criterion.weight == 1 else f"{criterion.question} (weight {criterion.weight:g})"
