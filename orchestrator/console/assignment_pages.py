"""Page `/console/calls/{id}/assignments`: the call's reviewers with their assignments and conflicts of interest, and a
preview of new assignments."""

import asyncio
import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse
from pydantic import Field
from starlette.background import BackgroundTask
from starlette.responses import Response

from assayer.models import Frozen
from assayer_client.reviewing import AssignBody
from orchestrator.access.roles import MemberId
from orchestrator.console.member_pages import MemberForm
from orchestrator.console.page_context import Assigner, PageContext, PeopleReader
from orchestrator.console.reviewer_choice import EndedAssignments, build_reviewer_choice
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.problems import HttpProblem, build_not_found_problem
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.services.assignments import AssignmentDraft
from orchestrator.store.assigned_tables import AssignedView, ReviewerLoad
from orchestrator.web.path_parameters import CallInPath

router = APIRouter(prefix="/console/calls/{id}/assignments", tags=["pages"], include_in_schema=False)

PerProposal = Annotated[int, Field(ge=1, le=10)]
MaxLoad = Annotated[int, Field(ge=1, le=1_000)]
AssignedBy = Literal["expertise", "load"]
_MAX_CONFLICTS = 200


class _PairForm(Frozen, extra="ignore", defer_build=False):
    """A form that names a proposal and a reviewer."""

    evaluation: str = Field(max_length=64)
    reviewer: str = Field(max_length=64)
    reason: str = Field(default="", max_length=2_000)


class AssignedQuery(AssignedView):
    by: AssignedBy = "expertise"
    per_proposal: PerProposal | None = None
    max_load: MaxLoad | Literal[""] = ""
    find: str = Field(default="", max_length=200)
    """Search words that filter the list of reviewers by name, address or institution."""


class DisplayedPlan(NamedTuple):
    """An assignment plan by proposal, as previewed before it is carried out."""

    planned: Mapping[str, list[str]]
    """Reviewers who would get the proposal."""
    missing_reviewers: Mapping[str, int]
    """Number of missing reviewers, for each proposal that has too few."""
    titles: Mapping[str, str]
    shortfalls: Mapping[str, str]
    """The reason for the shortage, for each proposal that has too few reviewers."""
    reasons: Mapping[tuple[str, str], str]
    """The reason why a proposal would be assigned to a reviewer, for the proposals on the page."""
    only_conflicts_end: bool
    """True if every assignment that would end does so because of a conflict of interest."""


class RefusedInvitations(NamedTuple):
    """Invitations for several people, at least one of which was refused."""

    people: str
    """The submitted text, with one person per line."""
    invited: int
    """Number of people who were invited."""
    faults: Sequence[str]


@router.get("")
async def show_assignments(
    context: PeopleReader, call: CallInPath, query: Annotated[AssignedQuery, Query()]
) -> Response:
    """Show the current assignments and, if a number of reviewers per proposal is given, the planned ones."""
    body = None
    if query.per_proposal is not None:
        body = AssignBody(strategy=query.by, per_proposal=query.per_proposal, max_load=query.max_load or None)
    return await render_assignments(context, call, body=body, view=query, search=query.find)


@router.post("")
async def carry_out_plan(
    context: Assigner,
    call: CallInPath,
    per_proposal: Annotated[PerProposal, Form()],
    plan_digest: Annotated[str, Form(alias="shown", max_length=64)],
    by: Annotated[AssignedBy, Form()] = "expertise",
    max_load: Annotated[MaxLoad | None, Form()] = None,
) -> Response:
    """Carry out the previewed plan. If it would now be different, show the new plan instead."""
    body = AssignBody(strategy=by, per_proposal=per_proposal, max_load=max_load)
    draft = await context.services.assignment_planner.draft(context.tenant, call.id, body, search=False)
    if _compute_digest(draft) != plan_digest:
        changed_notice = "The plan has changed since it was shown, so no reviewers were assigned. Check the new plan."
        return await render_assignments(context, call, body=body, fault=changed_notice)
    await context.services.assignment_planner.save(context.tenant, call.id, draft, context.by)
    return _redirect_to_assignments(call)


