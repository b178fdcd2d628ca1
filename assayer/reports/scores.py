"""Scores brought to one scale, and one number for a report where many are put in an order."""

from assayer.models import Absent, Report, Score, Verdict
from assayer.reports.wording import MINIMA

__all__ = ["score_of", "share"]


def share(score: Score | Absent) -> float | None:
    """Where a score lies on its own scale, 0 to 1; None when there is no score."""
    if isinstance(score, Absent):
        return None
    width = score.scale_max - score.scale_min
    return min(1.0, max(0.0, (score.value - score.scale_min) / width)) if width > 0 else None


def score_of(report: Report) -> float | Absent:
    """Mean of the parts' scores on their scales; without any, the mean place of the outcome that labelled ideas
    give, where outcomes have an order. Absent where neither is there, and for an incomplete report."""
    if report.release is not None and report.release.failed:
        below = ", ".join(MINIMA[one.name].lower() for one in report.release.failed)
        return Absent(reason=f"Its report is incomplete (below the minimum: {below}).")
    parts = [value for part in report.parts if (value := share(part.score)) is not None]
    if parts:
        return sum(parts) / len(parts)
    verdict = report.verdict
    if not isinstance(verdict, Verdict) or not verdict.probabilities or not verdict.graph.ordered:
        return Absent(reason="Its report has no score.")
    last = len(verdict.graph.outcomes) - 1
    return sum(one.probability * verdict.graph.outcomes.index(one.name) / last for one in verdict.probabilities)
