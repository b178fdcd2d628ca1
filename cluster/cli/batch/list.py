"""`assayer batch list`: list the user's own batches and evaluations, newest first."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import InputError
from assayer.reports.escaping import shorten
from assayer_client.resources import JobState
from cluster.cli.batch.job_wording import describe_counts, describe_score
from cluster.cli.batch.service_client import identify_kind, open_service_client
from cluster.cli.options import WithJson
from cluster.cli.terminal import print_json, print_markup, print_remark, show_table

if TYPE_CHECKING:
    from assayer_client.batches import BatchSummary
    from assayer_client.evaluations import Evaluation

_MAX_NAME_CHARS, _PAGE = 60, 500


def list(
    batch: Annotated[
        str | None,
        typer.Argument(help="List this batch's evaluations (bt_…). By default, batches and single evaluations."),
    ] = None,
    state: Annotated[JobState | None, typer.Option(help="Only evaluations in this state.")] = None,
    source: Annotated[
        str | None, typer.Option(help="Only evaluations with this name: a file name, or the id in a row.")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(help="Only evaluations with exactly this reference: a row's id, a file or a name."),
    ] = None,
    tag: Annotated[str | None, typer.Option(help="Only batches with this tag.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of lines of each kind.")] = 20,
    as_json: WithJson = False,
) -> None:
    """List your batches and evaluations, newest first, with state, cost and any problem."""
    if batch is not None:
        identify_kind(batch, "batch")
    if tag is not None and (batch, state, source, reference) != (None, None, None, None):
        raise InputError("--tag selects batches; the other options select evaluations.", "Pass --tag without them.")
    has_filter = any((batch, state, source, reference))
    with open_service_client() as client:
        batches = [] if has_filter else [*islice(client.each(client.batches.list, tag=tag), limit)]
        evaluations = client.each(
            client.evaluations.list, state=state, batch=batch, source=source, reference=reference, limit=_PAGE
        )
        listed_evaluations = [] if tag is not None else _list_first(evaluations, batch, limit, has_filter=has_filter)
    if as_json:
        print_json({"batches": batches, "evaluations": listed_evaluations})
        return
    _show_batches(batches, tag)
    if tag is None:
        _show_evaluations(listed_evaluations, has_filter=has_filter)


def _show_batches(batches: "Iterable[BatchSummary]", tagged: str | None) -> None:
    rows = [
        (
            batch.id,
            " ".join([shorten(batch.name, _MAX_NAME_CHARS), *(f"#{tag}" for tag in batch.tags)]),
            _describe_progress(batch),
            _format_cost(batch.cost_usd, batch.known_cost_usd),
            f"{batch.created_at:%Y-%m-%d %H:%M}",
        )
        for batch in batches
    ]
    if tagged and not rows:
        print_remark(f"No batch has the tag {tagged!r}.")
    if rows:
        show_table(("Batch", "Name", "Progress", "Cost", "Submitted (UTC)"), rows)
        print_markup("")


def _list_first(
    evaluations: "Iterable[Evaluation]", batch: str | None, limit: int, *, has_filter: bool
) -> "Sequence[Evaluation]":
    """Return at most `limit` evaluations. Those of a batch are in row order, others newest first."""
    if batch is None:
        return [*islice((evaluation for evaluation in evaluations if has_filter or evaluation.batch is None), limit)]
    listed = sorted(evaluations, key=lambda item: item.row or 0)
    if len(listed) > limit:
        print_remark(f"Showing {limit:,} of {len(listed):,}; to show all, pass --limit {len(listed)}.")
    return listed[:limit]


def _show_evaluations(evaluations: "Sequence[Evaluation]", *, has_filter: bool) -> None:
    if not evaluations:
        print_remark("No evaluations match." if has_filter else "There are no evaluations outside batches.")
        return
    rows = [_build_row(evaluation) for evaluation in evaluations]
    headings = ("Evaluation", "Title", "Source", "State", "Score", "Cost", "Submitted (UTC)", "Why there is no score")
    shown_columns = len(headings) - (not any(row[-1] for row in rows))
    show_table(headings[:shown_columns], [row[:shown_columns] for row in rows])


def _build_row(evaluation: "Evaluation") -> tuple[str, ...]:
    title = shorten(evaluation.title, _MAX_NAME_CHARS)
    why = f": {evaluation.problem.title}" if evaluation.problem else ""
    flags = f"; check its text: {', '.join(evaluation.flags).replace('_', ' ')}" if evaluation.flags else ""
    cost = _format_cost(evaluation.cost_usd) if evaluation.finished_at else ""
    score = describe_score(evaluation.scores) if evaluation.scores else ""
    reason = (evaluation.scores.reason or "") if evaluation.scores and evaluation.scores.score is None else ""
    state = f"{evaluation.state}{why}{flags}"
    return (
        evaluation.id,
        f"{evaluation.row}. {title}" if evaluation.row else title,
        shorten(evaluation.source, _MAX_NAME_CHARS),
        state,
        score,
        cost,
        f"{evaluation.created_at:%Y-%m-%d %H:%M}",
        reason,
    )


def _describe_progress(batch: "BatchSummary") -> str:
    refused_text = [f"{batch.rejected:,} refused"] if batch.rejected else []
    erased_text = [f"{batch.erased:,} erased"] if batch.erased else []
    return ", ".join([f"{batch.rows:,} rows", *describe_counts(batch.states.items()), *refused_text, *erased_text])


def _format_cost(usd: float | None, known_usd: float = 0.0) -> str:
    if usd is not None:
        return f"${usd:,.2f}"
    return f"unknown, ${known_usd:,.2f} of it known" if known_usd else "unknown"
