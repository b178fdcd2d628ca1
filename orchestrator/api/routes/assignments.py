"""Routes that assign reviewers to proposals, and routes for conflicts of interest."""

import asyncio
from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from assayer_client.resources import Page
from assayer_client.reviewing import (
    AssignBody,
    AssignmentOutcome,
    AssignOneBody,
    ConflictBody,
    ConflictReason,
    PlannedAssignment,
    ReviewerId,
    UnfilledProposal,
)
from orchestrator.access.roles import MemberId
from orchestrator.api.permissions import Assigner, AssignmentReader, ConflictDeclarer, PeopleReader
from orchestrator.api.url_queries import UrlQuery
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.problems import HttpProblem, build_missing_problem, require
from orchestrator.reviewing.models import Assignment, ConflictOfInterest
from orchestrator.web.path_parameters import CallInPath, EvaluationInPath, PathId

router = APIRouter(tags=["reviewing"])


class AssignmentsQuery(UrlQuery):
    batch: str | None = Field(default=None, max_length=64)
    limit: int = Field(default=1_000, ge=1, le=10_000)


class ReviewerQuery(UrlQuery):
    reviewer: ReviewerId


class ClearConflictQuery(ReviewerQuery):
    reason: ConflictReason
    """The reason why there is no conflict after all."""


@router.post("/v1/batches/{id}/assignments")
async def assign_reviewers(body: AssignBody, context: Assigner, call: CallInPath) -> AssignmentOutcome:
    """Assign reviewers to all proposals in a batch. Reviewers are chosen either by expertise and bids or so that load
    is even. Reviewers with a conflict of interest are excluded; conflicts are also detected from names, institutions
    and co-authors. Existing assignments are kept, with one exception: if there is no opinion yet and the reviewer has a
    conflict or no longer reviews, the proposal goes to another reviewer. An opinion from a reviewer with a conflict
    does not count. First opinions are blind, so reviewers who could read the call's reports in an earlier role get no
    assignments (`reviewers_not_blind`); naming one in the request is an error (422)."""
    draft = await context.services.assignment_planner.draft(context.tenant, call.id, body)
    loads, missing_by_proposal = Counter(draft.loads), Counter(draft.plan.missing_reviewers)
    if body.dry_run:
        reasons = await asyncio.to_thread(draft.explain_pairs, sorted(draft.plan.pairs))
    else:
        reasons = await context.services.assignment_planner.save(context.tenant, call.id, draft, context.by)
        pairs_without_reason = [pair for pair in draft.plan.pairs if pair not in reasons]
        loads.subtract(member for _, member in pairs_without_reason)
        missing_by_proposal.update(evaluation for evaluation, _ in pairs_without_reason)
    shortfalls = draft.explain_shortfalls(body.max_load)
    titles = {proposal.id: proposal.title for proposal in draft.proposals}
    return AssignmentOutcome(
        dry_run=body.dry_run,
        assigned=len(reasons),
        assignments=tuple(
            PlannedAssignment(evaluation=JobId(evaluation), member=MemberId(member), reason=reason)
            for (evaluation, member), reason in reasons.items()
        ),
        withdrawn=len(draft.assignments_to_end),
        loads=loads,
        unfilled_proposals=tuple(
            UnfilledProposal(
                evaluation=evaluation,
                title=titles[JobId(evaluation)],
                missing_reviewers=count,
                reason=shortfalls.get(
                    evaluation, "The reviewer or the proposal changed while assignments were being made."
                ),
            )
            for evaluation, count in missing_by_proposal.items()
        ),
        conflicts=draft.conflicts,
        reviewers_not_blind=tuple(map(str, draft.not_blind)),
        proposals_not_searched=tuple(proposal.id for proposal in draft.proposals if proposal.text is None),
    )


@router.post("/v1/evaluations/{id}/assignments", status_code=204)
async def assign_reviewer(body: AssignOneBody, context: Assigner, job: EvaluationInPath) -> None:
    """Assign a proposal to one specific reviewer. Rejected if the reviewer has a conflict of interest, could read the
    reports in an earlier role, or already has the proposal."""
    if job.batch is None:
        raise HttpProblem("conflict", "This evaluation is not part of a batch, so it cannot be reviewed.")
    member = MemberId(body.reviewer)
    await context.services.assignment_planner.assign_reviewer(context.tenant, job.batch, job.id, member, context.by)


@router.get("/v1/assignments")
async def list_assignments(query: Annotated[AssignmentsQuery, Query()], context: AssignmentReader) -> Page[Assignment]:
    """List assignments, beginning with those that still need an opinion. Reviewers see only their own, with masked
    titles in blind mode. Other roles see all assignments."""
    batch = None if query.batch is None else BatchId(query.batch)
    is_reviewer = context.caller.role == "reviewer"
    member = context.caller.subject if is_reviewer else None
    assignments = await context.reviewing.assignments.list_assignments(
        context.tenant, member=member, batch=batch, limit=query.limit, masked=is_reviewer
    )
    return Page(items=tuple(assignments), next=None)


@router.delete("/v1/evaluations/{id}/assignments", status_code=204)
async def withdraw_assignment(id: PathId, query: Annotated[ReviewerQuery, Query()], context: Assigner) -> None:
    """Withdraw an assignment that has no opinion yet."""
    member = MemberId(query.reviewer)
    if not await context.reviewing.assignments.withdraw(context.tenant, JobId(id), member, context.by):
        raise build_missing_problem(
            "evaluation",
            id,
            "The proposal is not assigned to this reviewer, or they have already given an opinion on it.",
        )


@router.get("/v1/batches/{id}/conflicts")
async def list_conflicts(context: PeopleReader, batch: CallInPath) -> Page[ConflictOfInterest]:
    """List the conflicts of interest in a batch: those declared, those detected when reviewers were assigned, and those
    cleared since."""
    return Page(items=tuple(await context.reviewing.assignments.list_conflicts(context.tenant, batch.id)), next=None)


@router.post("/v1/evaluations/{id}/conflicts")
async def declare_conflict(id: PathId, body: ConflictBody, context: ConflictDeclarer) -> ConflictOfInterest:
    """Declare that a reviewer must not review a proposal. Reviewers can declare only their own conflicts, officers
    anyone's. The reviewer's assignment ends unless an opinion has been submitted."""
    member = MemberId(body.reviewer or context.caller.member or "")
    if context.caller.role == "reviewer":
        if member != context.caller.member:
            raise HttpProblem("forbidden", "Reviewers can declare only their own conflicts.")
        has_blind_opinion = await context.reviewing.assignments.has_blind_opinion(context.tenant, JobId(id), member)
        require(has_blind_opinion, build_missing_problem("evaluation", id))
    if not member:
        raise HttpProblem.invalid("State which reviewer has the conflict. Only reviewers can omit this.", "/reviewer")
    conflict = await context.reviewing.assignments.declare(context.tenant, JobId(id), member, body.reason, context.by)
    return require(
        conflict, build_missing_problem("evaluation", id, "There is no such evaluation or no such reviewer.")
    )


@router.delete("/v1/evaluations/{id}/conflicts")
async def clear_conflict(
    id: PathId, query: Annotated[ClearConflictQuery, Query()], context: Assigner
) -> ConflictOfInterest:
    """Mark a conflict of interest as not applicable, with a reason. It stays on record."""
    conflict = await context.reviewing.assignments.clear(
        context.tenant, JobId(id), MemberId(query.reviewer), query.reason, context.by
    )
    return require(conflict, build_missing_problem("evaluation", id, "This reviewer has no conflict of interest here."))
