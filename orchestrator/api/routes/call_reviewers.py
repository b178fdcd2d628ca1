"""Routes `/v1/batches/{id}/reviewers`: the reviewers of a call."""

from fastapi import APIRouter

from assayer_client.reviewing import CallInvitationBody, CallReviewers, CallReviewersBody, ChosenOutcome
from orchestrator.access.roles import MemberId
from orchestrator.api.permissions import Assigner, Inviter, PeopleReader
from orchestrator.reviewing.models import Member, NewMember
from orchestrator.services import call_reviewers
from orchestrator.web.path_parameters import CallInPath

router = APIRouter(prefix="/v1/batches/{id}/reviewers", tags=["reviewing"])


@router.get("")
async def get_reviewers(context: PeopleReader, call: CallInPath) -> CallReviewers:
    """List a batch's reviewers: those chosen for it or invited to it. If there are none, all members with the reviewer
    role are listed."""
    reviewers = await call_reviewers.get_call_reviewers(
        context.services.members, context.reviewing.call_reviewers, context.tenant, call.id
    )
    return CallReviewers(chosen=reviewers.chosen is not None, reviewers=tuple(reviewers.people))


@router.put("")
async def choose_reviewers(body: CallReviewersBody, context: Assigner, call: CallInPath) -> ChosenOutcome:
    """Choose a batch's reviewers. From then on, its proposals are assigned only to them. Other reviewers' assignments
    end, except those with an opinion."""
    return await call_reviewers.choose_reviewers(
        context.services.members, context.reviewing, context.tenant, call.id, body, context.by
    )


@router.post("", status_code=201)
async def invite_reviewer(body: CallInvitationBody, context: Inviter, call: CallInPath) -> Member:
    """Invite a person by email to review a batch. They become a member with the reviewer role and join the reviewers
    chosen for the batch. If none were chosen, those with assignments in the batch are chosen as well. An existing
    reviewer with this address is chosen but otherwise unchanged. Rejected if the person could read the reports in
    another role, because their first opinion would not be blind."""
    member = MemberId(context.services.new_id("mb"))
    new_member = NewMember(**body.model_dump(), role="reviewer")
    return await context.reviewing.call_reviewers.invite(context.tenant, call.id, member, new_member, context.by)
