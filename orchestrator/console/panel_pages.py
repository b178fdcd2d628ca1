"""`/console/calls/{id}/panel`: what a call's reviewers think, scores that officers set, and the call's sign-off."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse
from pydantic import Field
from starlette.responses import Response

from assayer.models import Frozen
from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.identifiers import PathId
from orchestrator.api.problems import not_found
from orchestrator.api.routes.panel import Panel, PanelRow, panel_of
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.models import JobId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.reviewing.models import ReviewRefused

__all__ = ["PanelView", "router"]

router = APIRouter(prefix="/console/calls/{id}", tags=["pages"], include_in_schema=False)

_ROWS = 50


class PanelView(Frozen):
    """Which proposals of a panel are shown first."""

    sort: str = Field(default="row", pattern="^(row|mean|spread|score|missing)$")
    page: int = Field(default=1, ge=1, le=1_000)


@router.get("/panel")
async def panel(
    id: PathId,
    request: Request,
    who: Annotated[SignedIn, Depends(allowed_to("see the panel"))],
    services: ServicesDependency,
    view: Annotated[PanelView, Query()],
) -> Response:
    """What the reviewers of a call think."""
    return await _shown(request, who, services, await services.find_batch(who.tenant, id), view)


@router.post("/override")
async def override(
    id: PathId,
    request: Request,
    who: Annotated[SignedIn, Depends(allowed_to("override"))],
    services: ServicesDependency,
    evaluation: Annotated[str, Form(max_length=64)],
    score: Annotated[int, Form(ge=1, le=5)],
    reason: Annotated[str, Form(max_length=5_000)],
) -> Response:
    """Sets the score that counts for one proposal of the call, in place of what the opinions come to."""
    call = await services.find_batch(who.tenant, id)
    job = await services.jobs.get(who.tenant, JobId(evaluation))
    if job is None or job.batch != call.id:
        raise not_found("proposal in this call", evaluation)
    if len(reason.strip()) < 3:
        return await _shown(request, who, services, call, fault="Say why, in three letters or more.")
    try:
        await services.decisions.override(who.tenant, job.id, score, reason.strip(), who.actor, services.clock.now())
    except ReviewRefused as refusal:
        return await _shown(request, who, services, call, fault=str(refusal))
    return RedirectResponse(f"/console/proposals/{job.id}#people", 303)


@router.post("/sign-off")
async def sign_off(
    id: PathId,
    request: Request,
    who: Annotated[SignedIn, Depends(allowed_to("sign off"))],
    services: ServicesDependency,
    note: Annotated[str, Form(max_length=5_000)] = "",
    despite_missing: Annotated[bool, Form()] = False,
) -> Response:
    """Closes the call: afterwards nothing about it changes."""
    call = await services.find_batch(who.tenant, id)
    try:
        await services.decisions.sign_off(
            who.tenant, call.id, note.strip(), despite_missing, who.actor, services.clock.now()
        )
    except ReviewRefused as refusal:
        return await _shown(request, who, services, call, fault=str(refusal))
    return RedirectResponse(f"/console/calls/{call.id}/panel#sign-off", 303)


async def _shown(
    request: Request,
    who: SignedIn,
    services: Services,
    call: BatchStatus,
    view: PanelView | None = None,
    *,
    fault: str = "",
) -> Response:
    view = view or PanelView()
    found = await panel_of(services, who.tenant, call.id)
    rows = _ordered(found, view.sort)
    return page_response(
        "panel.html",
        request,
        who,
        status=409 if fault else 200,
        call=call,
        panel=found,
        rows=rows[(view.page - 1) * _ROWS : view.page * _ROWS],
        pages=max(1, -(-len(rows) // _ROWS)),
        view=view,
        fault=fault,
        people={str(one.id): one.name for one in await services.members.list(who.tenant)},
    )


def _ordered(found: Panel, sort: str) -> list[PanelRow]:
    """The widest spread, the highest score or what most is missing of first; rows without such a figure last."""

    def figure(row: PanelRow) -> float | None:
        match sort:
            case "mean":
                return row.mean
            case "spread":
                return row.spread
            case "score":
                return row.score
            case "missing":
                return row.assigned - len(row.opinions)
            case _:
                return None

    return sorted(found.rows, key=lambda row: (figure(row) is None, -(figure(row) or 0.0)))
