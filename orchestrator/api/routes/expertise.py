"""Routes for reviewers' expertise and conflicts of interest, and for their bids on a call's proposals."""

from fastapi import APIRouter, BackgroundTasks

from assayer_client.expertise import (
    BiddableProposal,
    Bidding,
    BiddingBody,
    BidsBody,
    Expertise,
    ExpertiseBody,
    ExpertiseOutcome,
    ReviewerBid,
)
from assayer_client.resources import Page
from orchestrator.access.roles import MemberId
from orchestrator.api.permissions import Assigner, AssignmentReader, ConflictDeclarer, PeopleReader, ReviewerCaller
from orchestrator.problems import build_not_found_problem, require
from orchestrator.services.bids import find_biddable_proposals, place_bids
from orchestrator.services.members import get_member
from orchestrator.web.context import RouteContext
from orchestrator.web.path_parameters import CallInPath, PathId
from orchestrator.web.stored_expertise import store_expertise

router = APIRouter(tags=["reviewing"])


@router.get("/v1/members/{id}/expertise")
async def get_expertise(id: PathId, context: AssignmentReader) -> Expertise:
    """Return a member's expertise and declared conflicts of interest. Reviewers can read only their own."""
    _require_own_id(context, id)
    expertise = await context.reviewing.expertise.get(context.tenant, MemberId(id))
    return require(expertise, build_not_found_problem("member", id))


@router.put("/v1/members/{id}/expertise")
async def change_expertise(id: PathId, body: ExpertiseBody, context: ConflictDeclarer) -> ExpertiseOutcome:
    """Replace a member's keywords, papers, institutions and people. Papers are looked up in the corpus to get their
    abstracts; other papers in the corpus under the member's name are used to find co-authors. Reviewers can change only
    their own expertise. By storing institutions and people, they declare their conflicts of interest."""
    _require_own_id(context, id)
    member = await get_member(context.services.members, context.tenant, id)
    return await store_expertise(context.services, context.tenant, member, body, context.by)


@router.get("/v1/batches/{id}/bidding")
async def get_bidding(context: PeopleReader, batch: CallInPath) -> Bidding:
    """Return whether a batch's reviewers are asked for bids."""
    return Bidding(open=await context.reviewing.bids.is_open(context.tenant, batch.id))


@router.put("/v1/batches/{id}/bidding")
async def change_bidding(
    body: BiddingBody, context: Assigner, batch: CallInPath, background: BackgroundTasks
) -> Bidding:
    """Open or close bidding, in which a batch's reviewers state which proposals they would like to review. Reviewers
    see the proposals' titles (masked in blind mode) once they have declared their conflicts of interest."""
    await context.reviewing.bids.set_open(context.tenant, batch.id, body.open, context.by)
    if body.open:
        background.add_task(context.services.proposal_indexes.update_index, context.tenant, batch.id)
    return Bidding(open=body.open)


@router.get("/v1/batches/{id}/biddable-proposals")
async def list_biddable_proposals(id: PathId, context: ReviewerCaller) -> Page[BiddableProposal]:
    """List the proposals that the reviewer may bid on, with the bids already given. The best matches to their keywords
    and papers come first. Proposals with a conflict of interest are omitted, as are documents whose text has not been
    extracted yet. Rejected until the reviewer has declared institutions and people (`PUT
    /v1/members/{id}/expertise`)."""
    return Page(items=tuple(await _list_biddable(context, id)), next=None)


@router.put("/v1/batches/{id}/bids")
async def change_bids(id: PathId, body: BidsBody, context: ReviewerCaller) -> Page[BiddableProposal]:
    """Store bids on proposals in a batch, and return all proposals that the reviewer may bid on. Other bids are
    unchanged. The bid `conflict` declares a conflict of interest, which removes the proposal from the list."""
    batch = (await context.find_batch(id)).id
    member = await get_member(context.services.members, context.tenant, context.caller.subject)
    await place_bids(context.services.assignment_planner, context.tenant, batch, member, body, context.by)
    return Page(items=tuple(await _list_biddable(context, id)), next=None)


@router.get("/v1/batches/{id}/bids")
async def list_bids(context: PeopleReader, batch: CallInPath) -> Page[ReviewerBid]:
    """List all reviewers' bids in a batch. Conflicts of interest are not included; see the batch's conflicts."""
    return Page(items=tuple(await context.reviewing.bids.list_bids(context.tenant, batch.id)), next=None)


async def _list_biddable(context: RouteContext, id: str) -> list[BiddableProposal]:
    batch = (await context.find_batch(id)).id
    member = await get_member(context.services.members, context.tenant, context.caller.subject)
    return await find_biddable_proposals(context.services.assignment_planner, context.tenant, batch, member)


def _require_own_id(context: RouteContext, id: str) -> None:
    """Raise HttpProblem with status 404 if a reviewer asks about another member."""
    if context.caller.role == "reviewer" and id != context.caller.member:
        raise build_not_found_problem("member", id)
