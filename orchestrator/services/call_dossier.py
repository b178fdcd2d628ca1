"""The dossier of a call for proposals, built from its table and, if the reader may see it, its panel."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

from assayer.reports.brief import BriefLine
from assayer.reports.dossier import Dossier, DossierRow
from assayer.reports.escaping import join_lines
from assayer.reports.wording import FLAGS, format_count, format_moment, format_money
from assayer_client.decisions import BudgetUse, Decision, DecisionOutcome
from assayer_client.resources import Absent
from assayer_client.reviewing import Panel, PanelRow
from orchestrator.jobs.outcome_wording import OUTCOMES_IN_WORDS, EvaluationOutcome
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.store.call_tables import TableRow

_MAX_TEXT_CHARS = 300
_MAX_NOTE_CHARS = 2_000
_OUTCOMES_IN_ORDER: tuple[DecisionOutcome, ...] = ("fund", "reserve", "decline")
_UNFINISHED_OUTCOMES: tuple[EvaluationOutcome, ...] = ("running", "queued")


def build_dossier(
    call: BatchStatus,
    rows: Sequence[TableRow],
    ranking: str,
    panel: Panel | None,
    now: dt.datetime,
    decisions: Sequence[Decision] = (),
    budget_use: BudgetUse | None = None,
) -> Dossier:
    """Return the dossier of a call for proposals. `rows` holds all of the call's rows, with their ranks in `ranking`
    unless that is empty. Omit `panel`, `decisions` and `budget_use` for readers who may not see them."""
    decisions_by_evaluation: dict[str, Decision] = {decision.evaluation: decision for decision in decisions}
    panel_rows: dict[str, PanelRow] = {panel_row.evaluation: panel_row for panel_row in panel.rows} if panel else {}
    unfinished = sum(row.outcome in _UNFINISHED_OUTCOMES for row in rows)
    flagged = sum(bool(row.flags) for row in rows)
    warnings = [
        BriefLine(name=name, text=text)
        for number, name, text in (
            (unfinished, "Not finished", f"{format_count(unfinished, 'proposal')} still queued or running."),
            (flagged, "Check first", f"{format_count(flagged, 'proposal')} with suspicious text."),
        )
        if number
    ]
    return Dossier(
        title=join_lines(call.name)[:_MAX_TEXT_CHARS] or str(call.id),
        subtitle=f"created {format_moment(now)}",
        counts=tuple(_list_counts(call, rows)),
        warnings=tuple(warnings),
        order=_describe_order(ranking, has_panel_rows=bool(panel_rows), has_decisions=bool(decisions_by_evaluation)),
        with_people=bool(panel_rows or decisions_by_evaluation),
        with_certainty=any(row.figures.certainty for row in rows if row.figures),
        rows=tuple(
            _build_row(row, panel_rows, decisions_by_evaluation, budget_use.currency if budget_use else "")
            for row in sorted(rows, key=lambda row: _get_sort_key(row, panel_rows, decisions_by_evaluation))
        ),
        refused=tuple(
            BriefLine(
                name=join_lines(rejected_row.source)[:120], text=join_lines(rejected_row.detail)[:_MAX_TEXT_CHARS]
            )
            for rejected_row in call.rejected
        ),
        people=(
            *_list_panel_lines(panel),
            *(_list_budget_lines(budget_use) if budget_use and decisions_by_evaluation else ()),
        )
        if panel
        else (),
        overrides=tuple(_list_overrides(panel_rows.values())),
        call=str(call.id),
        day=now.date(),
    )


def _get_sort_key(
    row: TableRow, panel_rows: Mapping[str, PanelRow], decisions_by_evaluation: Mapping[str, Decision]
) -> tuple[float | bool, ...]:
    """Return a key that sorts rows by decision, then reviewers' score, then rank, then report score."""
    score, decision, panel = (
        row.figures.score if row.figures else None,
        decisions_by_evaluation.get(row.id),
        panel_rows.get(row.id),
    )
    panel_score = None if panel is None else panel.score
    return (
        len(_OUTCOMES_IN_ORDER) if decision is None else _OUTCOMES_IN_ORDER.index(decision.outcome),
        panel_score is None,
        -(panel_score or 0.0),
        row.rank is None,
        row.rank.rank if row.rank else 0,
        score is None,
        -(score or 0.0),
        row.row or 0,
    )


def _describe_order(ranking: str, *, has_panel_rows: bool, has_decisions: bool) -> str:
    sort_keys = [
        *(["decision"] if has_decisions else []),
        *(["reviewers' score"] if has_panel_rows else []),
        *([f"the ranking {ranking}"] if ranking else []),
        "report score; proposals without one come last",
    ]
    return f"Sorted by {', then by '.join(sort_keys)}."


