"""Review without the editor model: the referees' points with their evidence, by severity, and no scores."""

from assayer.errors import AssayerError
from assayer.methods.review.editing import Passages
from assayer.methods.review.panel import Panel
from assayer.methods.review.schemas import (
    EditedFinding,
    EditedParagraph,
    EditedReview,
    EditedScore,
    FurtherPoint,
    PanelPoint,
)
from assayer.models import Absent

_SEVERITIES = ("fatal", "major", "minor", None)
_MAX_CITED = 2
_MAX_STRENGTHS = 5
_MAX_MAJOR = 6


def explain_missing_scores(error: AssayerError) -> Absent:
    """Return why there are no scores, after the editor's request failed."""
    return Absent(reason=f"the editor's review could not be obtained: {error.reason}.")


def build_unedited_review(panel: Panel, passages: Passages, reason: Absent) -> EditedReview:
    """Convert the referees' points to the form of an editor's answer. Nothing is merged, dropped or scored."""
    by_severity = sorted(panel.points, key=lambda point: _SEVERITIES.index(point.severity))
    strengths = [point for point in by_severity if point.kind == "strength"]
    weaknesses = [point for point in by_severity if point.kind == "weakness" and point.severity in ("fatal", "major")]
    first = {point.label for point in (*strengths[:_MAX_STRENGTHS], *weaknesses[:_MAX_MAJOR])}
    other_points = [point for point in by_severity if point.label not in first and point.kind != "strength"]
    empty_paragraph = EditedParagraph(labels=[], text="", cites=[], named=[])
    score = EditedScore(limited_by=reason.reason, cites=[], certainty_reason="", certainty="low", score=None)
    # Not validated: the length limits are meant for the editor, which can merge and drop points.
    return EditedReview.model_construct(
        strengths=[_build_finding(point, passages) for point in strengths[:_MAX_STRENGTHS]],
        newness=empty_paragraph,
        outlook=empty_paragraph,
        redesign=empty_paragraph,
        major=[_build_finding(point, passages) for point in weaknesses[:_MAX_MAJOR]],
        further=[_build_further_point(point, passages) for point in other_points],
        closest=[],
        soundness=score,
        contribution=score,
        dropped=[],
        verdict=f"There is no verdict: {reason.reason} The points are the referees' own, neither merged nor weighed.",
    )


def _build_finding(point: PanelPoint, passages: Passages) -> EditedFinding:
    return EditedFinding.model_construct(
        labels=[point.label],
        axis="soundness",
        quote="",
        severity="fatal" if point.severity == "fatal" else "major",
        lead="",
        text=f"{point.claim} {point.why}".strip(),
        fix=point.fix,
        cites=passages.find_supported_about(point.label)[:_MAX_CITED],
        named=[],
    )


def _build_further_point(point: PanelPoint, passages: Passages) -> FurtherPoint:
    return FurtherPoint.model_construct(
        labels=[point.label],
        axis="soundness",
        kind="question" if point.kind == "question" else "weakness",
        text=f"{point.claim} {point.fix}".strip(),
        cites=passages.find_supported_about(point.label)[:1],
        named=[],
    )
