"""Pages under `/console/calls/{id}/panel`: the reviewers' opinions of a call, score overrides, and the call's
sign-off."""

import asyncio
import math
from typing import Annotated

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assayer_client.resources import Absent
from assayer_client.reviewing import PanelPair
from orchestrator.console.page_context import Overrider, PageContext, PanelReader, Signer
from orchestrator.jobs.submissions import BatchStatus, count_unfinished
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.services.panels import rows_of, whole_panel
from orchestrator.store.decisions import SignedDespite
from orchestrator.store.panels import PanelView
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/console/calls/{id}", tags=["pages"], include_in_schema=False)

_PAIRS = 50
"""Maximum number of reviewer pairs listed."""


@router.get("/panel")
async def panel(id: PathId, context: PanelReader, view: Annotated[PanelView, Query()]) -> Response:
    """Show the opinions of a call's reviewers."""
    return await _show(context, await context.find_batch(id), view)


@router.post("/override")
async def override(
    id: PathId,
    context: Overrider,
    evaluation: Annotated[str, Form(max_length=64)],
    score: Annotated[int, Form(ge=1, le=5)],
    reason: Annotated[str, Form(max_length=5_000)],
) -> Response:
    """Set the final score of a proposal of the call, overriding the reviewers' combined score."""
    call = await context.find_batch(id)
    job = await context.find_proposal(call, evaluation)
    if len(reason.strip()) < 3:
        raise HttpProblem("conflict", "Give a reason (at least 3 characters).")
    await context.reviewing.decisions.override(context.tenant, job, score, reason.strip(), context.by)
    return RedirectResponse(f"/console/proposals/{job}#people", 303)


@router.post("/sign-off")
async def sign_off(
    id: PathId,
    context: Signer,
    note: Annotated[str, Form(max_length=5_000)] = "",
    despite_missing: Annotated[bool, Form()] = False,
    despite_unfinished: Annotated[bool, Form()] = False,
) -> Response:
    """Sign off the call, which can no longer be changed afterwards."""
    call = await context.find_batch(id)
    try:
        despite = SignedDespite(despite_missing, despite_unfinished)
        await context.reviewing.decisions.sign_off(context.tenant, call.id, note.strip(), despite, context.by)
    except ReviewRefused as refusal:
        return await _show(context, call, fault=str(refusal), note=note)
    return RedirectResponse(f"/console/calls/{call.id}/panel#sign-off", 303)


async def _show(
    context: PageContext, call: BatchStatus, view: PanelView | None = None, *, fault: str = "", note: str = ""
) -> Response:
    """Render the panel page. If sign-off was refused, `fault` states why and `note` is the text that was entered."""
    view = view or PanelView()
    page, panel, members, signed = await asyncio.gather(
        context.reviewing.panels.page(context.tenant, call.id, view),
        whole_panel(context.reviewing, context.tenant, call.id),
        context.services.members.list(context.tenant),
        context.reviewing.decisions.signed_names(context.tenant, call.id),
    )
    proposals = [proposal.evaluation for proposal in page.rows]
    opinions = await context.reviewing.opinions.of_proposals(context.tenant, proposals)
    return context.page(
        "panel.html",
        status=409 if fault else 200,
        call=call,
        panel=panel,
        unfinished=count_unfinished(call.counts),
        pairs=sorted(panel.blind.pairs, key=_by_agreement)[:_PAIRS],
        page=page,
        rows=rows_of(page.rows, opinions),
        view=view,
        parameters=view.model_dump(include={"sort", "only"}, exclude_defaults=True),
        fault=fault,
        note=note,
        people={str(member.id): member.name for member in members} | signed,
    )


def _by_agreement(pair: PanelPair) -> float:
    """Return the sort key that lists the pairs with the lowest agreement first, and pairs of unknown agreement last."""
    return math.inf if isinstance(pair.kappa, Absent) else pair.kappa