def _list_counts(call: BatchStatus, rows: Sequence[TableRow]) -> Iterable[BriefLine]:
    yield BriefLine(name="Submitted", text=f"{format_moment(call.created_at)}, {format_count(call.rows, 'row')}")
    for outcome, words in OUTCOMES_IN_WORDS.items():
        if number := sum(row.outcome == outcome for row in rows):
            yield BriefLine(name=words.capitalize(), text=format_count(number))
    if call.rejected:
        yield BriefLine(name="Refused", text=format_count(len(call.rejected)))
    if call.erased:
        yield BriefLine(name="Erased", text=format_count(call.erased))
    unknown = "unknown for some proposals; known:  "
    cost_text = format_money(call.known_cost_usd) if call.cost_usd is None else format_money(call.cost_usd)
    yield BriefLine(name="Cost", text=f"{unknown}{cost_text}" if call.cost_usd is None else cost_text)


def _build_row(
    row: TableRow, panel_rows: Mapping[str, PanelRow], decisions_by_evaluation: Mapping[str, Decision], currency: str
) -> DossierRow:
    figures = row.figures
    score = figures.score if figures else None
    if score is not None:
        score_text = f"{100 * score:.0f}"
    elif figures is not None:
        score_text = f"no score: {join_lines(figures.reason)[:_MAX_TEXT_CHARS]}"
    else:
        score_text = row.problem.title if row.problem else OUTCOMES_IN_WORDS[row.outcome]
    panel = panel_rows.get(row.id)
    return DossierRow(
        place=f"{row.rank.rank} ({row.rank.low:.0f}–{row.rank.high:.0f})" if row.rank else f"row {row.row}",
        title=join_lines(row.title)[:_MAX_TEXT_CHARS],
        source=join_lines(row.source)[:120],
        share=score,
        score=score_text,
        certainty=(figures.certainty if figures else None) or "–",
        fit=(figures.fit if figures else None) or "–",
        flags="; ".join(FLAGS.get(flag, flag) for flag in row.flags),
        people="" if panel is None or panel.score is None else f"{panel.score:.1f} of 5",
        decision=_describe_decision(decisions_by_evaluation.get(row.id), currency),
    )


def _describe_decision(decision: Decision | None, currency: str) -> str:
    if decision is None:
        return ""
    amount = "" if decision.amount is None else f" {decision.amount:,.0f} {currency}".rstrip()
    reason = f": {join_lines(decision.reason)[:_MAX_TEXT_CHARS]}" if decision.reason else ""
    return f"{decision.outcome}{amount}{reason}"


def _list_budget_lines(budget_use: BudgetUse) -> Iterable[BriefLine]:
    budget_text = "" if budget_use.budget is None else f" of {budget_use.budget:,.0f}"
    excess_text = (
        f", {budget_use.awarded - (budget_use.budget or 0):,.0f} over the budget" if budget_use.over_budget else ""
    )
    awarded_text = f"{budget_use.awarded:,.0f} {budget_use.currency}{budget_text}{excess_text}"
    yield BriefLine(name="Funded", text=f"{format_count(budget_use.funded)}, {awarded_text}")
    yield BriefLine(
        name="Reserve, declined", text=f"{format_count(budget_use.reserved)}, {format_count(budget_use.declined)}"
    )
    if budget_use.undecided:
        yield BriefLine(name="Undecided", text=format_count(budget_use.undecided))


def _list_panel_lines(panel: Panel) -> Iterable[BriefLine]:
    submitted = f"{format_count(panel.submitted_opinions)} of {format_count(panel.assigned_opinions)} assigned"
    yield BriefLine(name="Given", text=f"{submitted}, {format_count(panel.revised_opinions)} revised")
    if panel.excluded_opinions:
        yield BriefLine(
            name="Not counted",
            text=f"{format_count(panel.excluded_opinions)}, by reviewers with a conflict of interest",
        )
    for name, agreement in (("between first reviews", panel.blind), ("between current reviews", panel.current)):
        kappa = agreement.kappa
        kappa_text = f"none. {kappa.reason}" if isinstance(kappa, Absent) else f"{kappa:.2f}"
        yield BriefLine(name=f"Agreement {name} (κ)", text=kappa_text)
    sign_off = panel.sign_off
    yield BriefLine(
        name="Signed off",
        text="not yet"
        if sign_off is None
        else f"{format_moment(sign_off.signed_off_at)} by {join_lines(sign_off.signed_off_by)[:120]}",
    )
    if sign_off is not None and sign_off.note:
        yield BriefLine(name="Note", text=join_lines(sign_off.note)[:_MAX_NOTE_CHARS])


def _list_overrides(rows: Iterable[PanelRow]) -> Iterable[BriefLine]:
    for row in rows:
        if row.override is not None:
            override = row.override
            yield BriefLine(
                name=join_lines(row.title)[:_MAX_TEXT_CHARS],
                text=f"{override.score} of 5, {join_lines(override.overridden_by)[:120]}: "
                f"{join_lines(override.reason)[:_MAX_TEXT_CHARS]}",
            )
