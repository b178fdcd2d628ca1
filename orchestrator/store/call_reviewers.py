"""Who reviews a call: members chosen or invited for it. Where nobody was chosen, all reviewers of the tenant are asked.

A choice holds however few of those chosen still review: it never opens a call to everybody by itself.
"""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.access.audit_chain import Actor
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.models import Member, NewMember, ReviewRefused
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database
from orchestrator.store.members import COULD_READ_REPORTS, PgMembers
from orchestrator.store.open_calls import hold_call_open

__all__ = ["ChosenReviewers", "PgCallReviewers"]

_CHOSEN = """
    SELECT member FROM call_reviewers JOIN batches ON batches.id = batch
    WHERE tenant = $1 AND batch = $2 ORDER BY member
"""
_CALL = "SELECT id FROM batches WHERE tenant = $1 AND id = $2"
_ADD = """
    INSERT INTO call_reviewers (batch, member, at)
    SELECT $2, id, $4 FROM members
    WHERE tenant = $1 AND id = ANY($3) AND role = 'reviewer' AND removed_at IS NULL
    ORDER BY id FOR KEY SHARE ON CONFLICT DO NOTHING RETURNING member
"""
_REMOVE = "DELETE FROM call_reviewers WHERE batch = $1 AND NOT member = ANY($2) RETURNING member"
# Opinions that were given stay, with their assignments.
_OF_OTHERS = """
    jobs WHERE jobs.id = assignments.evaluation AND jobs.tenant = $1 AND jobs.batch = $2
    AND NOT assignments.member = ANY($3) AND NOT EXISTS (
        SELECT FROM opinions
        WHERE opinions.evaluation = assignments.evaluation AND opinions.member = assignments.member
    )
"""
_WOULD_END = f"""
    SELECT evaluation, member FROM assignments, {_OF_OTHERS} ORDER BY member, evaluation
"""  # noqa: S608 - put together from constants
_END = f"""
    DELETE FROM assignments USING {_OF_OTHERS} RETURNING evaluation, member
"""  # noqa: S608 - put together from constants
_WITH_PROPOSALS = """
    SELECT DISTINCT member FROM assignments JOIN jobs ON jobs.id = evaluation WHERE tenant = $1 AND batch = $2
"""
# Whoever changes people holds them before the end of the log: so does whoever invites.
_HOLD_PEOPLE = "SELECT FROM members WHERE tenant = $1 AND id = ANY($2) ORDER BY id FOR KEY SHARE"
_NOT_BLIND = f"""
    SELECT read_reports_until FROM members JOIN batches USING (tenant)
    WHERE members.tenant = $1 AND batches.id = $2 AND members.id = $3 AND {COULD_READ_REPORTS}
"""  # noqa: S608 - put together from constants
_BY_ADDRESS = "SELECT id FROM members WHERE tenant = $1 AND lower(email) = lower($2) AND removed_at IS NULL"


class ChosenReviewers(NamedTuple):
    """What a choice changes."""

    added: list[MemberId]
    removed: list[MemberId]
    """Chosen before, and no more."""
    ended: list[tuple[JobId, MemberId]]
    """Assignments without an opinion of people who are not asked any more."""


