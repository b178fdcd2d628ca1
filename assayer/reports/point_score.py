"""One number for a report, where one is needed to put many in an order."""

from assayer.models import Report, Verdict
from assayer.reports.page import share

__all__ = ["score_of"]


def score_of(report: Report) -> float | None:
    """Mean of the parts' scores on their scales; without any, the mean place of the outcome that labelled ideas
    give, where outcomes have an order. None where neither is there."""
    parts = [value for part in report.parts if (value := share(part.score)) is not None]
    if parts:
        return sum(parts) / len(parts)
    verdict = report.verdict
    if not isinstance(verdict, Verdict) or not verdict.probabilities or not verdict.graph.ordered:
        return None
    last = len(verdict.graph.outcomes) - 1
    return sum(one.probability * verdict.graph.outcomes.index(one.name) / last for one in verdict.probabilities)
