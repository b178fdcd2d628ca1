"""The export gate: a report below stated minima is released as incomplete, and carries no total.

A total is any mean, of a part or of a board, and the outcome named from one, with its probabilities. Scores of single
methods, dimensions and reviewers, points and quotes stand as they are. Nothing is asked for by number: a report may
have no weakness, and no quote.
"""

from collections.abc import Callable, Iterator
from typing import get_args

from pydantic import Field

from assayer.models import (
    Absent,
    Assessment,
    BoardRecord,
    ClaimSupport,
    FitLevel,
    Frozen,
    MeasuredMinimum,
    MinimumName,
    Part,
    Point,
    Report,
    ReportRelease,
    Score,
    Verdict,
)
from assayer.reports.wording import MINIMA

__all__ = ["ReleaseMinima", "judged_parts", "measure_release", "released"]

_LEVELS: tuple[FitLevel, ...] = ("poor", "partial", "good")


class ReleaseMinima(Frozen):
    """Below any of them a report is incomplete; the lowest value switches a minimum off."""

    corpus_fit: FitLevel = "partial"
    """In a corpus that does not cover the field, what was not found says nothing."""
    judged: float = Field(default=0.5, ge=0, le=1)
    """Share of methods, dimensions or reviews with a score, in the part that has fewest: a mean over less than half is
    that of what happened to be judged."""
    answered: float = Field(default=0.8, ge=0, le=1)
    """Share of the questions to the language model that got a usable answer: what lost answers held, or what a spent
    budget left unasked, is in no score."""
    quotes_found: float = Field(default=0.7, ge=0, le=1)
    """Share of the quotes that stand in the source they are said to come from: a reader of papers who often misquotes
    is not to be trusted with the rest."""
    points_traced: float = Field(default=0.5, ge=0, le=1)
    """Share of the points with quotes that have at least one that was found: scores rest on these points."""
    claims_supported: float = Field(default=0.5, ge=0, le=1)
    """Share of the claims that a model held against the words quoted for them, and that these bear out at least in
    part. Shared words, which is all there is without a model, cannot read and withhold nothing."""


def released(report: Report, minima: ReleaseMinima) -> Report:
    """The report with its release, and without totals where it is incomplete."""
    release = measure_release(report, minima)
    if release.state == "complete":
        return report.model_copy(update={"release": release})
    names = ", ".join(MINIMA[one.name].lower() for one in release.failed)
    withheld = Absent(reason=f"the report is incomplete (below the minimum: {names}), so no total is given.")
    return report.model_copy(
        update={
            "release": release,
            "parts": tuple(_without_total(part, withheld) for part in report.parts),
            "board": _board_without_total(report.board, withheld) if report.board else None,
            "verdict": _without_outcome(report.verdict, withheld),
        }
    )


def _without_total(part: Part, withheld: Absent) -> Part:
    """What has no score keeps its own reason."""
    return part if isinstance(part.score, Absent) else part.model_copy(update={"score": withheld})


def _board_without_total(board: BoardRecord, withheld: Absent) -> BoardRecord:
    totals = {"score": board.score, "interval": board.interval, "decision": board.decision}
    return board.model_copy(update={name: withheld for name, one in totals.items() if not isinstance(one, Absent)})


def _without_outcome(verdict: Verdict | Absent | None, withheld: Absent) -> Verdict | Absent | None:
    if not isinstance(verdict, Verdict):
        return verdict
    decision = verdict.decision if isinstance(verdict.decision, Absent) else withheld
    return verdict.model_copy(update={"decision": decision, "probabilities": ()})


def measure_release(report: Report, minima: ReleaseMinima) -> ReportRelease:
    measured = tuple(_MEASURES[name](report, minima) for name in get_args(MinimumName))
    return ReportRelease(state="complete" if all(one.met for one in measured) else "incomplete", minima=measured)


def judged_parts(report: Report) -> tuple[Part, ...]:
    """Those that are scored: where a board judged, what it judged, and not what it judged by."""
    if report.board is None:
        return report.parts
    names = {one.name for one in report.board.dimensions}
    return tuple(part for part in report.parts if part.name in names)


