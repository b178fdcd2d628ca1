"""Who reviews a call: `/v1/batches/{id}/reviewers`."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends
from pydantic import Field

from orchestrator.access.roles import MemberId
from orchestrator.api.acting import Assigner, Inviter, PeopleReader, actor_of
from orchestrator.api.common_schemas import Body, Resource
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.identifiers import PathId
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import HttpProblem
from orchestrator.api.routes.members import Affiliation, Email
from orchestrator.api.routes.tenants import Name
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.models import Member, NewMember

__all__ = [
    "AskedReviewers",
    "CallInvitationBody",
    "CallReviewers",
    "CallReviewersBody",
    "ChosenOutcome",
    "ReviewerId",
    "WithdrawnAssignment",
    "asked_reviewers",
    "choose_reviewers",
    "invite_reviewer",
    "router",
]

ReviewerId = Annotated[str, Field(pattern=r"^mb_[A-Za-z0-9]{1,60}$")]

router = APIRouter(prefix="/v1/batches/{id}/reviewers", tags=["reviewing"])


class CallReviewers(Resource):
    chosen: bool
    """False: nobody was chosen, and all reviewers are asked."""
    reviewers: tuple[Member, ...]
    """Who gets proposals when they are assigned, by name, unless they could read the reports in another role
    (`not_blind` of an assignment). Of those chosen, the ones who still are reviewers."""


class CallReviewersBody(Body):
    reviewers: tuple[ReviewerId, ...] | None = Field(min_length=1, max_length=5_000)
    """These and nobody else; null: all members who are reviewers, as if nobody had been chosen."""
    dry_run: bool = False
    """Only say what would change."""


class CallInvitationBody(Body):
    name: Name
    email: Email
    """By it they are known when they first sign in with an identity provider."""
    affiliation: Affiliation = ""
    """Institutions, separated by semicolons: proposals from there are not assigned to them."""
    mails: bool = True
    """Whether they are told by mail: of this invitation and call, and of proposals assigned to them."""


class WithdrawnAssignment(Resource):
    evaluation: str
    member: str


class ChosenOutcome(Resource):
    """What a choice changed, or would."""

    dry_run: bool
    added: tuple[str, ...]
    removed: tuple[str, ...]
    """Chosen before, and no more."""
    withdrawn: tuple[WithdrawnAssignment, ...]
    """Assignments without an opinion that end. The next assignment gives their proposals to others."""


class AskedReviewers(NamedTuple):
    """Who gets proposals of a call."""

    chosen: frozenset[MemberId] | None
    """None: nobody was chosen. Some may review no more."""
    people: list[Member]
    """Who is asked, by name."""


@router.get("", responses=problem_responses(404, 410, 422))
async def reviewers(id: PathId, caller: PeopleReader, services: ServicesDependency) -> CallReviewers:
    """Who reviews a batch: those chosen and invited for it; where nobody was, all members who are reviewers."""
    batch = (await services.find_batch(caller.tenant, id)).id
    asked = await asked_reviewers(services, caller.tenant, batch)
    return CallReviewers(chosen=asked.chosen is not None, reviewers=tuple(asked.people))


@router.put("", responses=problem_responses(400, 404, 409, 410, 413, 415, 422), dependencies=[Depends(json_only)])
async def choose_reviewers(
    id: PathId, body: CallReviewersBody, caller: Assigner, services: ServicesDependency
) -> ChosenOutcome:
    """Chooses who reviews a batch, and nobody else: proposals are assigned to them alone. Assignments of others end,
    unless an opinion was given, which stays."""
    batch, now = (await services.find_batch(caller.tenant, id)).id, services.clock.now()
    if sign_off := await services.decisions.signed_off(caller.tenant, batch):
        raise HttpProblem("conflict", f"The call {batch} was signed off on {sign_off.at:%Y-%m-%d}. Nothing changes.")
    wanted = None if body.reviewers is None else await _known(services, caller.tenant, body.reviewers)
    stored = services.call_reviewers
    if not body.dry_run:
        added, removed, ended = await stored.choose(caller.tenant, batch, wanted, actor_of(caller), now)
    else:
        before = await stored.chosen(caller.tenant, batch) or frozenset()
        added = [one for one in wanted or () if one not in before]
        removed = sorted(before - set(wanted or ()))
        ended = [] if wanted is None else await stored.ending(caller.tenant, batch, wanted)
    return ChosenOutcome(dry_run=body.dry_run, added=tuple(added), removed=tuple(removed), withdrawn=_withdrawn(ended))


@router.post(
    "",
    status_code=201,
    responses=problem_responses(400, 404, 409, 410, 413, 415, 422),
    dependencies=[Depends(json_only)],
)
async def invite_reviewer(
    id: PathId, body: CallInvitationBody, caller: Inviter, services: ServicesDependency
) -> Member:
    """Invites somebody to review a batch: they become a member who is a reviewer, are told by mail of which call, and
    are chosen for it beside those chosen before; where nobody was, beside those alone who have proposals of it. A
    reviewer who has the address already is chosen, and stays as they are. Whoever could read its reports
    in another role is refused: no first opinion of theirs would be blind."""
    batch = (await services.find_batch(caller.tenant, id)).id
    new = NewMember(**body.model_dump(), role="reviewer")
    member = MemberId(services.new_id("mb"))
    return await services.call_reviewers.invite(
        caller.tenant, batch, member, new, actor_of(caller), services.clock.now()
    )


async def asked_reviewers(services: Services, tenant: TenantId, batch: BatchId) -> AskedReviewers:
    """Of a batch that is there."""
    chosen = await services.call_reviewers.chosen(tenant, batch)
    reviewing = [one for one in await services.members.list(tenant) if one.role == "reviewer" and not one.removed_at]
    return AskedReviewers(chosen, [one for one in reviewing if chosen is None or one.id in chosen])


async def _known(services: Services, tenant: TenantId, named: Sequence[str]) -> list[MemberId]:
    """Each once, in their order. Raises HttpProblem."""
    reviewing = {one.id for one in await services.members.list(tenant) if one.role == "reviewer" and not one.removed_at}
    strangers = sorted(set(named) - reviewing)
    if strangers:
        raise HttpProblem.invalid(f"These are no reviewers of yours: {', '.join(strangers[:20])}.", "/reviewers")
    return [MemberId(one) for one in dict.fromkeys(named)]


def _withdrawn(ended: Sequence[tuple[JobId, MemberId]]) -> tuple[WithdrawnAssignment, ...]:
    return tuple(WithdrawnAssignment(evaluation=evaluation, member=member) for evaluation, member in ended)
