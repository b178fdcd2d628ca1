"""Pages under `/console/bids`: the calls on which a reviewer is asked to bid, and the bids on one call's proposals."""

from collections.abc import Mapping
from typing import get_args

from fastapi import APIRouter
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assayer_client.expertise import Bid, BidsBody
from orchestrator.console.page_context import PageContext, Reviewer
from orchestrator.jobs.models import JobId
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.reviewing.redacted_reports import build_numbered_title
from orchestrator.services.bids import BidsPage, InterestsNotDeclared, get_bids_page, place_bids
from orchestrator.services.members import get_member
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/console/bids", tags=["pages"], include_in_schema=False)

_PAGE_SIZE = 50
_BIDS_BY_VALUE: Mapping[str, Bid] = {bid: bid for bid in get_args(Bid)}


@router.get("")
async def list_calls_for_bids(context: Reviewer) -> Response:
    """List the calls on which the reviewer is asked to bid."""
    calls = await context.reviewing.bids.list_calls(context.tenant, context.caller.subject)
    return context.render_page("bids.html", calls=calls, call=None)


@router.get("/{id}")
async def show_bids(id: PathId, context: Reviewer, page: int = 1, saved: int = 0) -> Response:
    """Show the proposals that the reviewer may bid on, once they have declared their conflicts of interest. `saved` is
    the number of bids just stored."""
    return await _render_bids(context, id, page, saved=saved)


@router.post("/{id}")
async def change_bids(id: PathId, context: Reviewer, page: int = 1) -> Response:
    """Store the bids from one page of proposals."""
    batch = (await context.find_batch(id)).id
    form_items = (await context.request.form()).multi_items()
    bid_by_job = {
        JobId(name[4:]): _BIDS_BY_VALUE.get(str(value)) for name, value in form_items if name.startswith("bid-")
    }
    if bid_by_job:
        member = await get_member(context.services.members, context.tenant, context.caller.subject)
        try:
            planner = context.services.assignment_planner
            await place_bids(planner, context.tenant, batch, member, BidsBody(bids=bid_by_job), context.by)
        except (HttpProblem, ReviewRefused) as refusal:
            return await _render_bids(context, id, page, fault=str(refusal))
    return RedirectResponse(f"/console/bids/{id}?page={page}&saved={len(bid_by_job)}", 303)


async def _render_bids(context: PageContext, id: str, page: int, *, fault: str = "", saved: int = 0) -> Response:
    batch = (await context.find_batch(id)).id
    calls = await context.reviewing.bids.list_calls(context.tenant, context.caller.subject)
    call = next((open_call for open_call in calls if open_call.id == batch), None)
    if call is None:
        raise HttpProblem("conflict", "You are not asked to bid on this call, or bidding is closed.")
    member = await get_member(context.services.members, context.tenant, context.caller.subject)
    planner = context.services.assignment_planner
    undeclared_notice = ""
    bids_page = BidsPage([], 0, 0, 1, 1)
    try:
        bids_page = await get_bids_page(planner, context.tenant, batch, member, page, _PAGE_SIZE)
    except InterestsNotDeclared as problem:
        undeclared_notice = problem.detail
    return context.render_page(
        "bids.html",
        status=409 if fault else 200,
        calls=calls,
        call=call,
        fault=fault,
        saved=saved,
        undeclared_notice=undeclared_notice,
        has_untitled=any(proposal.title == build_numbered_title(proposal.row) for proposal in bids_page.proposals),
        bids_page=bids_page,
        first=(bids_page.page_number - 1) * _PAGE_SIZE + 1,
    )
