"""Reviewers' bids on a call's proposals."""

from typing import NamedTuple

from assayer_client.expertise import BiddableProposal, BidsBody
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import BatchId, TenantId
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.models import Member
from orchestrator.services.assignments import AssignmentPlanner

_DEFAULT_CONFLICT_REASON = "Declared by the reviewer when bidding."


class InterestsNotDeclared(HttpProblem):
    """Raised if a reviewer has not declared their conflicts of interest yet."""

    def __init__(self) -> None:
        super().__init__(
            "conflict",
            "Declare your conflicts of interest (institutions and people) before you see the proposals. If there are "
            "none, save the empty lists.",
        )


class BidsPage(NamedTuple):
    proposals: list[BiddableProposal]
    total: int
    """Number of proposals on all pages."""
    bid_count: int
    """Number of bids on all pages."""
    page_number: int
    """The page's number, from 1."""
    page_count: int


async def find_biddable_proposals(
    planner: AssignmentPlanner, tenant: TenantId, batch: BatchId, member: Member
) -> list[BiddableProposal]:
    """Return the proposals that a reviewer may bid on, after checking for conflicts of interest. Raises HttpProblem if
    the reviewer is not asked to bid on the call, and InterestsNotDeclared if they have not declared their conflicts."""
    await _prepare_bidding(planner, tenant, batch, member)
    return await planner.reviewing.bids.list_proposals(tenant, member.id, batch)


async def get_bids_page(
    planner: AssignmentPlanner, tenant: TenantId, batch: BatchId, member: Member, page_number: int, size: int
) -> BidsPage:
    """Return one page of the proposals that `find_biddable_proposals` returns; if the page does not exist, return the
    nearest one. Raises the same exceptions."""
    await _prepare_bidding(planner, tenant, batch, member)
    bids = planner.reviewing.bids
    total, bid_count = await bids.count_proposals_and_bids(tenant, member.id, batch)
    page_count = max(1, -(-total // size))
    page_number = min(max(1, page_number), page_count)
    proposals = await bids.list_proposals(tenant, member.id, batch, size, (page_number - 1) * size)
    return BidsPage(proposals, total, bid_count, page_number, page_count)


async def _prepare_bidding(planner: AssignmentPlanner, tenant: TenantId, batch: BatchId, member: Member) -> None:
    if batch not in {call.id for call in await planner.reviewing.bids.list_calls(tenant, member.id)}:
        raise HttpProblem("conflict", f"You are not asked to bid on the call {batch}.")
    expertise = await planner.search_before_bids(tenant, batch, member)
    if expertise.declared_at is None:
        raise InterestsNotDeclared


async def place_bids(
    planner: AssignmentPlanner, tenant: TenantId, batch: BatchId, member: Member, body: BidsBody, by: ActBy
) -> None:
    """Store bids, and declare the conflicts of interest among them. Raises HttpProblem in the same cases as
    `find_biddable_proposals`, and ReviewRefused if the reviewer may not bid on one of the proposals."""
    await _prepare_bidding(planner, tenant, batch, member)
    reason = body.reason.strip() or _DEFAULT_CONFLICT_REASON
    await planner.reviewing.bids.save_bids(tenant, member.id, batch, body.bids, reason, by)
