"""`/console/calls/{id}/panel`: what a call's reviewers think, scores that officers set, and the call's sign-off."""

import asyncio
import math
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assayer.models import Absent
from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.identifiers import PathId
from orchestrator.api.problems import HttpProblem, not_there
from orchestrator.api.routes.panel import PanelPair, rows_of, whole_panel
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.models import JobId
from orchestrator.jobs.submissions import BatchStatus, count_unfinished
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.store.decisions import SignedDespite
from orchestrator.store.panels import PANEL_PAGE, PanelView

__all__ = ["router"]

router = APIRouter(prefix="/console/calls/{id}", tags=["pages"], include_in_schema=False)

_PAIRS = 50
"""Of reviewers, listed."""


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
        raise not_there("evaluation", evaluation, "proposal in this call")
    if len(reason.strip()) < 3:
        raise HttpProblem("conflict", "Say why, in three letters or more.")
    await services.decisions.override(who.tenant, job.id, score, reason.strip(), who.actor, services.clock.now())
    return RedirectResponse(f"/console/proposals/{job.id}#people", 303)


@router.post("/sign-off")
async def sign_off(
    id: PathId,
    request: Request,
    who: Annotated[SignedIn, Depends(allowed_to("sign off"))],
    services: ServicesDependency,
    note: Annotated[str, Form(max_length=5_000)] = "",
    despite_missing: Annotated[bool, Form()] = False,
    despite_unfinished: Annotated[bool, Form()] = False,
) -> Response:
    """Closes the call: afterwards nothing about it changes."""
    call = await services.find_batch(who.tenant, id)
    try:
        despite = SignedDespite(despite_missing, despite_unfinished)
        await services.decisions.sign_off(who.tenant, call.id, note.strip(), despite, who.actor, services.clock.now())
    except ReviewRefused as refusal:
        return await _shown(request, who, services, call, fault=str(refusal), note=note)
    return RedirectResponse(f"/console/calls/{call.id}/panel#sign-off", 303)


async def _shown(
    request: Request,
    who: SignedIn,
    services: Services,
    call: BatchStatus,
    view: PanelView | None = None,
    *,
    fault: str = "",
    note: str = "",
) -> Response:
    """`note` is what was typed into the form that was refused."""
    view = view or PanelView()
    page, found, members, signed = await asyncio.gather(
        services.panels.page(who.tenant, call.id, view),
        whole_panel(services, who.tenant, call.id),
        services.members.list(who.tenant),
        services.decisions.signed_names(who.tenant, call.id),
    )
    opinions = await services.opinions.of_proposals(who.tenant, [one.evaluation for one in page.proposals])
    return page_response(
        "panel.html",
        request,
        who,
        status=409 if fault else 200,
        call=call,
        panel=found,
        unfinished=count_unfinished(call.counts),
        pairs=sorted(found.blind.pairs, key=_least_agreed)[:_PAIRS],
        rows=rows_of(page.proposals, opinions),
        matching=page.matching,
        pages=max(1, -(-page.matching // PANEL_PAGE)),
        view=view,
        parameters=view.model_dump(include={"sort", "only"}, exclude_defaults=True),
        fault=fault,
        note=note,
        people={str(one.id): one.name for one in members} | signed,
    )


def _least_agreed(pair: PanelPair) -> float:
    """Pairs of whom nothing is known come last."""
    return math.inf if isinstance(pair.kappa, Absent) else pair.kappa