@router.post("/bidding")
async def set_bidding(context: Assigner, call: CallInPath, open: Annotated[bool, Form()]) -> Response:
    """Open or close bidding."""
    try:
        await context.reviewing.bids.set_open(context.tenant, call.id, open, context.by)
    except ReviewRefused as refusal:
        return await render_assignments(context, call, refusal=refusal)
    index = BackgroundTask(context.services.proposal_indexes.update_index, context.tenant, call.id) if open else None
    return RedirectResponse(f"/console/calls/{call.id}/assignments#loads", 303, background=index)


@router.post("/one")
async def assign_reviewer(context: Assigner, call: CallInPath, form: Annotated[_PairForm, Form()]) -> Response:
    """Assign a proposal to a manually chosen reviewer."""
    job = await context.find_proposal(call, form.evaluation)
    planner = context.services.assignment_planner
    try:
        await planner.assign_reviewer(context.tenant, call.id, job, MemberId(form.reviewer), context.by)
    except (HttpProblem, ReviewRefused) as refusal:
        return await render_assignments(context, call, refusal=refusal)
    return RedirectResponse(f"/console/calls/{call.id}/assignments#proposals", 303)


@router.post("/withdraw")
async def withdraw_assignment(context: Assigner, call: CallInPath, form: Annotated[_PairForm, Form()]) -> Response:
    """Withdraw an assignment that has no opinion yet."""
    job = await context.find_proposal(call, form.evaluation)
    try:
        withdrawn = await context.reviewing.assignments.withdraw(
            context.tenant, job, MemberId(form.reviewer), context.by
        )
    except ReviewRefused as refusal:
        return await render_assignments(context, call, refusal=refusal)
    if not withdrawn:
        fault = (
            "The reviewer has given an opinion, or the proposal is no longer assigned to them. Nothing was withdrawn."
        )
        return await render_assignments(context, call, fault=fault)
    return _redirect_to_assignments(call)


@router.post("/conflicts")
async def declare_conflict(context: Assigner, call: CallInPath, form: Annotated[_PairForm, Form()]) -> Response:
    """Record that a reviewer must not review a proposal. Their assignment ends unless it has an opinion."""
    return await _change_conflict(context, call, form, clears=False)


@router.post("/conflicts/clear")
async def clear_conflict(context: Assigner, call: CallInPath, form: Annotated[_PairForm, Form()]) -> Response:
    """Mark a conflict of interest as not applicable; it stays on record."""
    return await _change_conflict(context, call, form, clears=True)


async def _change_conflict(context: PageContext, call: BatchStatus, form: _PairForm, *, clears: bool) -> Response:
    job = await context.find_proposal(call, form.evaluation)
    if len(form.reason.strip()) < 3:
        return await render_assignments(context, call, fault="Give a reason (at least 3 characters).")
    store = context.reviewing.assignments
    act = store.clear if clears else store.declare
    try:
        conflict = await act(context.tenant, job, MemberId(form.reviewer), form.reason.strip(), context.by)
    except ReviewRefused as refusal:
        return await render_assignments(context, call, refusal=refusal)
    if conflict is None:
        await context.find_proposal(call, form.evaluation)
        raise build_not_found_problem("conflict of interest" if clears else "reviewer", form.reviewer)
    return _redirect_to_assignments(call)


