"""Page `/console/evaluations`: all submitted proposals, whether in a call or not. Also cancels and retries evaluations,
and redirects `/` to the console."""

import datetime as dt
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from orchestrator.console.page_context import CallManager, CallReader
from orchestrator.jobs.models import JobState
from orchestrator.jobs.submissions import Cursor
from orchestrator.web.pagination import decode_cursor, encode_cursor
from orchestrator.web.path_parameters import EvaluationInPath

router = APIRouter(tags=["pages"], include_in_schema=False)

_PAGE_SIZE = 50


@router.get("/")
async def redirect_root() -> Response:
    """Redirect the service's root URL to the console."""
    return RedirectResponse("/console", 303)


@router.get("/console/evaluations")
async def list_evaluations(
    context: CallReader, state: JobState | Literal[""] = "", after: str | None = None
) -> Response:
    jobs = await context.services.jobs.list(
        context.tenant, kind="evaluation", state=state or None, after=decode_cursor(after), limit=_PAGE_SIZE + 1
    )
    now = context.now
    month = dt.datetime(now.year, now.month, 1, tzinfo=dt.UTC)
    return context.render_page(
        "evaluations.html",
        jobs=jobs[:_PAGE_SIZE],
        call_names=await context.services.call_details.get_names(
            context.tenant, {job.batch for job in jobs if job.batch}
        ),
        state=state,
        usage=await context.services.usage.get_usage(context.tenant, month, now),
        next=encode_cursor(Cursor.from_item(jobs[_PAGE_SIZE - 1])) if len(jobs) > _PAGE_SIZE else None,
    )


@router.post("/console/proposals/{id}/cancel")
async def cancel_evaluation(context: CallManager, job: EvaluationInPath) -> Response:
    """Cancel an evaluation, unless it has already ended."""
    await context.services.jobs.cancel(context.tenant, job.id, context.by)
    return RedirectResponse(f"/console/proposals/{job.id}", 303)


@router.post("/console/proposals/{id}/retry")
async def retry_evaluation(context: CallManager, job: EvaluationInPath) -> Response:
    """Retry an evaluation that failed or was cancelled."""
    await context.services.jobs.retry(context.tenant, job.id, context.by)
    return RedirectResponse(f"/console/proposals/{job.id}", 303)
