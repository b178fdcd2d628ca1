"""Who reviews what, and who must not."""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.access.audit_chain import Actor
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.models import Assignment, ConflictOfInterest, ReviewRefused, Standing
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database
from orchestrator.store.json_columns import storable_text
from orchestrator.store.mails import PgMails
from orchestrator.store.rows import from_row

__all__ = ["PgAssignments", "ProposalText", "hold_call_open"]

_QUEUE = """
    SELECT given.evaluation, jobs.batch, jobs."row", jobs.subject AS title, jobs.state, given.member, given.at,
           (SELECT opinions_due FROM batches WHERE batches.id = jobs.batch) AS due,
           CASE WHEN opinion.blind_at IS NULL THEN 'none' WHEN opinion.revised_at IS NULL THEN 'blind'
                ELSE 'revised' END AS opinion
    FROM assignments AS given JOIN jobs ON jobs.id = given.evaluation
    LEFT JOIN opinions AS opinion USING (evaluation, member)
    WHERE jobs.tenant = $1 AND ($2::text IS NULL OR given.member = $2) AND ($3::text IS NULL OR jobs.batch = $3)
    ORDER BY opinion.blind_at IS NOT NULL, jobs.batch, jobs."row", given.evaluation, given.member LIMIT $4
"""
_STANDING = """
    SELECT EXISTS (SELECT FROM opinions WHERE evaluation = $2 AND member = $3) AS blind_given
    FROM assignments JOIN jobs ON jobs.id = assignments.evaluation
    WHERE jobs.tenant = $1 AND evaluation = $2 AND member = $3
"""
_PROPOSALS = """
    SELECT id, subject AS title, concat_ws(E'\\n', request #>> '{idea,title}', request #>> '{idea,text}') AS text,
           jobs.request -> 'idea' IS NULL OR jobs.request ->> 'idea' IS NULL AS unread,
           (SELECT evaluations.report #>> '{idea,text}' FROM evaluations WHERE evaluations.id = jobs.run_id) AS judged
    FROM jobs WHERE tenant = $1 AND batch = $2 AND kind = 'evaluation' AND state <> 'cancelled' ORDER BY "row", id
"""
_TITLES = """
    SELECT id, subject AS title FROM jobs
    WHERE tenant = $1 AND batch = $2 AND kind = 'evaluation' AND state <> 'cancelled' ORDER BY "row", id
"""
_CONFLICTS = """
    SELECT conflicts.* FROM conflicts JOIN jobs ON jobs.id = conflicts.evaluation
    WHERE jobs.tenant = $1 AND ($2::text IS NULL OR jobs.batch = $2) AND ($3::text IS NULL OR conflicts.member = $3)
    ORDER BY jobs."row", conflicts.evaluation, conflicts.member
"""
# What a person said before is not put in doubt by what a rule finds.
_ADD_FOUND = """
    INSERT INTO conflicts (evaluation, member, source, reason, at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
"""
_DECLARE = """
    INSERT INTO conflicts AS known (evaluation, member, source, reason, at)
    SELECT jobs.id, members.id, 'declared', $4, $5 FROM jobs, members
    WHERE jobs.tenant = $1 AND jobs.id = $2 AND members.tenant = $1 AND members.id = $3
    ON CONFLICT (evaluation, member) DO UPDATE SET source = 'declared', reason = $4, cleared = NULL, at = $5
    RETURNING known.*
"""
_CLEAR = """
    UPDATE conflicts SET cleared = $4 FROM jobs
    WHERE jobs.id = evaluation AND jobs.tenant = $1 AND evaluation = $2 AND member = $3 RETURNING conflicts.*
"""
_ASSIGN = """
    INSERT INTO assignments (evaluation, member, at) SELECT evaluation, member, $3
    FROM unnest($1::text[], $2::text[]) AS given (evaluation, member) ON CONFLICT DO NOTHING RETURNING member
"""
_WITHDRAW = """
    DELETE FROM assignments USING jobs
    WHERE jobs.id = evaluation AND jobs.tenant = $1 AND evaluation = $2 AND member = $3
    AND NOT EXISTS (SELECT FROM opinions WHERE opinions.evaluation = $2 AND opinions.member = $3)
    RETURNING evaluation
"""
_CALL_OF = """
    SELECT batches.id, sign_offs.at FROM jobs JOIN batches ON batches.id = jobs.batch
    LEFT JOIN sign_offs ON sign_offs.batch = batches.id
    WHERE jobs.tenant = $1 AND (jobs.id = $2 OR batches.id = $2) LIMIT 1 FOR SHARE OF batches
"""


class ProposalText(NamedTuple):
    """A proposal, as conflicts are looked for in it."""

    id: JobId
    title: str
    text: str | None
    """None: it came as a document that has not been read yet."""


async def hold_call_open(connection: Connection, tenant: TenantId, thing: str) -> None:
    """`thing`: a batch, or an evaluation of it. Nobody signs the call off until the transaction has ended. Raises
    ReviewRefused where somebody has."""
    row = await connection.fetchrow(_CALL_OF, tenant, thing)
    if row is not None and row["at"] is not None:
        raise ReviewRefused(f"The call {row['id']} was signed off on {row['at']:%Y-%m-%d}. Nothing about it changes.")


