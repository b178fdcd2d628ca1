"""Routes `/v1/batches/{id}/reviewers`: the reviewers of a call."""

from fastapi import APIRouter

from assayer_client.reviewing import CallInvitationBody, CallReviewers, CallReviewersBody, ChosenOutcome
from orchestrator.access.roles import MemberId
from orchestrator.api.acting import Assigner, Inviter, PeopleReader
from orchestrator.reviewing.models import Member, NewMember
from orchestrator.services import call_reviewers
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/v1/batches/{id}/reviewers", tags=["reviewing"])


@router.get("")
async def get_reviewers(id: PathId, context: PeopleReader) -> CallReviewers:
    """List the reviewers of a batch: those chosen for it or invited to it or, if there are none, all members with the
    reviewer role."""
    batch = (await context.find_batch(id)).id
    asked = await call_reviewers.asked_reviewers(
        context.services.members, context.reviewing.call_reviewers, context.tenant, batch
    )
    return CallReviewers(chosen=asked.chosen is not None, reviewers=tuple(asked.people))


@router.put("")
async def choose_reviewers(id: PathId, body: CallReviewersBody, context: Assigner) -> ChosenOutcome:
    """Choose the reviewers of a batch. Its proposals are then assigned only to them. Other reviewers' assignments end,
    except those with an opinion."""
    batch = (await context.find_batch(id)).id
    return await call_reviewers.choose_reviewers(
        context.services.members, context.reviewing, context.tenant, batch, body, context.by
    )


@router.post("", status_code=201)
async def invite_reviewer(id: PathId, body: CallInvitationBody, context: Inviter) -> Member:
    """Invite a person, by email, to review a batch. They become a member with the reviewer role and join the reviewers
    chosen for the batch; if none were chosen, they join those who already have proposals of it. An existing reviewer
    with this address is chosen and otherwise unchanged. A person who can read the reports in another role is rejected,
    because their first opinion would not be blind."""
    batch = (await context.find_batch(id)).id
    member = MemberId(context.services.new_id("mb"))
    new = NewMember(**body.model_dump(), role="reviewer")
    return await context.reviewing.call_reviewers.invite(context.tenant, batch, member, new, context.by)
