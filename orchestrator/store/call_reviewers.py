"""Reviewers of a call: members chosen for it or invited to it. If none were chosen, all of the tenant's reviewers take
part.

A choice stays in force even if few or none of the chosen members are still reviewers: a call never opens to all
reviewers by itself."""

from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.models import Member, NewMember, ReviewRefused
from orchestrator.store.assignments import WITHOUT_OPINION
from orchestrator.store.audit_log import LoggedStore, PgAuditLog
from orchestrator.store.database import Connection, Database, in_transaction
from orchestrator.store.members import COULD_READ_REPORTS, PgMembers
from orchestrator.store.open_calls import prevent_sign_off

_SELECT_CHOSEN = """
    SELECT member FROM call_reviewers JOIN batches ON batches.id = batch
    WHERE tenant = $1 AND batch = $2 ORDER BY member
"""
_SELECT_CALL = "SELECT id FROM batches WHERE tenant = $1 AND id = $2"
_INSERT_CHOSEN = """
    INSERT INTO call_reviewers (batch, member, at)
    SELECT $2, id, $4 FROM members
    WHERE tenant = $1 AND id = ANY($3) AND role = 'reviewer' AND removed_at IS NULL
    ORDER BY id FOR KEY SHARE ON CONFLICT DO NOTHING RETURNING member
"""
_DELETE_CHOSEN = "DELETE FROM call_reviewers WHERE batch = $1 AND NOT member = ANY($2) RETURNING member"
_ASSIGNMENTS_OF_OTHERS = f"""
    jobs WHERE jobs.id = assignments.evaluation AND jobs.tenant = $1 AND jobs.batch = $2
    AND NOT assignments.member = ANY($3) AND {WITHOUT_OPINION}
"""
_SELECT_ENDING_ASSIGNMENTS = f"""
    SELECT evaluation, member FROM assignments, {_ASSIGNMENTS_OF_OTHERS} ORDER BY member, evaluation
"""
_DELETE_ASSIGNMENTS = f"""
    DELETE FROM assignments USING {_ASSIGNMENTS_OF_OTHERS} RETURNING evaluation, member
"""
_SELECT_ASSIGNED_REVIEWERS = """
    SELECT DISTINCT member FROM assignments JOIN jobs ON jobs.id = evaluation WHERE tenant = $1 AND batch = $2
"""
# Members are locked before the audit log's head, in the same order as when members are changed.
_LOCK_MEMBERS = "SELECT FROM members WHERE tenant = $1 AND id = ANY($2) ORDER BY id FOR KEY SHARE"
_SELECT_UNBLINDED_UNTIL = f"""
    SELECT read_reports_until FROM members JOIN batches USING (tenant)
    WHERE members.tenant = $1 AND batches.id = $2 AND members.id = $3 AND {COULD_READ_REPORTS}
"""
_SELECT_BY_EMAIL = "SELECT id FROM members WHERE tenant = $1 AND lower(email) = lower($2) AND removed_at IS NULL"


class ChosenReviewers(NamedTuple):
    """The changes made when a call's reviewers were chosen."""

    added: list[MemberId]
    removed: list[MemberId]
    """Members who were chosen before but no longer are."""
    ended: list[tuple[JobId, MemberId]]
    """Assignments that ended, because they had no opinion and their reviewer is no longer chosen."""