async def render_assignments(
    context: PageContext,
    call: BatchStatus,
    *,
    body: AssignBody | None = None,
    view: AssignedView | None = None,
    search: str = "",
    ended_assignments: EndedAssignments | None = None,
    form: MemberForm | None = None,
    invitations: RefusedInvitations | None = None,
    fault: str = "",
    refusal: HttpProblem | ReviewRefused | None = None,
) -> Response:
    """Show the assignments page, optionally with the outcome of the last action. `ended_assignments` lists assignments
    that a choice of reviewers would end. `form` holds the values entered for an invitation, `invitations` refused
    invitations of several people. `fault` or `refusal` states why the action failed."""
    if refusal is not None:
        fault = str(refusal)
    draft, status = None, refusal.status_code if isinstance(refusal, HttpProblem) else 409 if fault else 200
    status = 422 if invitations else status
    view = view or AssignedView()
    services, reviewing, tenant = context.services, context.reviewing, context.tenant
    if body is not None and context.caller.may("assign reviewers"):
        try:
            draft = await services.assignment_planner.draft(tenant, call.id, body)
        except HttpProblem as problem:
            fault, status = problem.detail, problem.status_code
    page, loads, conflicts, members, chosen_reviewers, sign_off = await asyncio.gather(
        reviewing.assigned_tables.get_page(tenant, call.id, view),
        reviewing.assigned_tables.get_reviewer_loads(tenant, call.id),
        reviewing.assigned_tables.list_conflicts(tenant, call.id, _MAX_CONFLICTS),
        services.members.list(tenant),
        reviewing.call_reviewers.get_chosen(tenant, call.id),
        reviewing.decisions.get_sign_off(tenant, call.id),
    )
    signed_names, not_blind, expertise, bidding, bids = await asyncio.gather(
        reviewing.decisions.get_signed_names(tenant, call.id),
        reviewing.assignments.list_unblinded_reviewers(tenant, call.id),
        reviewing.expertise.get_for_members(tenant),
        reviewing.bids.is_open(tenant, call.id),
        reviewing.bids.list_bids(tenant, call.id),
    )
    choice = build_reviewer_choice(members, chosen_reviewers, search, not_blind)
    reviewer_ids = {member.id for member in choice.participants}
    people = [member for member in members if member.id in loads]
    if sign_off is None:
        people = [*choice.participants, *(member for member in people if member.id not in reviewer_ids)]
    return await context.render_call_page(
        "assignments.html",
        call,
        "reviewers",
        status=status,
        fault=fault,
        draft=draft,
        plan=_build_displayed_plan(draft, body, {row.id for row in page.rows}) if draft and body else None,
        not_blind=not_blind,
        digest=_compute_digest(draft) if draft else "",
        by=body.strategy if body else "expertise",
        per_proposal=body.per_proposal if body else None,
        max_load=body.max_load if body else None,
        view=view,
        parameters=view.model_dump(include={"sort", "only"}, exclude_defaults=True)
        | ({"by": body.strategy, "per_proposal": body.per_proposal, "max_load": body.max_load} if body else {}),
        page=page,
        names={str(member.id): member.name for member in members} | signed_names,
        choice=choice,
        ended_assignments=ended_assignments,
        form=form,
        invitations=invitations,
        sends_email=services.mails.enabled,
        reviewer_ids=reviewer_ids,
        people=people,
        loads={person.id: loads.get(person.id, ReviewerLoad(0, 0)) for person in people},
        expertise=expertise,
        bidding=bidding,
        bids=Counter(bid.member for bid in bids),
        conflicts=conflicts,
        sign_off=sign_off,
    )


def _build_displayed_plan(
    draft: AssignmentDraft, body: AssignBody, proposals_on_page: Collection[str]
) -> DisplayedPlan:
    reviewers_by_proposal = defaultdict[str, list[str]](list)
    for evaluation, member in draft.plan.pairs:
        reviewers_by_proposal[evaluation].append(member)
    conflict_pairs = {(conflict.evaluation, conflict.member) for conflict in draft.conflicts}
    return DisplayedPlan(
        reviewers_by_proposal,
        draft.plan.missing_reviewers,
        {str(proposal.id): proposal.title for proposal in draft.proposals},
        draft.explain_shortfalls(body.max_load),
        draft.explain_pairs(pair for pair in draft.plan.pairs if pair[0] in proposals_on_page),
        all((assignment.evaluation, assignment.member) in conflict_pairs for assignment in draft.assignments_to_end),
    )


def _compute_digest(draft: AssignmentDraft) -> str:
    """Return a digest of the plan and of the inputs to the conflict search. If it is unchanged, so are the
    conflicts."""
    parts = [
        *(f"{evaluation} {member}" for evaluation, member in draft.plan.pairs),
        *(f"{person.id} {person.name} {person.affiliation} {draft.versions.get(person.id)}" for person in draft.people),
        *(f"{proposal.id} {proposal.text is None}" for proposal in draft.proposals),
        *(f"{assignment.evaluation} {assignment.member} ends" for assignment in draft.assignments_to_end),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _redirect_to_assignments(call: BatchStatus) -> Response:
    return RedirectResponse(f"/console/calls/{call.id}/assignments", 303)
