"""The export gate: a report below stated minima is released as incomplete, and carries no total.

A total is any mean, of a part or of a board, and the outcome named from one, with its probabilities. Scores of single
methods, dimensions and reviewers, the editor's two scores of a panel's review, points and quotes stand as they are.
Nothing is asked for by number: a report may have no weakness, and no quote.
"""

from collections.abc import Callable, Iterator
from typing import get_args

from assayer.models import (
    Absent,
    Assessment,
    BoardRecord,
    FitLevel,
    MeasuredMinimum,
    MinimumName,
    Part,
    Point,
    ReleaseMinima,
    Report,
    ReportRelease,
    Score,
    Verdict,
)
from assayer.reports.wording import MINIMA

_LEVELS: tuple[FitLevel, ...] = ("poor", "partial", "good")


def released(report: Report, minima: ReleaseMinima) -> Report:
    """Return the report with its release state; totals are removed if it is incomplete."""
    release = measure_release(report, minima)
    if release.state == "complete":
        return report.model_copy(update={"release": release})
    if report.panel_review is not None:
        return report.model_copy(update={"release": release})
    names = ", ".join(MINIMA[item.name].lower() for item in release.failed)
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
    """Return the part with its score withheld. A part without a score keeps its own reason."""
    return part if isinstance(part.score, Absent) else part.model_copy(update={"score": withheld})


def _board_without_total(board: BoardRecord, withheld: Absent) -> BoardRecord:
    totals = {"score": board.score, "interval": board.interval, "decision": board.decision}
    return board.model_copy(update={name: withheld for name, total in totals.items() if not isinstance(total, Absent)})


def _without_outcome(verdict: Verdict | Absent | None, withheld: Absent) -> Verdict | Absent | None:
    if not isinstance(verdict, Verdict):
        return verdict
    decision = verdict.decision if isinstance(verdict.decision, Absent) else withheld
    return verdict.model_copy(update={"decision": decision, "probabilities": ()})


def measure_release(report: Report, minima: ReleaseMinima) -> ReportRelease:
    measured = tuple(_MEASURES[name](report, minima) for name in get_args(MinimumName))
    return ReportRelease(state="complete" if all(item.met for item in measured) else "incomplete", minima=measured)


def made_without_model(report: Report) -> bool:
    """Return whether no language model judged the idea, so that the report has no scores."""
    return not report.provenance.models and any(notice.kind == "no_llm" for notice in report.notices)


def judged_parts(report: Report) -> tuple[Part, ...]:
    """Return the parts that are scored; none without a language model. For a board, these are the parts that it
    judged, not those that were its input."""
    if made_without_model(report):
        return ()
    if report.board is None:
        return report.parts
    names = {dimension.name for dimension in report.board.dimensions}
    return tuple(part for part in report.parts if part.name in names)


def _corpus_fit(report: Report, minima: ReleaseMinima) -> MeasuredMinimum:
    fit, searched = report.coverage.corpus_fit, report.coverage.field_covered
    if isinstance(fit, Absent):
        return _measured("corpus_fit", fit, minima.corpus_fit, fit.reason)
    if report.panel_review is not None:
        reason = "A panel judges the plan itself; poor coverage makes the contribution's score less certain."
        return _measured("corpus_fit", Absent(reason=reason), minima.corpus_fit, "")
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
        why = "No language model judged." if made_without_model(report) else "This method scores no parts."
        return _measured("judged", Absent(reason=why), minima.judged, "")
    said = "; ".join(f"{title}: {scored} of {count}" for title, scored, count in counts)
    least = min(scored / count if count else 0.0 for _, scored, count in counts)
    return _measured("judged", least, minima.judged, f"With a score: {said}.")


def _has_score(assessment: Assessment) -> bool:
    return isinstance(assessment.score, Score)


def _answered(report: Report, minima: ReleaseMinima) -> MeasuredMinimum:
    answered, lost = report.coverage.llm_calls, report.coverage.llm_calls_lost
    return _share("answered", answered, answered + lost, minima.answered, "questions", "No model was asked.")


def _quotes_found(report: Report, minima: ReleaseMinima) -> MeasuredMinimum:
    found, missing = report.coverage.quotes_verified, report.coverage.quotes_unverified
    return _share("quotes_found", found, found + missing, minima.quotes_found, "quotes", "Nothing was quoted.")


def _points_traced(report: Report, minima: ReleaseMinima) -> MeasuredMinimum:
    quoting = [
        point for point in _points(report) if any(citation.quote_state != "none" for citation in point.citations)
    ]
    traced = sum(any(citation.quote_state == "verified" for citation in point.citations) for point in quoting)
    nothing = "No point quotes anything."
    return _share("points_traced", traced, len(quoting), minima.points_traced, "points with quotes", nothing)


def _claims_supported(report: Report, minima: ReleaseMinima) -> MeasuredMinimum:
    counts, minimum = report.coverage.claims, minima.claims_supported
    if counts is None:
        return _measured("claims_supported", Absent(reason="No claim was held against a quote."), minimum, "")
    borne_out = counts.supported + counts.partly_supported
    checked = borne_out + counts.not_supported + counts.contradicted
    if checked:
        return _share("claims_supported", borne_out, checked, minimum, "checked claims", "")
    none = f"None of {counts.unchecked:,} claims could be checked."
    return MeasuredMinimum(
        name="claims_supported", measured=Absent(reason=none), minimum=minimum, met=minimum == 0, basis=none
    )


def _points(report: Report) -> Iterator[Point]:
    return (point for part in judged_parts(report) for assessment in part.assessments for point in assessment.points)


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