class PgAssignments:
    def __init__(self, database: Database, audit_log: PgAuditLog, mails: PgMails) -> None:
        self._database = database
        self._log = audit_log
        self._mails = mails

    async def queue(
        self, tenant: TenantId, *, member: MemberId | None, batch: BatchId | None, limit: int = 10_000
    ) -> list[Assignment]:
        """Of one person or all, in one call or all; first what waits for an opinion."""
        return [from_row(Assignment, row) for row in await self._database.fetch(_QUEUE, tenant, member, batch, limit)]

    async def standing(self, tenant: TenantId, evaluation: JobId, member: MemberId) -> Standing | None:
        """None: it is not assigned to them."""
        row = await self._database.fetch_one(_STANDING, tenant, evaluation, member)
        return None if row is None else from_row(Standing, row)

    async def proposals(self, tenant: TenantId, batch: BatchId) -> list[ProposalText]:
        rows = await self._database.fetch(_PROPOSALS, tenant, batch)
        return [ProposalText(row["id"], row["title"], row["judged"] if row["unread"] else row["text"]) for row in rows]

    async def titles(self, tenant: TenantId, batch: BatchId) -> dict[JobId, str]:
        """Of the same proposals in the same order, without their texts."""
        return {row["id"]: row["title"] for row in await self._database.fetch(_TITLES, tenant, batch)}

    async def conflicts(
        self, tenant: TenantId, *, batch: BatchId | None = None, member: MemberId | None = None
    ) -> list[ConflictOfInterest]:
        """Cleared ones included."""
        rows = await self._database.fetch(_CONFLICTS, tenant, batch, member)
        return [from_row(ConflictOfInterest, row) for row in rows]

    async def keep_found(self, found: Sequence[tuple[JobId, MemberId, str, str]], now: dt.datetime) -> None:
        """Evaluation, person, whether by name or affiliation, words of the proposal."""

        async def work(connection: Connection) -> None:
            await connection.executemany(
                _ADD_FOUND, [(one, who, source, storable_text(words), now) for one, who, source, words in found]
            )

        await self._database.run(work)

    async def declare(
        self, tenant: TenantId, evaluation: JobId, member: MemberId, reason: str, actor: Actor, now: dt.datetime
    ) -> ConflictOfInterest | None:
        """Their assignment ends, if no opinion was given. None where there is no such proposal or person."""

        async def work(connection: Connection) -> ConflictOfInterest | None:
            async with connection.transaction():
                await hold_call_open(connection, tenant, evaluation)
                row = await connection.fetchrow(_DECLARE, tenant, evaluation, member, storable_text(reason), now)
                if row is None:
                    return None
                await connection.execute(_WITHDRAW, tenant, evaluation, member)
                await self._log.append(
                    connection, tenant, actor, "conflict declared", evaluation, now, member=member, reason=reason
                )
                return from_row(ConflictOfInterest, row)

        return await self._database.run(work)

    async def clear(
        self, tenant: TenantId, evaluation: JobId, member: MemberId, reason: str, actor: Actor, now: dt.datetime
    ) -> ConflictOfInterest | None:
        """It is none after all. None where there was none."""

        async def work(connection: Connection) -> ConflictOfInterest | None:
            async with connection.transaction():
                await hold_call_open(connection, tenant, evaluation)
                row = await connection.fetchrow(_CLEAR, tenant, evaluation, member, storable_text(reason))
                if row is None:
                    return None
                await self._log.append(
                    connection, tenant, actor, "conflict cleared", evaluation, now, member=member, reason=reason
                )
                return from_row(ConflictOfInterest, row)

        return await self._database.run(work)

    async def assign(
        self, tenant: TenantId, batch: BatchId, pairs: Sequence[tuple[JobId, MemberId]], actor: Actor, now: dt.datetime
    ) -> None:
        async def work(connection: Connection) -> None:
            async with connection.transaction():
                await hold_call_open(connection, tenant, batch)
                evaluations, members = [list(one) for one in zip(*pairs, strict=True)] if pairs else ([], [])
                new = await connection.fetch(_ASSIGN, evaluations, members, now)
                await self._mails.add_assignments(connection, tenant, batch, [row["member"] for row in new])
                given = [[evaluation, member] for evaluation, member in pairs]
                await self._log.append(connection, tenant, actor, "reviewers assigned", batch, now, pairs=given)

        await self._database.run(work)

    async def withdraw(
        self, tenant: TenantId, evaluation: JobId, member: MemberId, actor: Actor, now: dt.datetime
    ) -> bool:
        """False where there is none, or an opinion was given."""

        async def work(connection: Connection) -> bool:
            async with connection.transaction():
                await hold_call_open(connection, tenant, evaluation)
                if await connection.fetchrow(_WITHDRAW, tenant, evaluation, member) is None:
                    return False
                await self._log.append(
                    connection, tenant, actor, "assignment withdrawn", evaluation, now, member=member
                )
                return True

        return await self._database.run(work)
