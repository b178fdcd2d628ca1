"""Pages `/console/evaluations`: every submitted proposal, in a call or alone, with cancellation and retry; and `/`,
which redirects to the console."""

import datetime as dt
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from orchestrator.access.api_keys import Caller
from orchestrator.access.job_acts import ActBy
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.models import JobState
from orchestrator.jobs.submissions import Cursor
from orchestrator.services.job_lookup import find_job
from orchestrator.web.pagination import decode_cursor, encode_cursor
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import ServicesDependency
from orchestrator.web.signed_in import allowed_to

router = APIRouter(tags=["pages"], include_in_schema=False)

CallReader = Annotated[Caller, Depends(allowed_to("see calls"))]
CallRunner = Annotated[Caller, Depends(allowed_to("run calls"))]
_ROWS = 50


@router.get("/")
async def front_door() -> Response:
    """Redirect the root of the service to the console."""
    return RedirectResponse("/console", 303)


@router.get("/console/evaluations")
async def evaluations(
    request: Request,
    who: CallReader,
    services: ServicesDependency,
    state: JobState | Literal[""] = "",
    after: str | None = None,
) -> Response:
    jobs = await services.jobs.list(
        who.tenant, kind="evaluation", state=state or None, after=decode_cursor(after), limit=_ROWS + 1
    )
    now = services.clock.now()
    month = dt.datetime(now.year, now.month, 1, tzinfo=dt.UTC)
    return page_response(
        "evaluations.html",
        request,
        who,
        jobs=jobs[:_ROWS],
        call_names=await services.call_details.names(who.tenant, {item.batch for item in jobs if item.batch}),
        state=state,
        usage=await services.usage.usage(who.tenant, month, now),
        next=encode_cursor(Cursor.of(jobs[_ROWS - 1])) if len(jobs) > _ROWS else None,
    )


@router.post("/console/proposals/{id}/cancel")
async def cancel(id: PathId, who: CallRunner, services: ServicesDependency) -> Response:
    """Cancel an evaluation; an evaluation that has ended is unchanged."""
    job = await find_job(services.jobs, who.tenant, id, "evaluation")
    await services.jobs.cancel(who.tenant, job.id, ActBy(who.actor, services.clock.now()))
    return RedirectResponse(f"/console/proposals/{job.id}", 303)


@router.post("/console/proposals/{id}/retry")
async def retry(id: PathId, who: CallRunner, services: ServicesDependency) -> Response:
    """Retry an evaluation that failed or was cancelled."""
    job = await find_job(services.jobs, who.tenant, id, "evaluation")
    await services.jobs.retry(who.tenant, job.id, ActBy(who.actor, services.clock.now()))
    return RedirectResponse(f"/console/proposals/{job.id}", 303)
