"""Who reviews what: `/v1/batches/{id}/assignments`, `/v1/assignments`, and conflicts of interest."""

import asyncio
import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from orchestrator.access.audit_chain import Actor
from orchestrator.access.roles import MemberId
from orchestrator.api.acting import Assigner, PeopleReader, acting, actor_of
from orchestrator.api.common_schemas import Body, Explained, Page, Resource
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.identifiers import PathId
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import HttpProblem, not_there
from orchestrator.api.routes.call_reviewers import ReviewerId, asked_reviewers
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.assigning import AssignmentPlan, plan_assignments
from orchestrator.reviewing.conflict_search import ConflictSearch, Interest
from orchestrator.reviewing.models import Assignment, ConflictOfInterest, Member
from orchestrator.store.assignments import ProposalText

__all__ = [
    "AssignBody",
    "AssignmentOutcome",
    "ConflictBody",
    "DraftOfAssignments",
    "UnfilledProposal",
    "draft_assignments",
    "keep_draft",
    "router",
]

Reason = Annotated[str, Explained, Field(max_length=2_000)]

router = APIRouter(tags=["reviewing"])


class AssignBody(Body):
    per_proposal: int = Field(default=2, ge=1, le=10)
    """Reviewers of each proposal, those that it has included."""
    reviewers: tuple[ReviewerId, ...] | None = Field(default=None, min_length=1, max_length=500)
    """Of those who review the call; null: all of them. Where nobody was chosen for it, they are all reviewers."""
    dry_run: bool = False
    """Only say who would get what."""


class UnfilledProposal(Resource):
    """A proposal that does not get as many reviewers as it should."""

    evaluation: str
    title: str
    missing: int


class AssignmentOutcome(Resource):
    """What was assigned, or would be."""

    dry_run: bool
    assigned: int
    withdrawn: int
    """Assignments without an opinion that end: a conflict of interest bars them, or their person reviews no more, or
    could read the reports."""
    loads: dict[str, int]
    """Proposals of this call by reviewer, those from before included."""
    unfilled: tuple[UnfilledProposal, ...]
    conflicts: tuple[ConflictOfInterest, ...]
    """All that stand, declared and found."""
    not_blind: tuple[str, ...]
    """Reviewers who get none of this call: another role let them read its reports, so that a first opinion of theirs
    would not be blind."""
    not_searched: tuple[str, ...]
    """Proposals whose text is not there yet, as they came as documents: nothing could be looked for in them."""


class ConflictBody(Body):
    reviewer: ReviewerId | None = None
    """Null: oneself."""
    reason: Reason


class AssignmentsQuery(Body):
    batch: str | None = Field(default=None, max_length=64)
    limit: int = Field(default=1_000, ge=1, le=10_000)


class OfReviewer(Body):
    reviewer: ReviewerId


class ClearQuery(OfReviewer):
    reason: Reason
    """Why it is no conflict after all."""


class DraftOfAssignments(NamedTuple):
    """What an assignment would be."""

    plan: AssignmentPlan
    people: tuple[Member, ...]
    proposals: tuple[ProposalText, ...]
    loads: dict[str, int]
    """Proposals of this call by reviewer, those from before included."""
    conflicts: tuple[ConflictOfInterest, ...]
    """All that stand."""
    ending: tuple[Assignment, ...]
    """Those without an opinion that a conflict bars, or whose person has been removed, reviews no more, or could read
    the reports."""
    not_blind: tuple[MemberId, ...]
    """Reviewers who could read the reports: they get nothing."""


@router.post(
    "/v1/batches/{id}/assignments",
    responses=problem_responses(400, 404, 409, 410, 413, 415, 422),
    dependencies=[Depends(json_only)],
)
async def assign(id: PathId, body: AssignBody, caller: Assigner, services: ServicesDependency) -> AssignmentOutcome:
    """Assigns reviewers to all proposals of a batch: nobody with a conflict of interest, all with about the same load.
    Conflicts are also looked for, by names and affiliations. What was assigned before stays, unless there is no
    opinion and a conflict bars it, or whoever has it reviews no more: it ends, and somebody else gets the proposal. An
    opinion that a conflict bars counts for nobody's. Nor does anybody get what was sent before another role of theirs
    ended in which they could read its reports (`not_blind`; 422 where such a reviewer is named): first opinions are
    blind."""
    batch = (await services.find_batch(caller.tenant, id)).id
    draft = await draft_assignments(services, caller.tenant, batch, body)
    loads, short, assigned = Counter(draft.loads), Counter(draft.plan.short), len(draft.plan.pairs)
    if not body.dry_run:
        kept = set(await keep_draft(services, caller.tenant, batch, draft, actor_of(caller)))
        lost = [pair for pair in draft.plan.pairs if pair not in kept]
        loads.subtract(member for _, member in lost)
        short.update(evaluation for evaluation, _ in lost)
        assigned = len(kept)
    titles = {one.id: one.title for one in draft.proposals}
    return AssignmentOutcome(
        dry_run=body.dry_run,
        assigned=assigned,
        withdrawn=len(draft.ending),
        loads=loads,
        unfilled=tuple(
            UnfilledProposal(evaluation=one, title=titles[JobId(one)], missing=count) for one, count in short.items()
        ),
        conflicts=draft.conflicts,
        not_blind=tuple(map(str, draft.not_blind)),
        not_searched=tuple(one.id for one in draft.proposals if one.text is None),
    )


