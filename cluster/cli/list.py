"""`assayer list`: one's own batches and evaluations, the newest first."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from assayer.errors import InputError
from cluster.cli.job_wording import counts_in_words, score_in_words, state_in_words
from cluster.cli.options import WithProfile
from cluster.cli.service_client import kind_of, service
from cluster.cli.terminal import console, remark, show_table
from cluster.settings import PROFILES

if TYPE_CHECKING:
    from assayer_client.batches import BatchSummary
    from assayer_client.evaluations import Evaluation
    from assayer_client.resources import JobState

__all__ = ["list"]

_LONGEST, _PAGE = 60, 500
_SERVICES_WORD = {"waiting": "queued", "given-up": "dead"}
"""What the service calls states that people call so."""


def list(
    batch: Annotated[
        str | None, typer.Argument(help="A batch (bt_…): its evaluations. By default batches and single evaluations.")
    ] = None,
    state: Annotated[
        str | None,
        typer.Option(help="Only evaluations that are waiting, running, done, failed, given-up or cancelled."),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Only evaluations that you call so: a file, or the id that a row holds.")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(help="Only evaluations with this reference of yours, to the letter: a row's id, a file, a name."),
    ] = None,
    tag: Annotated[str | None, typer.Option(help="Only batches that carry this label.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Lines of each kind, at most.")] = 20,
    profile: WithProfile = PROFILES[0],
) -> None:
    """List your batches and evaluations, the newest first, with state, cost and what went wrong."""
    wanted = _state(state)
    if batch is not None:
        kind_of(batch, "batch")
    if tag is not None and (batch, wanted, source, reference) != (None, None, None, None):
        raise InputError("Batches carry tags, evaluations do not.", "Give --tag alone.")
    with service(profile) as client:
        if (batch, wanted, source, reference) == (None, None, None, None):
            _show_batches(islice(client.each(client.batches, tag=tag), limit), tag)
        if tag is not None:
            return
        found = client.each(
            client.evaluations, state=wanted, batch=batch, source=source, reference=reference, limit=_PAGE
        )
        _show_evaluations(found, batch, limit, chosen=any((batch, wanted, source, reference)))


def _state(given: str | None) -> "JobState | None":
    from assayer_client.resources import JobState

    states: Sequence[JobState] = get_args(JobState)
    named = _SERVICES_WORD.get(given or "", given)
    if given is not None and named not in states:
        said = [next((word for word, state in _SERVICES_WORD.items() if state == one), one) for one in states]
        raise InputError(f"There is no state {given!r}.", f"It is one of: {', '.join(said)}.")
    return next((one for one in states if one == named), None)


def _show_batches(batches: "Iterable[BatchSummary]", tagged: str | None) -> None:
    rows = [
        (
            one.id,
            " ".join([_short(one.name), *(f"#{tag}" for tag in one.tags)]),
            _progress(one),
            _cost(one.cost_usd, one.known_cost_usd),
            f"{one.created_at:%Y-%m-%d %H:%M}",
        )
        for one in batches
    ]
    if tagged and not rows:
        remark(f"No batch carries the tag {tagged!r}.")
    if rows:
        show_table(("Batch", "Name", "Progress", "Cost", "Submitted (UTC)"), rows)
        console().print()


def _show_evaluations(found: "Iterable[Evaluation]", batch: str | None, limit: int, *, chosen: bool) -> None:
    if batch is None:
        shown = [*islice((one for one in found if chosen or one.batch is None), limit)]
    else:  # as in the table that was sent
        listed = sorted(found, key=lambda one: one.row or 0)
        shown = listed[:limit]
        if len(listed) > limit:
            remark(f"The first {limit:,} of {len(listed):,}; --limit {len(listed)} shows all.")
    if not shown:
        remark("There are no evaluations of that kind." if chosen else "There are no evaluations outside batches.")
        return
    rows = [_row(one) for one in shown]
    headings = ("Evaluation", "Title", "Source", "State", "Score", "Cost", "Submitted (UTC)", "Why there is no score")
    told = len(headings) - (not any(row[-1] for row in rows))
    show_table(headings[:told], [row[:told] for row in rows])


def _row(one: "Evaluation") -> tuple[str, ...]:
    title = f"{one.row}. {_short(one.title)}" if one.row else _short(one.title)
    why = f": {one.problem.title}" if one.problem else ""
    flags = f"; look at its text: {', '.join(one.flags).replace('_', ' ')}" if one.flags else ""
    cost = _cost(one.cost_usd) if one.finished_at else ""
    score = score_in_words(one.scores) if one.scores else ""
    lacking = (one.scores.reason or "") if one.scores and one.scores.score is None else ""
    state = f"{state_in_words(one.state)}{why}{flags}"
    return one.id, title, _short(one.source), state, score, cost, f"{one.created_at:%Y-%m-%d %H:%M}", lacking


def _progress(batch: "BatchSummary") -> str:
    refused = [f"{batch.rejected:,} refused"] if batch.rejected else []
    erased = [f"{batch.erased:,} erased"] if batch.erased else []
    return ", ".join([f"{batch.rows:,} rows", *counts_in_words(batch.states.items()), *refused, *erased])


def _cost(usd: float | None, known: float = 0.0) -> str:
    if usd is not None:
        return f"${usd:,.2f}"
    return f"unknown, ${known:,.2f} of it known" if known else "unknown"


def _short(title: str) -> str:
    return title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
