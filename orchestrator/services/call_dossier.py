"""Construction of a call's dossier from its table and, if the reader is allowed to see it, its panel."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

from assayer.reports.brief import BriefLine
from assayer.reports.dossier import Dossier, DossierRow
from assayer.reports.escaping import one_line
from assayer.reports.wording import FLAGS, count, moment, money
from assayer_client.resources import Absent
from assayer_client.reviewing import Panel, PanelRow
from orchestrator.jobs.outcome_wording import OUTCOMES_IN_WORDS, EvaluationOutcome
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.store.call_tables import TableRow

_LONGEST = 300
_UNFINISHED: tuple[EvaluationOutcome, ...] = ("running", "queued")


def dossier_of(
    call: BatchStatus, rows: Sequence[TableRow], ranking: str, panel: Panel | None, now: dt.datetime
) -> Dossier:
    """Return the dossier of a call. `rows` holds all rows of the call, with their ranks in `ranking` if that is not
    empty."""
    people: dict[str, PanelRow] = {item.evaluation: item for item in panel.rows} if panel else {}
    unfinished = sum(row.outcome in _UNFINISHED for row in rows)
    flagged = sum(bool(row.flags) for row in rows)
    warnings = [
        BriefLine(name=name, text=text)
        for number, name, text in (
            (unfinished, "Not finished", f"{count(unfinished, 'proposal')} still queued or running."),
            (flagged, "Look at these texts first", f"{count(flagged, 'proposal')} with suspicious text."),
        )
        if number
    ]
    return Dossier(
        title=one_line(call.name)[:_LONGEST] or str(call.id),
        subtitle=f"made {moment(now)}",
        counts=tuple(_counts(call, rows)),
        warnings=tuple(warnings),
        order=f"By the ranking {ranking}, then by score."
        if ranking
        else "By score; proposals without a score come last.",
        with_people=bool(people),
        with_certainty=any(row.figures.certainty for row in rows if row.figures),
        rows=tuple(_row(row, people) for row in sorted(rows, key=_sort_key)),
        refused=tuple(
            BriefLine(name=one_line(item.source)[:120], text=one_line(item.detail)[:_LONGEST]) for item in call.rejected
        ),
        people=tuple(_people(panel)) if panel else (),
        overrides=tuple(_overrides(people.values())),
        call=str(call.id),
        day=now.date(),
    )


def _sort_key(row: TableRow) -> tuple[bool, int, bool, float, int]:
    score = row.figures.score if row.figures else None
    return row.rank is None, row.rank.rank if row.rank else 0, score is None, -(score or 0.0), row.row or 0


def _counts(call: BatchStatus, rows: Sequence[TableRow]) -> Iterable[BriefLine]:
    yield BriefLine(name="Submitted", text=f"{moment(call.created_at)}, {count(call.rows, 'row')}")
    for outcome, words in OUTCOMES_IN_WORDS.items():
        if number := sum(row.outcome == outcome for row in rows):
            yield BriefLine(name=words.capitalize(), text=count(number))
    if call.rejected:
        yield BriefLine(name="Refused", text=count(len(call.rejected)))
    if call.erased:
        yield BriefLine(name="Erased", text=count(call.erased))
    unknown = "not known for all proposals; known: "
    known = money(call.known_cost_usd) if call.cost_usd is None else money(call.cost_usd)
    yield BriefLine(name="Cost", text=f"{unknown}{known}" if call.cost_usd is None else known)


def _row(row: TableRow, people: Mapping[str, PanelRow]) -> DossierRow:
    figures = row.figures
    score = figures.score if figures else None
    if score is not None:
        score_text = f"{100 * score:.0f}"
    elif figures is not None:
        score_text = f"no score: {one_line(figures.reason)[:_LONGEST]}"
    else:
        score_text = row.problem.title if row.problem else OUTCOMES_IN_WORDS[row.outcome]
    panel = people.get(row.id)
    return DossierRow(
        place=f"{row.rank.rank} ({row.rank.low:.0f}–{row.rank.high:.0f})" if row.rank else f"row {row.row}",
        title=one_line(row.title)[:_LONGEST],
        source=one_line(row.source)[:120],
        share=score,
        score=score_text,
        certainty=(figures.certainty if figures else None) or "–",
        fit=(figures.fit if figures else None) or "–",
        flags="; ".join(FLAGS.get(flag, flag) for flag in row.flags),
        people="" if panel is None or panel.score is None else f"{panel.score:.1f} of 5",
    )


def _people(panel: Panel) -> Iterable[BriefLine]:
    opinions_given = f"{count(panel.given)} of {count(panel.assigned)} assigned, {count(panel.revised)} revised"
    yield BriefLine(name="Given", text=opinions_given)
    if panel.set_aside:
        yield BriefLine(name="Not counted", text=f"{count(panel.set_aside)}, by people with a conflict of interest")
    for name, agreement in (("of first opinions", panel.blind), ("of current opinions", panel.standing)):
        kappa = agreement.kappa
        kappa_text = f"none. {kappa.reason}" if isinstance(kappa, Absent) else f"{kappa:.2f}"
        yield BriefLine(name=f"Agreement {name} (κ)", text=kappa_text)
    sign_off = panel.sign_off
    yield BriefLine(
        name="Signed off",
        text="not yet" if sign_off is None else f"{moment(sign_off.at)} by {one_line(sign_off.name)[:120]}",
    )


def _overrides(rows: Iterable[PanelRow]) -> Iterable[BriefLine]:
    for row in rows:
        if row.override is not None:
            override = row.override
            yield BriefLine(
                name=one_line(row.title)[:_LONGEST],
                text=f"{override.score} of 5, {one_line(override.name)[:120]}: {one_line(override.reason)[:_LONGEST]}",
            )