def _corpus_fit(report: Report, minima: ReleaseMinima) -> MeasuredMinimum:
    fit, searched = report.coverage.corpus_fit, report.coverage.field_covered
    if isinstance(fit, Absent):
        return _measured("corpus_fit", fit, minima.corpus_fit, fit.reason)
    level = searched or fit.level
    basis = f"Fit of the corpus: {fit.value:.2f}, {fit.level}."
    if level != fit.level:
        basis = f"{basis[:-1]}; with what searches beyond it found, the field is covered in part."
    return MeasuredMinimum(
        name="corpus_fit",
        measured=level,
        minimum=minima.corpus_fit,
        met=_LEVELS.index(level) >= _LEVELS.index(minima.corpus_fit),
        basis=basis,
    )


def _judged(report: Report, minima: ReleaseMinima) -> MeasuredMinimum:
    counts = [
        (part.title, sum(map(_has_score, part.assessments)), len(part.assessments)) for part in judged_parts(report)
    ]
    if not counts:
        return _measured("judged", Absent(reason="This method scores no parts."), minima.judged, "")
    said = "; ".join(f"{title}: {scored} of {count}" for title, scored, count in counts)
    least = min(scored / count if count else 0.0 for _, scored, count in counts)
    return _measured("judged", least, minima.judged, f"With a score: {said}.")


def _has_score(assessment: Assessment) -> bool:
    return isinstance(assessment.score, Score)


def _answered(report: Report, minima: ReleaseMinima) -> MeasuredMinimum:
    answered, lost = report.coverage.llm_calls, report.coverage.llm_calls_lost
    if lost is None:
        return _measured("answered", Absent(reason="Lost answers were not counted."), minima.answered, "")
    return _share("answered", answered, answered + lost, minima.answered, "questions", "No model was asked.")


def _quotes_found(report: Report, minima: ReleaseMinima) -> MeasuredMinimum:
    found, missing = report.coverage.quotes_verified, report.coverage.quotes_unverified
    return _share("quotes_found", found, found + missing, minima.quotes_found, "quotes", "Nothing was quoted.")


def _points_traced(report: Report, minima: ReleaseMinima) -> MeasuredMinimum:
    quoting = [point for point in _points(report) if any(one.quote_state != "none" for one in point.citations)]
    traced = sum(any(one.quote_state == "verified" for one in point.citations) for point in quoting)
    nothing = "No point quotes anything."
    return _share("points_traced", traced, len(quoting), minima.points_traced, "points with quotes", nothing)


def _claims_supported(report: Report, minima: ReleaseMinima) -> MeasuredMinimum:
    counts, minimum = report.coverage.claims, minima.claims_supported
    if counts is None:
        return _measured("claims_supported", Absent(reason="No claim was held against a quote."), minimum, "")
    if _judged_by_overlap(report):
        reason = "Claims were checked by shared words alone, which cannot read."
        return _measured("claims_supported", Absent(reason=reason), minimum, "")
    borne_out = counts.supported + counts.partly_supported
    checked = borne_out + counts.not_supported + counts.contradicted
    if checked:
        return _share("claims_supported", borne_out, checked, minimum, "checked claims", "")
    none = f"None of {counts.unchecked:,} claims could be checked."
    return MeasuredMinimum(
        name="claims_supported", measured=Absent(reason=none), minimum=minimum, met=minimum == 0, basis=none
    )


def _judged_by_overlap(report: Report) -> bool:
    checks = (citation.support for point in _points(report) for citation in point.citations)
    return any(isinstance(one, ClaimSupport) and one.judged_by == "overlap" for one in checks)


def _points(report: Report) -> Iterator[Point]:
    return (point for part in judged_parts(report) for one in part.assessments for point in one.points)


def _share(name: MinimumName, counted: int, of: int, minimum: float, noun: str, nothing: str) -> MeasuredMinimum:
    if not of:
        return _measured(name, Absent(reason=nothing), minimum, "")
    return _measured(name, counted / of, minimum, f"{counted:,} of {of:,} {noun}.")


def _measured(name: MinimumName, value: float | Absent, minimum: float | FitLevel, basis: str) -> MeasuredMinimum:
    if isinstance(value, Absent):
        return MeasuredMinimum(name=name, measured=value, minimum=minimum, met=True, basis=value.reason)
    assert not isinstance(minimum, str)  # noqa: S101 - levels are compared by themselves
    return MeasuredMinimum(name=name, measured=round(value, 4), minimum=minimum, met=value >= minimum, basis=basis)


_MEASURES: dict[MinimumName, Callable[[Report, ReleaseMinima], MeasuredMinimum]] = {
    "corpus_fit": _corpus_fit,
    "judged": _judged,
    "answered": _answered,
    "quotes_found": _quotes_found,
    "points_traced": _points_traced,
    "claims_supported": _claims_supported,
}
