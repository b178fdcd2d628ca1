"""A call's reviewers: who is asked to review, and how reviewers are chosen."""

from collections.abc import Sequence
from typing import NamedTuple

from assayer_client.reviewing import CallReviewersBody, ChosenOutcome, WithdrawnAssignment
from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, TenantId
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.models import Member
from orchestrator.services.reviewing_stores import ReviewingStores
from orchestrator.store.call_reviewers import PgCallReviewers
from orchestrator.store.members import PgMembers


class CallReviewers(NamedTuple):
    """The reviewers who can be assigned a call's proposals."""

    chosen: frozenset[MemberId] | None
    """The chosen members, some of whom may no longer be reviewers; None if no choice was made."""
    people: list[Member]
    """The members asked to review, sorted by name."""


async def get_call_reviewers(
    members: PgMembers, call_reviewers: PgCallReviewers, tenant: TenantId, batch: BatchId
) -> CallReviewers:
    """Return the reviewers who are asked to review a batch. The batch must exist."""
    chosen = await call_reviewers.get_chosen(tenant, batch)
    all_reviewers = await members.list_reviewers(tenant)
    return CallReviewers(chosen, [member for member in all_reviewers if chosen is None or member.id in chosen])


async def choose_reviewers(
    members: PgMembers, reviewing: ReviewingStores, tenant: TenantId, batch: BatchId, body: CallReviewersBody, by: ActBy
) -> ChosenOutcome:
    """Set the reviewers of an existing batch, replacing any earlier choice. With `dry_run`, only return what would
    change. Raises HttpProblem or ReviewRefused if the call is signed off or a named member is not a reviewer."""
    if sign_off := await reviewing.decisions.get_sign_off(tenant, batch):
        raise HttpProblem(
            "conflict",
            f"The call {batch} was signed off on {sign_off.signed_off_at:%Y-%m-%d}. It can no longer be changed.",
        )
    chosen_members = None if body.reviewers is None else await _require_reviewers(members, tenant, body.reviewers)
    if not body.dry_run:
        added, removed, ended = await reviewing.call_reviewers.choose(tenant, batch, chosen_members, by)
    else:
        previous_reviewers = await reviewing.call_reviewers.get_chosen(tenant, batch) or frozenset()
        added = [member for member in chosen_members or () if member not in previous_reviewers]
        removed = sorted(previous_reviewers - set(chosen_members or ()))
        ended = (
            []
            if chosen_members is None
            else await reviewing.call_reviewers.list_ending_assignments(tenant, batch, chosen_members)
        )
    return ChosenOutcome(
        dry_run=body.dry_run,
        added=tuple(added),
        removed=tuple(removed),
        withdrawn=tuple(WithdrawnAssignment(evaluation=evaluation, member=member) for evaluation, member in ended),
    )


async def _require_reviewers(members: PgMembers, tenant: TenantId, requested_ids: Sequence[str]) -> list[MemberId]:
    """Return the named reviewers in order, without duplicates. Raises HttpProblem if one of them is not a reviewer."""
    reviewer_ids = {member.id for member in await members.list_reviewers(tenant)}
    if unknown := sorted(set(requested_ids) - reviewer_ids):
        raise HttpProblem.invalid(f"These members are not your reviewers: {', '.join(unknown[:20])}.", "/reviewers")
    return [MemberId(id) for id in dict.fromkeys(requested_ids)]
