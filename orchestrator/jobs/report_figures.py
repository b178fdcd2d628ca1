"""The figures of a report that a table of many shows and sorts by."""

from assayer.models import Absent, Frozen, Report
from assayer.models.assessment import Part, ScoreCertainty
from assayer.models.paper import FitLevel
from assayer.reports.scores import score_of, share
from assayer.text.frequent_words import frequent_words

__all__ = ["CERTAINTIES", "PartFigure", "ReportFigures", "figures_of"]

_NOT_COVERED = "The corpus does not cover its field."
CERTAINTIES: tuple[ScoreCertainty, ...] = ("low", "moderate", "high")
"""From the least."""


class PartFigure(Frozen):
    name: str
    title: str
    share: float | None
    """Where the score lies on its scale, 0 to 1; None: there is none."""
    value: float | None
    scale_max: float | None
    certainty: ScoreCertainty | None
    reason: str
    """Why there is no score; empty where there is one."""


class ReportFigures(Frozen):
    idea: str
    score: float | None
    """All parts together, 0 to 1; None: there is none."""
    reason: str
    """Why there is no score; empty where there is one."""
    certainty: ScoreCertainty | None
    """The least of the parts'."""
    fit: FitLevel | None
    complete: bool
    """Every part has a score, and no budget or minimum cut it short."""
    parts: tuple[PartFigure, ...]
    notices: tuple[str, ...]
    words: tuple[str, ...] | None = None
    """Those that the proposal uses most, the most frequent first; None: they were not counted."""


def figures_of(report: Report) -> ReportFigures:
    score = score_of(report)
    fit = report.coverage.corpus_fit
    parts = tuple(map(_part, report.parts))
    known = [CERTAINTIES.index(one.certainty) for one in parts if one.certainty is not None]
    notices = tuple(dict.fromkeys(notice.kind for notice in report.notices))
    return ReportFigures(
        idea=report.idea.id,
        score=None if isinstance(score, Absent) else score,
        reason=_why(score, parts, covered=isinstance(fit, Absent) or fit.level != "poor")
        if isinstance(score, Absent)
        else "",
        certainty=CERTAINTIES[min(known)] if known else None,
        fit=None if isinstance(fit, Absent) else fit.level,
        complete=not isinstance(score, Absent) and "budget" not in notices and all(not one.reason for one in parts),
        parts=parts,
        notices=notices,
        words=frequent_words(report.idea.title, report.idea.text),
    )


def _why(score: Absent, parts: tuple[PartFigure, ...], *, covered: bool) -> str:
    """What its parts say, where none of them has a score: it tells more. First, where it is so, that the corpus does
    not cover the field: no other reason would go away without that."""
    reasons = dict.fromkeys(one.reason for one in parts)
    told = [score.reason] if not parts or "" in reasons else list(reasons)
    if not covered and _NOT_COVERED not in told:
        told.insert(0, _NOT_COVERED)
    return " ".join(f"{one[:1].upper()}{one[1:]}" for one in told)


def _part(part: Part) -> PartFigure:
    score = part.score
    return PartFigure(
        name=part.name,
        title=part.title,
        share=share(score),
        value=None if isinstance(score, Absent) else score.value,
        scale_max=None if isinstance(score, Absent) else score.scale_max,
        certainty=None if isinstance(score, Absent) else score.certainty,
        reason=score.reason if isinstance(score, Absent) else "",
    )