class PgCallReviewers(LoggedStore):
    def __init__(self, database: Database, audit_log: PgAuditLog, members: PgMembers) -> None:
        super().__init__(database, audit_log)
        self._members = members

    async def get_chosen(self, tenant: TenantId, batch: BatchId) -> frozenset[MemberId] | None:
        """Return the chosen members, including any who have left or are no longer reviewers. None if no member was
        chosen, which means that all reviewers take part."""
        return frozenset(row["member"] for row in await self._database.fetch(_SELECT_CHOSEN, tenant, batch)) or None

    async def list_ending_assignments(
        self, tenant: TenantId, batch: BatchId, reviewers: Sequence[MemberId]
    ) -> list[tuple[JobId, MemberId]]:
        """Return the assignments that would end if these reviewers were chosen."""
        rows = await self._database.fetch(_SELECT_ENDING_ASSIGNMENTS, tenant, batch, list(reviewers))
        return [(row["evaluation"], row["member"]) for row in rows]

    @in_transaction
    async def choose(
        self, connection: Connection, tenant: TenantId, batch: BatchId, reviewers: Sequence[MemberId] | None, by: ActBy
    ) -> ChosenReviewers:
        """Set the call's reviewers, replacing any earlier choice; None removes the choice. Other members' assignments
        end if they have no opinion. Raises ReviewRefused if the call is signed off or does not exist, or if none of the
        chosen members is a reviewer."""
        await self._lock_call(connection, tenant, batch)
        return await self._choose(connection, tenant, batch, reviewers, by)

    @in_transaction
    async def invite(
        self, connection: Connection, tenant: TenantId, batch: BatchId, id: MemberId, new_member: NewMember, by: ActBy
    ) -> Member:
        """Invite a person to review the call, and add them to its chosen reviewers. If no reviewers were chosen before,
        those with assignments in the call are chosen as well. If the person is already a reviewer, their membership is
        unchanged. They are notified about the call. Raises ReviewRefused in the same cases as `choose`. Also raises it
        if the address belongs to a member with another role, or if the person could read the call's reports in another
        role."""
        await self._lock_call(connection, tenant, batch)
        previous_reviewers = [row["member"] for row in await connection.fetch(_SELECT_CHOSEN, tenant, batch)]
        if not previous_reviewers:
            previous_reviewers = [
                row["member"] for row in await connection.fetch(_SELECT_ASSIGNED_REVIEWERS, tenant, batch)
            ]
        await connection.fetch(_LOCK_MEMBERS, tenant, previous_reviewers)
        member = await self._members.invite_within(
            connection, tenant, id, new_member, by, mailed=True, batch=batch
        ) or await self._require_reviewer(connection, tenant, new_member)
        await self._require_blind(connection, tenant, batch, member)
        await self._choose(connection, tenant, batch, [*previous_reviewers, member.id], by)
        return member

    async def _lock_call(self, connection: Connection, tenant: TenantId, batch: BatchId) -> None:
        """Prevent sign-off of the call during the transaction. Raises ReviewRefused if the call is signed off or
        missing."""
        await prevent_sign_off(connection, tenant, batch, exclusive=True)
        if await connection.fetchval(_SELECT_CALL, tenant, batch) is None:
            raise ReviewRefused(f"The call {batch} does not exist.")

    async def _require_reviewer(self, connection: Connection, tenant: TenantId, new_member: NewMember) -> Member:
        """Return the member with this email address. Raises ReviewRefused if they are not a reviewer."""
        id = await connection.fetchval(_SELECT_BY_EMAIL, tenant, new_member.email)
        member = None if id is None else await self._members.get_within(connection, tenant, id)
        if member is None:
            raise ReviewRefused("A member with this address was just removed. Try again.")
        if member.role != "reviewer":
            article = "an" if member.role[0] in "ao" else "a"
            raise ReviewRefused(
                f"{new_member.email} belongs to {member.name}, who is {article} {member.role}, not a reviewer."
            )
        return member

    async def _require_blind(self, connection: Connection, tenant: TenantId, batch: BatchId, member: Member) -> None:
        """Raise ReviewRefused if the member could read the call's reports, because they could not be assigned any of
        its proposals."""
        if blocked_until := await connection.fetchval(_SELECT_UNBLINDED_UNTIL, tenant, batch, member.id):
            raise ReviewRefused(
                f"{member.name} could read this call's reports in another role until {blocked_until:%Y-%m-%d}, "
                "so a first opinion would not be blind. No invitation was sent."
            )

    async def _choose(
        self, connection: Connection, tenant: TenantId, batch: BatchId, reviewers: Sequence[MemberId] | None, by: ActBy
    ) -> ChosenReviewers:
        member_ids = list(reviewers or ())
        added_ids = [row["member"] for row in await connection.fetch(_INSERT_CHOSEN, tenant, batch, member_ids, by.at)]
        removed_ids = [row["member"] for row in await connection.fetch(_DELETE_CHOSEN, batch, member_ids)]
        if reviewers is None:
            if removed_ids:
                await self._log.append(
                    connection, tenant, by, "reviewers chosen", batch, everybody=True, removed=removed_ids
                )
            return ChosenReviewers([], removed_ids, [])
        if await connection.fetchval(_SELECT_CHOSEN, tenant, batch) is None:
            raise ReviewRefused("These members are no longer reviewers. Nothing was changed.")
        ended_assignments = [
            (row["evaluation"], row["member"])
            for row in await connection.fetch(_DELETE_ASSIGNMENTS, tenant, batch, member_ids)
        ]
        for evaluation, member in ended_assignments:
            content = {"member": member, "reason": "is no longer a reviewer of this call"}
            await self._log.append(connection, tenant, by, "assignment withdrawn", evaluation, **content)
        if added_ids or removed_ids:
            await self._log.append(
                connection, tenant, by, "reviewers chosen", batch, added=added_ids, removed=removed_ids
            )
        return ChosenReviewers(added_ids, removed_ids, ended_assignments)
