"""Pages under `/console`: the list of calls, and each call's table, plots, cancellation and retry."""

import asyncio
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse
from pydantic import ValidationError
from starlette.responses import Response

from orchestrator.console.drawing import build_histogram, build_rank_curve, summarise_over_time
from orchestrator.console.page_context import CallManager, CallReader, PageContext, SignedIn
from orchestrator.console.proposal_fields import count_coverage_by_field, find_runs_of_field
from orchestrator.console.scripted_page import load_asset
from orchestrator.jobs.outcome_wording import OUTCOMES
from orchestrator.jobs.submissions import BatchStatus, Cursor, count_unfinished
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.first_opinions import FirstOpinions, compare_reviewers, compare_with_reports
from orchestrator.services.batch_summaries import summarise_batch
from orchestrator.store.call_tables import TableView
from orchestrator.web.pagination import decode_cursor, encode_cursor
from orchestrator.web.path_parameters import CallInPath

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)

_PAGE_SIZE = 20
_CACHE_CONTROL = "public, max-age=31536000, immutable"


@router.get("/static/{name}")
async def get_static_file(name: str) -> Response:
    """Return a style sheet or script, identical for every visitor."""
    file = load_asset(name)
    if file is None:
        raise HttpProblem("not-found", "No style sheet or script has this name.")
    return Response(
        file.content, 200, {"Cache-Control": _CACHE_CONTROL, "X-Content-Type-Options": "nosniff"}, file.media_type
    )


@router.get("")
async def list_calls(
    context: SignedIn,
    after: str | None = None,
    tag: Annotated[str, Query(max_length=100)] = "",
    archived: bool = False,
) -> Response:
    """Show the tenant's archived or other calls. Reviewers are redirected to their queue."""
    if not context.caller.may("see calls"):
        return RedirectResponse("/console/queue", 303)
    services, tenant, now = context.services, context.tenant, context.now
    batches = await services.jobs.list_batches(
        tenant, after=decode_cursor(after), limit=_PAGE_SIZE + 1, tag=tag or None, archived=archived
    )
    due = {batch.id: batch.opinions_due for batch in batches[:_PAGE_SIZE]}
    progress = await services.call_progress.get_progress(tenant, due, now.date())
    page = [
        (
            summarise_batch(batch, now),
            await services.tables.count_by_outcome(tenant, batch.id),
            await _explain_waiting(context, batch),
            progress[batch.id],
        )
        for batch in batches[:_PAGE_SIZE]
    ]
    return context.render_page(
        "calls.html",
        calls=page,
        month=await services.usage.get_month_budget(tenant),
        tag=tag,
        archived=archived,
        today=now.date(),
        next=encode_cursor(Cursor.from_item(batches[_PAGE_SIZE - 1])) if len(batches) > _PAGE_SIZE else None,
    )


@router.get("/calls/{id}")
async def show_table(context: CallReader, call: CallInPath, view: Annotated[TableView, Query()]) -> Response:
    services, tenant = context.services, context.tenant
    run_ids = None
    if view.field:
        run_ids = await asyncio.to_thread(
            find_runs_of_field, await services.series.get_words(tenant, call.id), view.field
        )
    page = await services.tables.get_page(tenant, call.id, view, run_ids)
    outcomes = await services.tables.count_outcomes(tenant, call.id)
    parts = {part.name: part.title for row in page.rows if row.figures for part in row.figures.parts}
    summary = summarise_batch(call, context.now)
    return await context.render_call_page(
        "table.html",
        call,
        "proposals",
        summary=summary,
        waiting=await _explain_waiting(context, call),
        month=await services.usage.get_month_budget(tenant),
        rejected=call.rejected,
        rules=await services.call_details.get_rules(tenant, call.id),
        bases=await services.call_details.list_scoring_bases(tenant, call.id),
        sign_off=await context.reviewing.decisions.get_sign_off(tenant, call.id),
        counts=outcomes.counts,
        poorly_covered=outcomes.poorly_covered,
        certain=outcomes.certain,
        retriable=await services.jobs.preview_retry(tenant, batch=call.id),
        today=context.now.date(),
        page=page,
        parts=parts,
        outcomes=OUTCOMES,
        view=view,
        columns=_select_columns(
            parts,
            with_certainty=outcomes.certain > 0 or view.sort == "certainty",
            with_people=context.caller.may("see the panel"),
        ),
        views=await services.tables.list_views(tenant),
        rankings=await services.rankings.list_rankings(tenant, batch=call.id, state="succeeded"),
        twins=await services.applicants.find_same_texts(tenant, [row.id for row in page.rows]),
        parameters=view.model_dump(exclude_defaults=True),
    )


_COLUMNS = {
    "row": "Row",
    "title": "Proposal",
    "source": "File or reference",
    "people": "Reviews, 1–5",
    "rank": "Rank",
    "decision": "Decision",
    "score": "Report score",
    "certainty": "Certainty",
    "fit": "Corpus fit",
    "flags": "Flags",
    "outcome": "State",
    "cost": "Cost",
    "seconds": "Duration",
}