async def draft_assignments(
    services: Services, tenant: TenantId, batch: BatchId, body: AssignBody, *, search: bool = True
) -> DraftOfAssignments:
    """Who would get what; keeps the conflicts that are found on the way. Without a search, those count that are kept
    already. Raises HttpProblem."""
    if await services.decisions.signed_off(tenant, batch) is not None:
        raise HttpProblem("conflict", f"The call {batch} is signed off. Nothing about it changes.")
    not_blind = await services.assignments.not_blind(tenant, batch)
    people = await _reviewers(services, tenant, batch, body.reviewers, not_blind)
    proposals = await services.assignments.proposals(tenant, batch)
    interests = [Interest(one.id, one.name, one.affiliation, one.email) for one in people]
    if search:
        found = await asyncio.to_thread(_found, proposals, interests)
        await services.assignments.keep_found(found, services.clock.now())
    conflicts = [one for one in await services.assignments.conflicts(tenant, batch=batch) if not one.cleared]
    before = await services.assignments.queue(tenant, member=None, batch=batch, limit=100_000)
    conflicted = {(str(one.evaluation), str(one.member)) for one in conflicts}
    reviewing = {one.id for one in await services.members.list(tenant) if one.role == "reviewer" and not one.removed_at}
    reviewing -= set(not_blind)
    ending = tuple(
        one
        for one in before
        if one.opinion == "none" and ((one.evaluation, one.member) in conflicted or one.member not in reviewing)
    )
    counting = [one for one in before if (one.evaluation, one.member) not in conflicted and one not in ending]
    has = Counter(one.evaluation for one in counting)
    loads = Counter[str](one.member for one in before if one not in ending)
    barred = conflicted | {(str(one.evaluation), str(one.member)) for one in before}
    wanted = {str(one.id): max(0, body.per_proposal - has[one.id]) for one in proposals}
    plan = await asyncio.to_thread(plan_assignments, wanted, [str(one.id) for one in people], barred, loads)
    new = Counter(member for _, member in plan.pairs)
    total = {str(one.id): loads[one.id] + new[str(one.id)] for one in people}
    return DraftOfAssignments(
        plan, tuple(people), tuple(proposals), total, tuple(conflicts), ending, tuple(sorted(not_blind))
    )


async def keep_draft(
    services: Services, tenant: TenantId, batch: BatchId, draft: DraftOfAssignments, actor: Actor
) -> list[tuple[JobId, MemberId]]:
    """Assigns what was drafted and still can be, and answers with that."""
    if not draft.plan.pairs and not draft.ending:
        return []
    pairs = [(JobId(evaluation), MemberId(member)) for evaluation, member in draft.plan.pairs]
    return await services.assignments.assign(tenant, batch, pairs, actor, services.clock.now())


@router.get("/v1/assignments", responses=problem_responses(422))
async def queue(
    query: Annotated[AssignmentsQuery, Query()],
    caller: Annotated[AuthenticatedCaller, Depends(acting("see people", "give opinions", scope="read"))],
    services: ServicesDependency,
) -> Page[Assignment]:
    """A reviewer's own queue, first what waits for an opinion, with masked titles where proposals are judged blind; for
    others, everybody's."""
    batch = None if query.batch is None else BatchId(query.batch)
    if caller.role == "reviewer":
        own = caller.member or MemberId(caller.key)
        found = await services.assignments.queue_of_reviewer(caller.tenant, own, batch, query.limit)
    else:
        found = await services.assignments.queue(caller.tenant, member=None, batch=batch, limit=query.limit)
    return Page(items=tuple(found), next=None)


@router.delete("/v1/evaluations/{id}/assignments", status_code=204, responses=problem_responses(404, 409, 410, 422))
async def withdraw(
    id: PathId, query: Annotated[OfReviewer, Query()], caller: Assigner, services: ServicesDependency
) -> None:
    """Takes a proposal from a reviewer who has not given an opinion on it."""
    member, now = MemberId(query.reviewer), services.clock.now()
    if not await services.assignments.withdraw(caller.tenant, JobId(id), member, actor_of(caller), now):
        raise not_there("evaluation", id, "assignment without an opinion")


