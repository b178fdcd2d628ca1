"""Planning and saving of a call's assignments of proposals to reviewers."""

import asyncio
import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assayer.ports import Clock
from assayer_client.expertise import Bid, Expertise
from assayer_client.reviewing import AssignBody
from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.assigning import AssignmentPlan, plan_assignments
from orchestrator.reviewing.conflict_search import ConflictSearch, FoundConflict, ReviewerDetails
from orchestrator.reviewing.expertise import ExpertiseMatch, KnownExpertise, compute_assignment_values
from orchestrator.reviewing.models import Assignment, ConflictOfInterest, Member
from orchestrator.services.call_reviewers import get_call_reviewers
from orchestrator.services.expertise import find_coauthors, index_bids
from orchestrator.services.proposal_indexes import ProposalIndexes
from orchestrator.services.reviewing_stores import ReviewingStores
from orchestrator.store.assignments import ProposalText
from orchestrator.store.members import PgMembers

_MANUAL_REASON = "Chosen manually."


class AssignmentDraft(NamedTuple):
    """A preview of how a call's proposals would be assigned to reviewers."""

    plan: AssignmentPlan
    people: tuple[Member, ...]
    proposals: tuple[ProposalText, ...]
    loads: dict[str, int]
    """Number of the call's proposals that each reviewer would have, including existing assignments."""
    conflicts: tuple[ConflictOfInterest, ...]
    """Conflicts that have not been cleared."""
    assignments_to_end: tuple[Assignment, ...]
    """Assignments without an opinion that would end, because of a conflict or because the reviewer was removed, no
    longer reviews, or could read the reports."""
    not_blind: tuple[MemberId, ...]
    """Reviewers who could read the reports and therefore get no assignments."""
    versions: Mapping[MemberId, int]
    """Version of each reviewer's expertise and conflicts of interest."""
    bids: Mapping[tuple[str, str], Bid]
    """Bids by proposal and reviewer."""
    match: ExpertiseMatch | None
    """The comparison of `proposals` with `people`; None if assignments are based on load alone."""

    def explain_pairs(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return, for each pair of proposal and reviewer, the reason for the assignment."""
        rows = {str(proposal.id): row for row, proposal in enumerate(self.proposals)}
        columns = {str(person.id): column for column, person in enumerate(self.people)}
        return {
            pair: " ".join(
                (
                    *([f"The reviewer's bid: {self.bids[pair]}."] if pair in self.bids else []),
                    "Assigned to balance the load."
                    if self.match is None
                    else self.match.explain_pair(rows[pair[0]], columns[pair[1]]),
                )
            )
            for pair in pairs
        }

    def explain_shortfalls(self, max_load: int | None) -> dict[str, str]:
        """Return the reason for each shortage, by the proposal that has too few reviewers."""
        people = {str(person.id) for person in self.people}
        conflict_counts = Counter(str(conflict.evaluation) for conflict in self.conflicts if conflict.member in people)
        reviewer_count = f"{len(people)} {'reviewer' if len(people) == 1 else 'reviewers'}"
        available = f"Only {reviewer_count} {'is' if len(people) == 1 else 'are'} available"
        blind = " whose first opinion would be blind" if self.not_blind else ""
        limit = f", at most {max_load} proposals each" if max_load else ""
        return {
            proposal: f"{conflicts} of {reviewer_count} {'has' if conflicts == 1 else 'have'} a conflict{limit}."
            if (conflicts := conflict_counts[proposal])
            else f"{available}{blind}{limit}."
            for proposal in self.plan.missing_reviewers
        }


@dataclass(frozen=True)
class AssignmentPlanner:
    """Plans and saves a call's assignments."""

    reviewing: ReviewingStores
    members: PgMembers
    clock: Clock
    indexes: ProposalIndexes

    async def draft(
        self, tenant: TenantId, batch: BatchId, body: AssignBody, *, search: bool = True
    ) -> AssignmentDraft:
        """Plan the call's assignments without saving them. With `search`, new conflicts of interest are searched for
        and stored; otherwise, only stored conflicts are used. Raises HttpProblem if the call is signed off or has no
        suitable reviewers."""
        if await self.reviewing.decisions.get_sign_off(tenant, batch) is not None:
            raise HttpProblem("conflict", f"The call {batch} is signed off and can no longer be changed.")
        not_blind = await self.reviewing.assignments.list_unblinded_reviewers(tenant, batch)
        people = await self._select_reviewers(tenant, batch, body.reviewers, not_blind)
        proposals = await self.reviewing.assignments.list_proposal_texts(tenant, batch)
        expertise_by_member = await self.reviewing.expertise.get_for_members(tenant, [person.id for person in people])
        if search:
            reviewer_details = await self._list_reviewer_details(tenant, batch, people, expertise_by_member)
            await self._store_conflicts(proposals, ConflictSearch(reviewer_details))
        conflicts = [
            conflict
            for conflict in await self.reviewing.assignments.list_conflicts(tenant, batch)
            if not conflict.cleared_reason
        ]
        earlier_assignments = await self.reviewing.assignments.list_assignments(
            tenant, member=None, batch=batch, limit=100_000
        )
        conflict_pairs = {(str(conflict.evaluation), str(conflict.member)) for conflict in conflicts}
        blind_reviewers = {reviewer.id for reviewer in await self.members.list_reviewers(tenant)} - set(not_blind)
        assignments_to_end = tuple(
            assignment
            for assignment in earlier_assignments
            if assignment.opinion == "none"
            and (
                (assignment.evaluation, assignment.member) in conflict_pairs or assignment.member not in blind_reviewers
            )
        )
        kept_assignments = [assignment for assignment in earlier_assignments if assignment not in assignments_to_end]
        assigned = Counter(
            assignment.evaluation
            for assignment in kept_assignments
            if (assignment.evaluation, assignment.member) not in conflict_pairs
        )
        loads = Counter[str](assignment.member for assignment in kept_assignments)
        barred_pairs = conflict_pairs | {
            (str(assignment.evaluation), str(assignment.member)) for assignment in earlier_assignments
        }
        reviewers_needed = {
            str(proposal.id): max(0, body.per_proposal - assigned[proposal.id]) for proposal in proposals
        }
        stored_bids = await self.reviewing.bids.list_bids(tenant, batch)
        bids = {(str(bid.evaluation), str(bid.member)): bid.bid for bid in stored_bids if body.strategy == "expertise"}
        ids = [str(person.id) for person in people]
        match = values = None
        if body.strategy == "expertise":
            profiles = [_get_known_expertise(expertise_by_member.get(person.id)) for person in people]
            if bids or any(profile.keywords or profile.papers for profile in profiles):
                texts = [(proposal.title, proposal.text or "") for proposal in proposals]
                match = await asyncio.to_thread(ExpertiseMatch, texts, profiles)
                values = compute_assignment_values(match.similarity, index_bids(bids, reviewers_needed, ids))
        plan = await asyncio.to_thread(
            plan_assignments, reviewers_needed, ids, barred_pairs, loads, body.max_load, values
        )
        planned_loads = Counter(member for _, member in plan.pairs)
        total_loads = {str(person.id): loads[person.id] + planned_loads[str(person.id)] for person in people}
        return AssignmentDraft(
            plan,
            tuple(people),
            tuple(proposals),
            total_loads,
            tuple(conflicts),
            assignments_to_end,
            tuple(sorted(not_blind)),
            {member: stored.version for member, stored in expertise_by_member.items()},
            bids,
            match,
        )

    async def search_before_bids(self, tenant: TenantId, batch: BatchId, member: Member) -> Expertise:
        """Check a call's proposals for conflicts with a reviewer and compare them with the reviewer's expertise, unless
        this has been done since either last changed. Return the reviewer's stored expertise."""
        expertise = await self.reviewing.expertise.get(tenant, member.id)
        if expertise is None or expertise.changed_at is None:
            return expertise or Expertise(member=member.id, version=0)
        unsearched = set(await self.reviewing.bids.list_unchecked_proposals(tenant, member.id, batch))
        if unsearched:
            index = await self.indexes.update_index(tenant, batch)
            search = ConflictSearch(await self._list_reviewer_details(tenant, batch, [member], {member.id: expertise}))
            possible = unsearched.intersection(await asyncio.to_thread(index.find_possible_conflicts, search))
            proposals = (
                await self.reviewing.assignments.list_proposal_texts(tenant, batch, sorted(possible))
                if possible
                else []
            )
            await self._store_conflicts(proposals, search)
            similarities = await asyncio.to_thread(index.compute_similarities, _get_known_expertise(expertise))
            new_similarities = {proposal: similarities[proposal] for proposal in similarities.keys() & unsearched}
            await self.reviewing.bids.mark_checked(tenant, member.id, new_similarities, expertise.changed_at)
        return expertise

    async def _store_conflicts(self, proposals: Sequence[ProposalText], search: ConflictSearch) -> None:
        """Search proposals for conflicts of interest, and store those that are found."""

        def search_proposals() -> list[tuple[JobId, FoundConflict]]:
            return [
                (proposal.id, conflict)
                for proposal in proposals
                if proposal.text is not None
                for conflict in search.find_conflicts(proposal.title, proposal.text, proposal.other_texts)
            ]

        conflicts = await asyncio.to_thread(search_proposals)
        await self.reviewing.assignments.store_detected_conflicts(conflicts, self.clock.now())

    async def _list_reviewer_details(
        self,
        tenant: TenantId,
        batch: BatchId,
        people: Sequence[Member],
        expertise_by_member: Mapping[MemberId, Expertise],
    ) -> list[ReviewerDetails]:
        """Return, for each reviewer, the details whose mention in a proposal suggests a conflict of interest."""
        first_coauthor_year = await self.reviewing.expertise.get_first_coauthor_year(tenant, batch)
        return [
            ReviewerDetails(
                person.id,
                person.name,
                "; ".join(filter(None, (person.affiliation, *(expertise.institutions if expertise else ())))),
                person.email,
                expertise.people if expertise else (),
                find_coauthors(person.name, expertise.papers, first_coauthor_year)
                if expertise and first_coauthor_year is not None
                else {},
            )
            for person in people
            for expertise in [expertise_by_member.get(person.id)]
        ]

    async def save(
        self, tenant: TenantId, batch: BatchId, draft: AssignmentDraft, by: ActBy
    ) -> dict[tuple[str, str], str]:
        """Save the planned assignments that are still allowed, and return them with their reasons."""
        if not draft.plan.pairs and not draft.assignments_to_end:
            return {}
        reasons = await asyncio.to_thread(draft.explain_pairs, draft.plan.pairs)
        pairs = {(JobId(evaluation), MemberId(member)): reason for (evaluation, member), reason in reasons.items()}
        assignments = await self.reviewing.assignments.assign(tenant, batch, pairs, by)
        return {pair: pairs[pair] for pair in sorted(assignments)}

    async def assign_reviewer(
        self, tenant: TenantId, batch: BatchId, evaluation: JobId, reviewer: MemberId, by: ActBy
    ) -> None:
        """Assign a proposal to a manually chosen reviewer, after a check for conflicts. Raises HttpProblem if the
        reviewer cannot review it."""
        try:
            draft = await self.draft(tenant, batch, AssignBody(strategy="load", per_proposal=1, reviewers=(reviewer,)))
        except HttpProblem as problem:
            raise HttpProblem("conflict", problem.detail) from None
        for conflict in draft.conflicts:
            if (conflict.evaluation, conflict.member) == (evaluation, reviewer):
                raise HttpProblem("conflict", f"The reviewer has a conflict of interest: {conflict.reason}")
        if evaluation not in {proposal.id for proposal in draft.proposals}:
            raise HttpProblem("conflict", "The proposal was cancelled, or its document cannot be read.")
        if not await self.reviewing.assignments.assign(tenant, batch, {(evaluation, reviewer): _MANUAL_REASON}, by):
            raise HttpProblem("conflict", "The proposal is already assigned to this reviewer.")

    async def _select_reviewers(
        self,
        tenant: TenantId,
        batch: BatchId,
        requested_ids: tuple[str, ...] | None,
        not_blind: Mapping[MemberId, dt.datetime],
    ) -> list[Member]:
        """Return the call's reviewers whose first opinions would be blind, or only those in `requested_ids`. Raises
        HttpProblem if there are none, or if a requested member is not one of them."""
        call_reviewers = await get_call_reviewers(self.members, self.reviewing.call_reviewers, tenant, batch)
        reviewers = [person for person in call_reviewers.people if requested_ids is None or person.id in requested_ids]
        if unknown := sorted(set(requested_ids or ()) - {reviewer.id for reviewer in reviewers}):
            fault = "are not your reviewers" if call_reviewers.chosen is None else "do not review this call"
            raise HttpProblem.invalid(f"These members {fault}: {', '.join(unknown)}.", "/reviewers")
        if not reviewers and call_reviewers.chosen is not None:
            detail = "The people chosen for this call are no longer reviewers. Choose or invite others"
            raise HttpProblem("conflict", f"{detail}: PUT or POST /v1/batches/{batch}/reviewers.")
        if not reviewers:
            raise HttpProblem("conflict", f"There are no reviewers. Invite some: POST /v1/batches/{batch}/reviewers.")
        blind_reviewers = [reviewer for reviewer in reviewers if reviewer.id not in not_blind]
        if requested_ids is not None and len(blind_reviewers) < len(reviewers):
            sentence = " ".join(
                f"{reviewer.name} could read this call's reports in another role until "
                f"{not_blind[reviewer.id]:%Y-%m-%d}, so a first opinion would not be blind."
                for reviewer in reviewers
                if reviewer.id in not_blind
            )
            raise HttpProblem.invalid(sentence, "/reviewers")
        if not blind_reviewers:
            group_text = "All reviewers" if call_reviewers.chosen is None else "All reviewers chosen for this call"
            detail = f"{group_text} could read the reports in another role, so no first opinion would be blind."
            raise HttpProblem("conflict", f"{detail} Invite others: POST /v1/batches/{batch}/reviewers.")
        return blind_reviewers


def _get_known_expertise(expertise: Expertise | None) -> KnownExpertise:
    papers = (
        [(paper.title, paper.abstract) for paper in expertise.papers if paper.listed_by_person] if expertise else []
    )
    return KnownExpertise(expertise.keywords if expertise else (), papers)
