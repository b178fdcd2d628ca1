"""What an evaluation says of its report in short: scores with their certainty, corpus fit, notices."""

from assayer.models.assessment import ScoreCertainty
from assayer.models.paper import FitLevel
from orchestrator.api.common_schemas import Resource
from orchestrator.jobs.report_figures import ReportFigures

__all__ = ["EvaluationScores", "ScoredPart", "evaluation_scores"]


class ScoredPart(Resource):
    """One part of a report: soundness, contribution, …"""

    name: str
    title: str
    score: float | None
    """Null where there is none, which is not a low score."""
    scale_max: float | None
    certainty: ScoreCertainty | None
    reason: str | None
    """Why there is no score."""


class EvaluationScores(Resource):
    """The figures of a report, as the table of a call shows them."""

    score: float | None
    """All parts together, 0 to 100. Null where there is none, which is not a low score."""
    reason: str | None
    """Why there is no score: that the corpus does not cover the field, for instance."""
    certainty: ScoreCertainty | None
    """The least of the parts'."""
    corpus_fit: FitLevel | None
    """Whether the corpus covers the proposal's field."""
    complete: bool
    """Every part has a score, and no budget or minimum cut it short."""
    parts: tuple[ScoredPart, ...]
    notices: tuple[str, ...]
    """Kinds of the report's notices: `budget`, `corpus_fit`, …"""


def evaluation_scores(figures: ReportFigures) -> EvaluationScores:
    return EvaluationScores(
        score=None if figures.score is None else round(100 * figures.score, 2),
        reason=figures.reason or None,
        certainty=figures.certainty,
        corpus_fit=figures.fit,
        complete=figures.complete,
        parts=tuple(
            ScoredPart(
                name=one.name,
                title=one.title,
                score=one.value,
                scale_max=one.scale_max,
                certainty=one.certainty,
                reason=one.reason or None,
            )
            for one in figures.parts
        ),
        notices=figures.notices,
    )
