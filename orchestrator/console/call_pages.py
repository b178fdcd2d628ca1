"""Pages of `/console`: the calls of a tenant, the table of a call, its plots, cancellation and retry."""

import asyncio
import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse
from pydantic import ValidationError
from starlette.responses import Response

from assayer_client.batches import BatchSummary
from orchestrator.access.api_keys import Caller
from orchestrator.access.job_acts import ActBy
from orchestrator.console.drawing import distribution, over_time, rank_curve
from orchestrator.console.proposal_fields import coverage_by_field, runs_of_field
from orchestrator.console.scripted_page import asset, page_response
from orchestrator.jobs.models import BatchId
from orchestrator.jobs.outcome_wording import OUTCOMES
from orchestrator.jobs.submissions import BatchStatus, Cursor, count_unfinished
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.first_opinions import FirstOpinions, among_people, with_program
from orchestrator.services.batch_summaries import batch_summary, tags_in
from orchestrator.store.call_tables import PAGE, TableView
from orchestrator.web.pagination import decode_cursor, encode_cursor
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import Services, ServicesDependency
from orchestrator.web.signed_in import SignedInDependency, allowed_to

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)

CallReader = Annotated[Caller, Depends(allowed_to("see calls"))]
CallRunner = Annotated[Caller, Depends(allowed_to("run calls"))]
_CALLS = 20
_YEAR = "public, max-age=31536000, immutable"


@router.get("/static/{name}")
async def static(name: str) -> Response:
    """Return a style sheet or script, identical for every visitor."""
    file = asset(name)
    if file is None:
        raise HttpProblem("not-found", "Pages load nothing of that name.")
    return Response(file.content, 200, {"Cache-Control": _YEAR, "X-Content-Type-Options": "nosniff"}, file.media_type)