@router.get("/v1/batches/{id}/conflicts", responses=problem_responses(404, 410, 422))
async def conflicts(id: PathId, caller: PeopleReader, services: ServicesDependency) -> Page[ConflictOfInterest]:
    """Conflicts of interest of a batch: declared, and found when reviewers were assigned; cleared ones included."""
    batch = await services.find_batch(caller.tenant, id)
    return Page(items=tuple(await services.assignments.conflicts(caller.tenant, batch=batch.id)), next=None)


@router.post(
    "/v1/evaluations/{id}/conflicts",
    responses=problem_responses(400, 404, 409, 410, 413, 415, 422),
    dependencies=[Depends(json_only)],
)
async def declare(
    id: PathId,
    body: ConflictBody,
    caller: Annotated[AuthenticatedCaller, Depends(acting("assign reviewers", "give opinions", scope="manage"))],
    services: ServicesDependency,
) -> ConflictOfInterest:
    """Says that somebody must not review a proposal: reviewers of themselves, officers of anybody. An assignment
    without an opinion ends thereby."""
    member = MemberId(body.reviewer or caller.member or "")
    if caller.role == "reviewer":
        if member != caller.member:
            raise HttpProblem("forbidden", "A reviewer declares conflicts of their own.")
        if await services.assignments.standing(caller.tenant, JobId(id), member) is None:
            raise not_there("evaluation", id)
    if not member:
        raise HttpProblem.invalid("Say whose conflict it is: you are no reviewer.", "/reviewer")
    declared = await services.assignments.declare(
        caller.tenant, JobId(id), member, body.reason, actor_of(caller), services.clock.now()
    )
    if declared is None:
        raise not_there("evaluation", id, "evaluation or reviewer")
    return declared


@router.delete("/v1/evaluations/{id}/conflicts", responses=problem_responses(404, 409, 410, 422))
async def clear(
    id: PathId, query: Annotated[ClearQuery, Query()], caller: Assigner, services: ServicesDependency
) -> ConflictOfInterest:
    """Says why a conflict, declared or found, is none after all. It stays on record."""
    cleared = await services.assignments.clear(
        caller.tenant, JobId(id), MemberId(query.reviewer), query.reason, actor_of(caller), services.clock.now()
    )
    if cleared is None:
        raise not_there("evaluation", id, "conflict of interest")
    return cleared


def _found(proposals: Sequence[ProposalText], people: Sequence[Interest]) -> list[tuple[JobId, MemberId, str, str]]:
    search = ConflictSearch(people)
    return [
        (proposal.id, one.member, one.source, one.words)
        for proposal in proposals
        if proposal.text is not None
        for one in search.found(proposal.title, proposal.text)
    ]


async def _reviewers(
    services: Services,
    tenant: TenantId,
    batch: BatchId,
    named: tuple[str, ...] | None,
    not_blind: Mapping[MemberId, dt.datetime],
) -> list[Member]:
    """Of those who review the call, without those whose first opinions would not be blind. Raises HttpProblem, also
    where one of them is named."""
    asked = await asked_reviewers(services, tenant, batch)
    found = [one for one in asked.people if named is None or one.id in named]
    if strangers := sorted(set(named or ()) - {one.id for one in found}):
        who = "are no reviewers of yours" if asked.chosen is None else "do not review this call"
        raise HttpProblem.invalid(f"These {who}: {', '.join(strangers)}.", "/reviewers")
    if not found and asked.chosen is not None:
        detail = "Nobody who was chosen for this call is a reviewer any more. Choose or invite others"
        raise HttpProblem("conflict", f"{detail}: PUT or POST /v1/batches/{batch}/reviewers.")
    if not found:
        raise HttpProblem("conflict", f"There are no reviewers. Invite some: POST /v1/batches/{batch}/reviewers.")
    blind = [one for one in found if one.id not in not_blind]
    if named is not None and len(blind) < len(found):
        said = " ".join(
            f"{one.name} could read the reports of this call until {not_blind[one.id]:%Y-%m-%d}, in another role: a "
            "first opinion would not be blind."
            for one in found
            if one.id in not_blind
        )
        raise HttpProblem.invalid(said, "/reviewers")
    if not blind:
        who = "All reviewers" if asked.chosen is None else "All who were chosen for this call"
        whose = f"{who} could read the reports in another role: no first opinion would be blind."
        raise HttpProblem("conflict", f"{whose} Invite others: POST /v1/batches/{batch}/reviewers.")
    return blind
