"""Release gate: a report that falls below the configured minima is incomplete and has no total.

Totals are the mean scores of a part or a board, and the outcome and probabilities derived from them. An incomplete
report keeps the scores of single methods, dimensions and reviewers, the two scores of a panel review, points and
quotes. Minima are shares, not counts, so a report without weaknesses or quotes can be complete."""

from collections.abc import Callable
from typing import Any, NamedTuple, get_args

from assayer.models import (
    Absent,
    BoardRecord,
    FitLevel,
    MeasuredMinimum,
    MinimumName,
    Part,
    ReleaseMinima,
    Report,
    ReportRelease,
    Score,
    Verdict,
)
from assayer.reports.wording import MINIMA

_LEVELS: tuple[FitLevel, ...] = ("poor", "partial", "good")


def apply_minima(report: Report, minima: ReleaseMinima) -> Report:
    """Return the report with its release state. If it is incomplete, its totals are removed."""
    release = measure_release(report, minima)
    if release.state == "complete" or report.panel_review is not None:
        return report.model_copy(update={"release": release})
    names = ", ".join(MINIMA[item.name].lower() for item in release.failed)
    withheld = Absent(reason=f"the report is incomplete (too low: {names}), so no total is given.")
    return report.model_copy(
        update={
            "release": release,
            "parts": tuple(
                part if isinstance(part.score, Absent) else part.model_copy(update={"score": withheld})
                for part in report.parts
            ),
            "board": _withhold_board_totals(report.board, withheld) if report.board else None,
            "verdict": _withhold_outcome(report.verdict, withheld),
        }
    )


def _withhold_board_totals(board: BoardRecord, withheld: Absent) -> BoardRecord:
    totals = {"score": board.score, "interval": board.interval, "decision": board.decision}
    return board.model_copy(update={name: withheld for name, total in totals.items() if not isinstance(total, Absent)})


def _withhold_outcome(verdict: Verdict | Absent | None, withheld: Absent) -> Verdict | Absent | None:
    if not isinstance(verdict, Verdict):
        return verdict
    decision = verdict.decision if isinstance(verdict.decision, Absent) else withheld
    return verdict.model_copy(update={"decision": decision, "probabilities": ()})


def measure_release(report: Report, minima: ReleaseMinima) -> ReportRelease:
    measured_minima = tuple(
        _compare_with_minimum(name, _MEASURES[name](report), getattr(minima, name)) for name in get_args(MinimumName)
    )
    return ReportRelease(
        state="complete" if all(item.is_met for item in measured_minima) else "incomplete", minima=measured_minima
    )


class _Measure(NamedTuple):
    value: float | FitLevel | Absent
    """Measured share or level; Absent if there was nothing to measure."""
    basis: str = ""
    """Sentence that states what was counted. For an absent value, its reason is shown instead."""
    needed: bool = False
    """True if an absent value fails every minimum above 0; by default, an absent value passes."""


def _compare_with_minimum(name: MinimumName, measure: _Measure, minimum: Any) -> MeasuredMinimum:
    value = measure.value
    if isinstance(value, Absent):
        is_met, basis = not measure.needed or minimum == 0, value.reason
    elif isinstance(value, str):
        is_met, basis = _LEVELS.index(value) >= _LEVELS.index(minimum), measure.basis
    else:
        is_met, value, basis = value >= minimum, round(value, 4), measure.basis
    return MeasuredMinimum(name=name, measured=value, minimum=minimum, is_met=is_met, basis=basis)


def was_made_without_model(report: Report) -> bool:
    """Return whether no language model judged the idea, so that the report has no scores."""
    return not report.provenance.models and any(notice.kind == "no_llm" for notice in report.notices)


def list_judged_parts(report: Report) -> tuple[Part, ...]:
    """Return the parts that were judged; empty if there was no language model. With a board, these are the parts that
    the board judged, without those that were its input."""
    if was_made_without_model(report):
        return ()
    if report.board is None:
        return report.parts
    names = {dimension.name for dimension in report.board.dimensions}
    return tuple(part for part in report.parts if part.name in names)


def _measure_corpus_fit(report: Report) -> _Measure:
    fit, level_with_searches = report.coverage.corpus_fit, report.coverage.field_coverage
    if isinstance(fit, Absent):
        return _Measure(fit)
    if report.panel_review is not None:
        reason = "A panel judges the plan itself; poor coverage makes the contribution's score less certain."
        return _Measure(Absent(reason=reason))
    level = level_with_searches or fit.level
    basis = f"Fit of the corpus: {fit.value:.2f}, {fit.level}."
    if level != fit.level:
        basis = f"{basis[:-1]}; together with searches in remote sources, it covers the field in part."
    return _Measure(level, basis)


def _measure_judged(report: Report) -> _Measure:
    counts = [
        (part.title, sum(isinstance(item.score, Score) for item in part.assessments), len(part.assessments))
        for part in list_judged_parts(report)
    ]
    if not counts:
        reason = (
            "No language model judged the idea." if was_made_without_model(report) else "This method scores no parts."
        )
        return _Measure(Absent(reason=reason))
    counts_text = "; ".join(f"{title}: {scored_count} of {count}" for title, scored_count, count in counts)
    return _Measure(
        min(scored_count / count if count else 0.0 for _, scored_count, count in counts),
        f"With a score: {counts_text}.",
    )


def _measure_answered(report: Report) -> _Measure:
    answered_calls, lost_calls = report.coverage.llm_requests, report.coverage.llm_requests_failed
    return _measure_share(answered_calls, answered_calls + lost_calls, "questions", "No model was queried.")


def _measure_quotes_found(report: Report) -> _Measure:
    found_count, missing_count = report.coverage.quotes_verified, report.coverage.quotes_unverified
    return _measure_share(found_count, found_count + missing_count, "quotes", "Nothing was quoted.")


def _measure_points_traced(report: Report) -> _Measure:
    points = (point for part in list_judged_parts(report) for item in part.assessments for point in item.points)
    states = [{citation.quote_state for citation in point.citations} - {"none"} for point in points]
    states_of_quotes = [point_states for point_states in states if point_states]
    traced_count = sum("verified" in point_states for point_states in states_of_quotes)
    return _measure_share(traced_count, len(states_of_quotes), "points with quotes", "No point contains a quote.")


def _measure_claims_supported(report: Report) -> _Measure:
    counts = report.coverage.claims
    if counts is None:
        return _Measure(Absent(reason="No claim was checked against a quote."))
    supported_count = counts.supported + counts.partly_supported
    checked_count = supported_count + counts.not_supported + counts.contradicted
    if checked_count:
        measure = _measure_share(supported_count, checked_count, "checked claims", "")
        partly = f"{measure.basis[:-1]}, {counts.partly_supported:,} of them in part."
        return measure._replace(basis=partly) if counts.partly_supported else measure
    return _Measure(Absent(reason=f"None of {counts.unchecked:,} claims could be checked."), needed=True)


def _measure_share(part: int, total: int, noun: str, reason_if_none: str) -> _Measure:
    return (
        _Measure(part / total, f"{part:,} of {total:,} {noun}.") if total else _Measure(Absent(reason=reason_if_none))
    )


_MEASURES: dict[MinimumName, Callable[[Report], _Measure]] = {
    "corpus_fit": _measure_corpus_fit,
    "judged": _measure_judged,
    "answered": _measure_answered,
    "quotes_found": _measure_quotes_found,
    "points_traced": _measure_points_traced,
    "claims_supported": _measure_claims_supported,
}