@router.get("")
async def calls(
    request: Request,
    who: SignedInDependency,
    services: ServicesDependency,
    after: str | None = None,
    tag: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """Show the tenant's calls; a reviewer is redirected to their queue."""
    if not who.may("see calls"):
        return RedirectResponse("/console/queue", 303)
    batches = await services.jobs.batches(who.tenant, after=decode_cursor(after), limit=_CALLS + 1, tag=tag or None)
    now = services.clock.now()
    page = [
        (batch_summary(item, now), await services.tables.counts(who.tenant, item.id), await _waiting(services, item))
        for item in batches[:_CALLS]
    ]
    month = await services.usage.month(who.tenant)
    return page_response(
        "calls.html",
        request,
        who,
        calls=page,
        month=month,
        tag=tag,
        today=now.date(),
        next=encode_cursor(Cursor.of(batches[_CALLS - 1])) if len(batches) > _CALLS else None,
    )


@router.get("/calls/{id}")
async def table(
    id: PathId,
    request: Request,
    who: CallReader,
    services: ServicesDependency,
    view: Annotated[TableView, Query()],
) -> Response:
    call = await services.find_batch(who.tenant, id)
    of_field = None
    if view.field:
        of_field = await asyncio.to_thread(runs_of_field, await services.series.words(who.tenant, call.id), view.field)
    page = await services.tables.page(who.tenant, BatchId(id), view, of_field)
    outcomes = await services.tables.outcomes(who.tenant, call.id)
    parts = {part.name: part.title for row in page.rows if row.figures for part in row.figures.parts}
    return page_response(
        "table.html",
        request,
        who,
        call=_summary(services, call),
        waiting=await _waiting(services, call),
        month=await services.usage.month(who.tenant),
        rejected=call.rejected,
        rules=await services.call_details.rules(who.tenant, call.id),
        sign_off=await services.reviewing.decisions.signed_off(who.tenant, call.id),
        counts=outcomes.counts,
        poorly_covered=outcomes.poorly_covered,
        certain=outcomes.certain,
        again=await services.jobs.retriable(who.tenant, batch=call.id),
        today=services.clock.now().date(),
        page=page,
        pages=max(1, -(-page.matching // PAGE)),
        parts=parts,
        outcomes=OUTCOMES,
        view=view,
        columns=_columns(parts, certain=outcomes.certain > 0 or view.sort == "certainty"),
        views=await services.tables.views(who.tenant),
        rankings=await services.rankings.listed(who.tenant, batch=call.id, state="succeeded"),
        parameters=view.model_dump(exclude_defaults=True),
    )


_COLUMNS = {
    "row": "Row",
    "title": "Proposal",
    "source": "File or reference",
    "score": "Score",
    "certainty": "Certainty",
    "fit": "Corpus fit",
    "flags": "Flags",
    "outcome": "State",
    "rank": "Rank",
    "cost": "Cost",
    "seconds": "Took",
}


def _columns(parts: Mapping[str, str], *, certain: bool) -> dict[str, str]:
    """Return the columns with their titles; `parts` are titles by name. A column of certainties is omitted if it
    would be empty."""
    named = {key: title for key, title in _COLUMNS.items() if certain or key != "certainty"}
    return named | {f"part:{name}": title for name, title in parts.items()}


@router.get("/calls/{id}/progress")
async def progress(id: PathId, request: Request, who: CallReader, services: ServicesDependency) -> Response:
    """Show the part of a page that changes while a call is running. The rows of the table are not counted."""
    call = await services.find_batch(who.tenant, id)
    waiting = await _waiting(services, call)
    return page_response("progress.html", request, who, call=_summary(services, call), waiting=waiting, watched=True)


@router.get("/calls/{id}/plots")
async def plots(
    id: PathId,
    request: Request,
    who: CallReader,
    services: ServicesDependency,
    ranking: Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{0,64}$")] = "",
) -> Response:
    call = await services.find_batch(who.tenant, id)
    series, words, ranks, opinions = await asyncio.gather(
        services.series.of_call(who.tenant, call.id),
        services.series.words(who.tenant, call.id),
        services.series.ranks(who.tenant, call.id, ranking),
        _first_opinions(services, who, call),
    )
    return page_response(
        "plots.html",
        request,
        who,
        call=_summary(services, call),
        bars=distribution(series.scores),
        scored=len(series.scores),
        unscored=series.proposals - len(series.scores),
        costs=over_time(series.ended, series.costs),
        unpriced=series.costs.count(None),
        times=over_time(series.ended, series.seconds),
        fits=series.fits,
        fields=await asyncio.to_thread(coverage_by_field, words),
        among_people=None if opinions is None else await asyncio.to_thread(among_people, opinions),
        with_program=None if opinions is None else await asyncio.to_thread(with_program, opinions),
        curve=rank_curve(ranks),
        ranks=ranks,
        ranking=ranking,
        rankings=await services.rankings.listed(who.tenant, batch=call.id, state="succeeded"),
    )


@router.get("/calls/{id}/cancel")
async def ask_cancel(id: PathId, request: Request, who: CallRunner, services: ServicesDependency) -> Response:
    """Ask for confirmation, with the number of evaluations that would be cancelled."""
    call = await services.find_batch(who.tenant, id)
    return page_response(
        "cancel.html",
        request,
        who,
        call=_summary(services, call),
        unfinished=count_unfinished(call.counts),
        documents=await services.jobs.unread_documents(who.tenant, call.id),
        document_days=services.batches.document_days,
    )


@router.post("/calls/{id}/cancel")
async def cancel(id: PathId, who: CallRunner, services: ServicesDependency) -> Response:
    call = await services.find_batch(who.tenant, id)
    await services.jobs.cancel_batch(who.tenant, call.id, ActBy(who.actor, services.clock.now()))
    return RedirectResponse(f"/console/calls/{call.id}", 303)


@router.post("/calls/{id}/retry")
async def retry(id: PathId, who: CallRunner, services: ServicesDependency) -> Response:
    """Retry the jobs of a call that failed or were cancelled."""
    call = await services.find_batch(who.tenant, id)
    await services.jobs.retry_batch(who.tenant, call.id, ActBy(who.actor, services.clock.now()))
    return RedirectResponse(f"/console/calls/{call.id}", 303)


@router.post("/calls/{id}/details")
async def change_details(
    id: PathId,
    who: CallRunner,
    services: ServicesDependency,
    name: Annotated[str, Form(max_length=200)] = "",
    tags: Annotated[str, Form(max_length=500)] = "",
    opinions_due: Annotated[dt.date | Literal[""], Form()] = "",
) -> Response:
    """Change a call's name, its tags, separated by commas, and the day until which opinions are due."""
    call = await services.find_batch(who.tenant, id)
    details = {"name": name.strip(), "tags": tags_in(tags), "opinions_due": opinions_due or None}
    await services.call_details.change(who.tenant, call.id, details, who.actor, services.clock.now())
    return RedirectResponse(f"/console/calls/{call.id}", 303)


@router.post("/calls/{id}/views")
async def save_view(
    id: PathId,
    who: CallRunner,
    services: ServicesDependency,
    name: Annotated[str, Form(min_length=1, max_length=80)],
    query: Annotated[str, Form(max_length=1_500)] = "",
) -> Response:
    call = await services.find_batch(who.tenant, id)
    parameters: dict[str, list[str]] = {}
    for key, value in parse_qsl(query):
        parameters.setdefault(key, []).append(value)
    many = {"outcome", "fit", "hide", "band"}
    try:
        TableView.model_validate({key: values if key in many else values[-1] for key, values in parameters.items()})
    except ValidationError:
        raise HttpProblem("invalid-request", "That is no view of a table.") from None
    await services.tables.save_view(who.tenant, name, query)
    return RedirectResponse(f"/console/calls/{call.id}?{query}", 303)


async def _first_opinions(services: Services, who: Caller, call: BatchStatus) -> FirstOpinions | None:
    """Return the first opinions; None if the person may not see reviewers' opinions."""
    return await services.reviewing.opinions.first(who.tenant, call.id) if who.may("see the panel") else None


def _summary(services: Services, call: BatchStatus) -> BatchSummary:
    return batch_summary(call, services.clock.now())


async def _waiting(services: Services, call: BatchStatus) -> str | None:
    """Return why nothing of the call is running; None if an evaluation is running or none is queued."""
    if "queued" not in call.counts or "running" in call.counts:
        return None
    return await services.jobs.batch_waiting_reason(call.tenant, call.id)