class PgCallReviewers:
    def __init__(self, database: Database, audit_log: PgAuditLog, members: PgMembers) -> None:
        self._database = database
        self._log = audit_log
        self._members = members

    async def chosen(self, tenant: TenantId, batch: BatchId) -> frozenset[MemberId] | None:
        """Those who have left or review no more included. None: nobody was chosen, and all reviewers are asked."""
        return frozenset(row["member"] for row in await self._database.fetch(_CHOSEN, tenant, batch)) or None

    async def ending(
        self, tenant: TenantId, batch: BatchId, reviewers: Sequence[MemberId]
    ) -> list[tuple[JobId, MemberId]]:
        """Assignments that would end if these were chosen."""
        rows = await self._database.fetch(_WOULD_END, tenant, batch, list(reviewers))
        return [(row["evaluation"], row["member"]) for row in rows]

    async def choose(
        self,
        tenant: TenantId,
        batch: BatchId,
        reviewers: Sequence[MemberId] | None,
        actor: Actor,
        now: dt.datetime,
    ) -> ChosenReviewers:
        """These and nobody else; None: as if nobody had been chosen. Assignments of others end, unless an opinion was
        given. Raises ReviewRefused for a call that is signed off or not there, and where none of these reviews."""

        async def work(connection: Connection) -> ChosenReviewers:
            async with connection.transaction():
                await self._hold(connection, tenant, batch)
                return await self._choose(connection, tenant, batch, reviewers, actor, now)

        return await self._database.run(work)

    async def invite(
        self, tenant: TenantId, batch: BatchId, id: MemberId, new: NewMember, actor: Actor, now: dt.datetime
    ) -> Member:
        """Makes somebody a reviewer, tells them of which call, and adds them to those chosen; where nobody was chosen
        before, only to those who have proposals of the call. Whoever is a reviewer already stays as they are. Raises
        ReviewRefused where a member of another role has the address, where they could read the reports of the call in
        another role, and as `choose`."""

        async def work(connection: Connection) -> Member:
            async with connection.transaction():
                await self._hold(connection, tenant, batch)
                before = [row["member"] for row in await connection.fetch(_CHOSEN, tenant, batch)]
                if not before:
                    before = [row["member"] for row in await connection.fetch(_WITH_PROPOSALS, tenant, batch)]
                await connection.fetch(_HOLD_PEOPLE, tenant, before)
                member = await self._members.invite_within(
                    connection, tenant, id, new, actor, now, mailed=True, batch=batch
                ) or await self._known(connection, tenant, new)
                await self._check_blind(connection, tenant, batch, member)
                await self._choose(connection, tenant, batch, [*before, member.id], actor, now)
                return member

        return await self._database.run(work)

    async def _hold(self, connection: Connection, tenant: TenantId, batch: BatchId) -> None:
        """Raises ReviewRefused."""
        await hold_call_open(connection, tenant, batch, alone=True)
        if await connection.fetchval(_CALL, tenant, batch) is None:
            raise ReviewRefused(f"There is no such call: {batch}.")

    async def _known(self, connection: Connection, tenant: TenantId, new: NewMember) -> Member:
        """Who has this address already. Raises ReviewRefused unless they are a reviewer."""
        id = await connection.fetchval(_BY_ADDRESS, tenant, new.email)
        member = None if id is None else await self._members.get_within(connection, tenant, id)
        if member is None:
            raise ReviewRefused("Somebody with this address was just removed. Try again.")
        if member.role != "reviewer":
            article = "an" if member.role[0] in "ao" else "a"
            raise ReviewRefused(f"{new.email} is the address of {member.name}, {article} {member.role}, no reviewer.")
        return member

    async def _check_blind(self, connection: Connection, tenant: TenantId, batch: BatchId, member: Member) -> None:
        """They would be told of a call of which they get nothing. Raises ReviewRefused."""
        if until := await connection.fetchval(_NOT_BLIND, tenant, batch, member.id):
            raise ReviewRefused(
                f"{member.name} could read the reports of this call until {until:%Y-%m-%d}, in another role: a first "
                "opinion would not be blind. Nobody was invited."
            )

    async def _choose(
        self,
        connection: Connection,
        tenant: TenantId,
        batch: BatchId,
        reviewers: Sequence[MemberId] | None,
        actor: Actor,
        now: dt.datetime,
    ) -> ChosenReviewers:
        wanted = list(reviewers or ())
        added = [row["member"] for row in await connection.fetch(_ADD, tenant, batch, wanted, now)]
        removed = [row["member"] for row in await connection.fetch(_REMOVE, batch, wanted)]
        if reviewers is None:
            if removed:
                await self._log.append(
                    connection, tenant, actor, "reviewers chosen", batch, now, everybody=True, removed=removed
                )
            return ChosenReviewers([], removed, [])
        if await connection.fetchval(_CHOSEN, tenant, batch) is None:
            raise ReviewRefused("None of these reviews any more. Nothing was changed.")
        ended = [(row["evaluation"], row["member"]) for row in await connection.fetch(_END, tenant, batch, wanted)]
        for evaluation, member in ended:
            said = {"member": member, "reason": "reviews this call no more"}
            await self._log.append(connection, tenant, actor, "assignment withdrawn", evaluation, now, **said)
        if added or removed:
            await self._log.append(
                connection, tenant, actor, "reviewers chosen", batch, now, added=added, removed=removed
            )
        return ChosenReviewers(added, removed, ended)