def _select_columns(parts: Mapping[str, str], *, with_certainty: bool, with_people: bool) -> dict[str, str]:
    """Return the column titles by key. `parts` maps the names of part scores to titles. Without `with_certainty`, the
    certainty column is omitted because it would be empty; without `with_people`, reviewers' scores and decisions are
    omitted."""
    hidden = {*(() if with_certainty else ("certainty",)), *(() if with_people else ("people", "decision"))}
    titles = {key: title for key, title in _COLUMNS.items() if key not in hidden}
    return titles | {f"part:{name}": title for name, title in parts.items()}


@router.get("/calls/{id}/progress")
async def show_progress(context: CallReader, call: CallInPath) -> Response:
    """Return the page fragment that changes while a call is running. Cheap, because the table is not read."""
    waiting_reason = await _explain_waiting(context, call)
    return context.render_page(
        "progress.html", call=summarise_batch(call, context.now), waiting=waiting_reason, watched=True
    )


@router.get("/calls/{id}/plots")
async def show_plots(
    context: CallReader, call: CallInPath, ranking: Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{0,64}$")] = ""
) -> Response:
    services, tenant = context.services, context.tenant
    series, words, ranks, opinions = await asyncio.gather(
        services.series.get_series(tenant, call.id),
        services.series.get_words(tenant, call.id),
        services.series.get_ranks(tenant, call.id, ranking),
        _read_first_opinions(context, call),
    )
    return await context.render_call_page(
        "plots.html",
        call,
        "plots",
        bars=build_histogram(series.scores),
        scored=len(series.scores),
        unscored=series.proposals - len(series.scores),
        costs=summarise_over_time(series.ended, series.costs),
        unpriced=series.costs.count(None),
        times=summarise_over_time(series.ended, series.seconds),
        fits=series.fits,
        fields=await asyncio.to_thread(count_coverage_by_field, words),
        reviewer_agreement=None if opinions is None else await asyncio.to_thread(compare_reviewers, opinions),
        report_agreement=None if opinions is None else await asyncio.to_thread(compare_with_reports, opinions),
        curve=build_rank_curve(ranks),
        ranks=ranks,
        ranking=ranking,
        rankings=await services.rankings.list_rankings(tenant, batch=call.id, state="succeeded"),
    )


@router.get("/calls/{id}/cancel")
async def confirm_cancel(context: CallManager, call: CallInPath) -> Response:
    """Ask for confirmation, with the number of evaluations that would be cancelled."""
    return context.render_page(
        "cancel.html",
        call=summarise_batch(call, context.now),
        unfinished=count_unfinished(call.counts),
        documents=await context.services.jobs.count_unread_documents(context.tenant, call.id),
        document_days=context.services.batches.document_days,
    )


@router.post("/calls/{id}/cancel")
async def cancel_call(context: CallManager, call: CallInPath) -> Response:
    await context.services.jobs.cancel_batch(context.tenant, call.id, context.by)
    return RedirectResponse(f"/console/calls/{call.id}", 303)


@router.post("/calls/{id}/archive")
async def archive_call(context: CallManager, call: CallInPath, archived: Annotated[bool, Form()] = False) -> Response:
    """Archive a finished call, or show it in the list again."""
    await context.services.call_details.archive(context.tenant, call.id, context.by, archived=archived)
    return RedirectResponse(f"/console/calls/{call.id}", 303)


@router.post("/calls/{id}/retry")
async def retry_call(context: CallManager, call: CallInPath) -> Response:
    """Retry the jobs of a call that failed or were cancelled."""
    await context.services.jobs.retry_batch(context.tenant, call.id, context.by)
    return RedirectResponse(f"/console/calls/{call.id}", 303)


@router.post("/calls/{id}/views")
async def save_view(
    context: CallManager,
    call: CallInPath,
    name: Annotated[str, Form(min_length=1, max_length=80)],
    query: Annotated[str, Form(max_length=1_500)] = "",
    replace: Annotated[bool, Form()] = False,
) -> Response:
    """Save a view of the table for the whole tenant. An existing view with the same name is replaced only if `replace`
    is set."""
    parameters: dict[str, list[str]] = {}
    for key, value in parse_qsl(query):
        parameters.setdefault(key, []).append(value)
    list_fields = {"outcome", "fit", "hide", "show", "band"}
    try:
        TableView.model_validate(
            {key: values if key in list_fields else values[-1] for key, values in parameters.items()}
        )
    except ValidationError:
        raise HttpProblem(
            "invalid-request",
            "These parameters are not a valid view of the table. Open the table and save the view again.",
        ) from None
    if not await context.services.tables.save_view(context.tenant, name, query, replace=replace):
        raise HttpProblem(
            "conflict",
            f"A view called “{name}” already exists. Choose another name, or tick “Replace a view of this name”.",
        )
    return RedirectResponse(f"/console/calls/{call.id}?{query}", 303)


async def _read_first_opinions(context: PageContext, call: BatchStatus) -> FirstOpinions | None:
    """Return the reviewers' first opinions; None if the person is not allowed to see them."""
    if not context.caller.may("see the panel"):
        return None
    return await context.reviewing.opinions.get_first_opinions(context.tenant, call.id)


async def _explain_waiting(context: PageContext, call: BatchStatus) -> str | None:
    """Return a sentence that explains why none of the call's evaluations is running; None if one is running or none is
    queued."""
    if "queued" not in call.counts or "running" in call.counts:
        return None
    return await context.services.jobs.explain_batch_waiting(call.tenant, call.id)
