"""Convert scores to one scale, and compute the score that orders reports."""

from assayer.models import CRITERIA, UNDERSPECIFIED, Absent, Report, Score, Verdict
from assayer.reports.release import was_made_without_model
from assayer.reports.wording import MINIMA


def compute_share(score: Score | Absent) -> float | None:
    """Return the position of a score on its own scale, 0 to 1; None if there is no score."""
    if isinstance(score, Absent):
        return None
    width = score.scale_max - score.scale_min
    return min(1.0, max(0.0, (score.value - score.scale_min) / width)) if width > 0 else None


def compute_total_score(report: Report) -> float | Absent:
    """Return the score used to order reports, 0 to 1.

    The first of the following that exists is returned:

    1. the score by the call's own criteria;
    2. a board's final score;
    3. the score of an overall part;
    4. the lowest part score, because other parts do not offset a fatal weakness;
    5. the mean position of the outcome predicted from labelled ideas, if outcomes are ordered.

    Absent if none exists, if the report is incomplete, or if a part calls the plan underspecified."""
    if report.release is not None and report.release.failed:
        failed_minima = ", ".join(MINIMA[item.name].lower() for item in report.release.failed)
        return Absent(reason=f"Its report is incomplete (too low for a total: {failed_minima}).")
    by_parts = _compute_parts_score(report)
    if by_parts is not None:
        return by_parts
    verdict = report.verdict
    if not isinstance(verdict, Verdict) or not verdict.probabilities or not verdict.graph.ordered:
        explanation = ": no language model judged the idea" if was_made_without_model(report) else ""
        return Absent(reason=f"Its report has no score{explanation}.")
    last = len(verdict.graph.outcomes) - 1
    return sum(
        probability.probability * verdict.graph.outcomes.index(probability.name) / last
        for probability in verdict.probabilities
    )


def _compute_parts_score(report: Report) -> float | Absent | None:
    """Return the score derived from a report's parts, 0 to 1; None if no part has a score. Absent if a part says why
    there can be no score."""
    criteria = next((part.score for part in report.parts if part.name == CRITERIA), None)
    if criteria is not None:
        criteria_share = compute_share(criteria)
        reason = criteria.reason if isinstance(criteria, Absent) else "the minimum and maximum of its scale are equal."
        return Absent(reason=f"By the call's criteria: {reason}") if criteria_share is None else criteria_share
    leading_scores = [] if report.board is None else [report.board.score]
    leading_scores += [part.score for part in report.parts if part.name == "overall"]
    overall = next((value for score in leading_scores if (value := compute_share(score)) is not None), None)
    if overall is not None:
        return overall
    for part in report.parts:
        if isinstance(part.score, Absent) and part.score.reason.startswith(UNDERSPECIFIED):
            return Absent(reason=f"{part.title}: {part.score.reason}")
    return min((value for part in report.parts if (value := compute_share(part.score)) is not None), default=None)
