"""`/console/evaluations`: every proposal that was handed in, in a call or alone; one of them cancelled
or run again. And `/`, which leads to the console."""

import datetime as dt
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import find_job
from orchestrator.api.pagination import decode_cursor, encode_cursor
from orchestrator.api.services import ServicesDependency
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.acts import ActBy
from orchestrator.jobs.models import JobState
from orchestrator.jobs.submissions import Cursor

__all__ = ["router"]

router = APIRouter(tags=["pages"], include_in_schema=False)

CallReader = Annotated[SignedIn, Depends(allowed_to("see calls"))]
CallRunner = Annotated[SignedIn, Depends(allowed_to("run calls"))]
_ROWS = 50


@router.get("/")
async def front_door() -> Response:
    """Of the service: people go to the console."""
    return RedirectResponse("/console", 303)


@router.get("/console/evaluations")
async def evaluations(
    request: Request,
    who: CallReader,
    services: ServicesDependency,
    state: JobState | Literal[""] = "",
    after: str | None = None,
) -> Response:
    found = await services.jobs.list(
        who.tenant, kind="evaluation", state=state or None, after=decode_cursor(after), limit=_ROWS + 1
    )
    now = services.clock.now()
    month = dt.datetime(now.year, now.month, 1, tzinfo=dt.UTC)
    return page_response(
        "evaluations.html",
        request,
        who,
        jobs=found[:_ROWS],
        call_names=await services.call_details.names(who.tenant, {one.batch for one in found if one.batch}),
        state=state,
        usage=await services.usage.usage(who.tenant, month, now),
        next=encode_cursor(Cursor.of(found[_ROWS - 1])) if len(found) > _ROWS else None,
    )


@router.post("/console/proposals/{id}/cancel")
async def cancel(id: PathId, who: CallRunner, services: ServicesDependency) -> Response:
    """One that has ended stays as it is."""
    job = await find_job(services, who.tenant, id, "evaluation")
    await services.jobs.cancel(who.tenant, job.id, ActBy(who.actor, services.clock.now()))
    return RedirectResponse(f"/console/proposals/{job.id}", 303)


@router.post("/console/proposals/{id}/retry")
async def retry(id: PathId, who: CallRunner, services: ServicesDependency) -> Response:
    """One that failed, was given up or was cancelled."""
    job = await find_job(services, who.tenant, id, "evaluation")
    await services.jobs.retry(who.tenant, job.id, ActBy(who.actor, services.clock.now()))
    return RedirectResponse(f"/console/proposals/{job.id}", 303)
