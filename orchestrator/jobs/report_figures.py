"""Figures of a report for tables of reports, which show them and sort by them."""

from assayer.models import Absent, FitLevel, Frozen, Part, Report, ScoreCertainty
from assayer.reports.scores import compute_share, compute_total_score
from assayer.text.frequent_words import find_frequent_words

_POOR_COVERAGE_REASON = "The corpus does not cover its field."
CERTAINTIES: tuple[ScoreCertainty, ...] = ("low", "moderate", "high")
"""Certainties in ascending order."""


class PartFigure(Frozen):
    name: str
    title: str
    share: float | None
    """Score as a position on its scale, 0 to 1; None if there is no score."""
    value: float | None
    scale_max: float | None
    certainty: ScoreCertainty | None
    reason: str
    """Reason why there is no score; empty if there is one."""


class ReportFigures(Frozen):
    idea: str
    score: float | None
    """Overall score of all parts together, 0 to 1; None if there is no score."""
    reason: str
    """Reason why there is no score; empty if there is one."""
    certainty: ScoreCertainty | None
    """Lowest certainty of the parts."""
    fit: FitLevel | None
    complete: bool
    """True if there is an overall score, every part has a score, and no budget cut the evaluation short."""
    parts: tuple[PartFigure, ...]
    notices: tuple[str, ...]
    words: tuple[str, ...] = ()
    """Most frequent words of the proposal, in descending order of frequency."""


def compute_figures(report: Report) -> ReportFigures:
    score = compute_total_score(report)
    fit = report.coverage.corpus_fit
    parts = tuple(map(_compute_part_figure, report.parts))
    certainty_indexes = [CERTAINTIES.index(part.certainty) for part in parts if part.certainty is not None]
    notices = tuple(dict.fromkeys(notice.kind for notice in report.notices))
    return ReportFigures(
        idea=report.idea.id,
        score=None if isinstance(score, Absent) else score,
        reason=_explain_missing_score(score, parts, is_covered=isinstance(fit, Absent) or fit.level != "poor")
        if isinstance(score, Absent)
        else "",
        certainty=CERTAINTIES[min(certainty_indexes)] if certainty_indexes else None,
        fit=None if isinstance(fit, Absent) else fit.level,
        complete=not isinstance(score, Absent) and "budget" not in notices and all(not part.reason for part in parts),
        parts=parts,
        notices=notices,
        words=find_frequent_words(report.idea.title, report.idea.text),
    )


def _explain_missing_score(score: Absent, parts: tuple[PartFigure, ...], *, is_covered: bool) -> str:
    """Return the reason why there is no score. If no part has a score, it consists of the parts' reasons, which are
    more specific. If the corpus does not cover the field, that reason comes first, because the others follow from
    it."""
    part_reasons = dict.fromkeys(part.reason for part in parts)
    reasons = [score.reason] if not parts or "" in part_reasons else list(part_reasons)
    if not is_covered and _POOR_COVERAGE_REASON not in reasons:
        reasons.insert(0, _POOR_COVERAGE_REASON)
    return " ".join(f"{reason[:1].upper()}{reason[1:]}" for reason in reasons)


def _compute_part_figure(part: Part) -> PartFigure:
    score = part.score
    return PartFigure(
        name=part.name,
        title=part.title,
        share=compute_share(score),
        value=None if isinstance(score, Absent) else score.value,
        scale_max=None if isinstance(score, Absent) else score.scale_max,
        certainty=None if isinstance(score, Absent) else score.certainty,
        reason=score.reason if isinstance(score, Absent) else "",
    )
