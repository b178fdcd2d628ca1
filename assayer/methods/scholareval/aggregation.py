"""From assessments of single methods and dimensions to the scores and summaries of a module and of the report."""

from collections.abc import Sequence

from assayer.citing.labels import plain
from assayer.errors import AssayerError
from assayer.models import Absent, Assessment, Part, Point, Score, ScoreCertainty, Summary

__all__ = ["leading_points", "mean_score", "report_summary", "score_or_absent", "unreviewed_assessment"]


def unreviewed_assessment(name: str, statement: str, error: AssayerError) -> Assessment:
    """A method or dimension whose assessment failed: shown, without a score."""
    return Assessment(
        name=plain(name),
        statement=plain(statement),
        score=Absent(reason=f"Not reviewed: {error.reason}."),
        points=(),
        readings=(),
    )


def score_or_absent(score: float | None, rationale: str, certainty: ScoreCertainty) -> Score | Absent:
    """The score with its reason; a reviewer who had nothing to judge by gave none."""
    basis = plain(rationale)
    return Absent(reason=basis) if score is None else Score(value=score, basis=basis, certainty=certainty)


def mean_score(assessments: Sequence[Assessment], noun: str) -> Score | Absent:
    """The mean of the scores that exist; the basis says how many there are."""
    scores = [one.score.value for one in assessments if isinstance(one.score, Score)]
    if not scores:
        return Absent(reason=f"no {noun} could be scored.")
    basis = f"Mean over {len(scores)} of {len(assessments)} {noun}{'' if len(assessments) == 1 else 's'}."
    return Score(value=round(sum(scores) / len(scores), 2), basis=basis)


def leading_points(assessments: Sequence[Assessment]) -> Summary:
    """The first strength, weakness and suggestion of each assessment, at most three of each: points are
    ordered by importance, and so are assessments."""

    def first(kind: str) -> tuple[Point, ...]:
        firsts = [next((point for point in one.points if point.kind == kind), None) for one in assessments]
        found = [point for point in firsts if point is not None]
        return tuple(sorted(found, key=lambda point: point.downgraded)[:3])

    return Summary(strengths=first("strength"), weaknesses=first("weakness"), suggestions=first("suggestion"))


def report_summary(parts: Sequence[Part]) -> Summary:
    """The report's summary: the parts' points in turn, at most three of each kind."""
    summaries = [part.summary for part in parts if isinstance(part.summary, Summary)]

    def in_turn(lists: Sequence[tuple[Point, ...]]) -> tuple[Point, ...]:
        ranks = range(max(map(len, lists), default=0))
        return tuple(points[rank] for rank in ranks for points in lists if rank < len(points))[:3]

    return Summary(
        strengths=in_turn([one.strengths for one in summaries]),
        weaknesses=in_turn([one.weaknesses for one in summaries]),
        suggestions=in_turn([one.suggestions for one in summaries]),
    )
