"""Aggregate the assessments of methods and dimensions into scores and summaries, for each module and for the report."""

from collections.abc import Sequence

from assayer.citing.labels import strip_citations
from assayer.errors import AssayerError
from assayer.methods.scholareval.candidate_order import interleave_rankings
from assayer.models import UNDERSPECIFIED, Absent, Assessment, Part, Point, Reading, Score, ScoreCertainty, Summary


def build_unreviewed_assessment(
    name: str, statement: str, error: AssayerError, readings: tuple[Reading, ...] = ()
) -> Assessment:
    """Return the assessment of a method or dimension whose review failed; it has no score."""
    return Assessment(
        name=strip_citations(name),
        statement=strip_citations(statement),
        score=Absent(reason=f"Not reviewed: {error.reason}."),
        points=(),
        readings=readings,
    )


def build_score(score: float | None, rationale: str, certainty: ScoreCertainty) -> Score | Absent:
    """Return the score with its reason. The score is absent if the reviewer had no basis for one or called the plan
    underspecified."""
    basis = strip_citations(rationale)
    if basis.casefold().startswith(UNDERSPECIFIED):
        return Absent(reason=basis[0].lower() + basis[1:])
    return Absent(reason=basis) if score is None else Score(value=score, basis=basis, certainty=certainty)


def compute_mean_score(assessments: Sequence[Assessment], noun: str) -> Score | Absent:
    """Return the mean score of the assessments that have one; its basis says how many they are."""
    scores = [assessment.score.value for assessment in assessments if isinstance(assessment.score, Score)]
    if not scores:
        return Absent(reason=f"no {noun} could be scored.")
    basis = f"Mean over {len(scores)} of {len(assessments)} {noun}{'' if len(assessments) == 1 else 's'}."
    return Score(value=round(sum(scores) / len(scores), 2), basis=basis)


def select_leading_points(assessments: Sequence[Assessment]) -> Summary:
    """Return the first strength, weakness and suggestion of each assessment, at most three of each kind. Points that
    were not downgraded come first; otherwise the assessments' order, by importance, is kept."""

    def take_first(kind: str) -> tuple[Point, ...]:
        firsts = [
            next((point for point in assessment.points if point.kind == kind), None) for assessment in assessments
        ]
        points_present = [point for point in firsts if point is not None]
        return tuple(sorted(points_present, key=lambda point: point.downgraded)[:3])

    return Summary(
        strengths=take_first("strength"), weaknesses=take_first("weakness"), suggestions=take_first("suggestion")
    )


def build_report_summary(parts: Sequence[Part]) -> Summary:
    """Return the report's summary: points taken from each part in turn, at most three of each kind."""
    summaries = [part.summary for part in parts if isinstance(part.summary, Summary)]
    return Summary(
        strengths=tuple(interleave_rankings([summary.strengths for summary in summaries], 3)),
        weaknesses=tuple(interleave_rankings([summary.weaknesses for summary in summaries], 3)),
        suggestions=tuple(interleave_rankings([summary.suggestions for summary in summaries], 3)),
    )
