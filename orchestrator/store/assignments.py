"""Who reviews what, and who must not."""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.access.audit_chain import Actor
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.models import Assignment, ConflictOfInterest, Standing
from orchestrator.reviewing.shown_reports import numbered_title
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database
from orchestrator.store.json_columns import storable_text
from orchestrator.store.mails import PgMails
from orchestrator.store.masked_titles import MaskedTitles
from orchestrator.store.members import COULD_READ_REPORTS
from orchestrator.store.open_calls import hold_call_open
from orchestrator.store.rows import from_row

__all__ = ["PgAssignments", "ProposalText"]

_QUEUE = """
    SELECT given.evaluation, jobs.batch, jobs."row", jobs.subject AS title, jobs.state, given.member, given.at,
           batches.opinions_due AS due,
           CASE WHEN opinion.blind_at IS NULL THEN 'none' WHEN opinion.revised_at IS NULL THEN 'blind'
                ELSE 'revised' END AS opinion
    FROM assignments AS given JOIN jobs ON jobs.id = given.evaluation
    LEFT JOIN batches ON batches.id = jobs.batch
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
    INSERT INTO conflicts (evaluation, member, source, reason, at)
    SELECT id, $2, $3, $4, $5 FROM jobs WHERE id = $1 FOR KEY SHARE ON CONFLICT DO NOTHING
"""
_DECLARE = """
    INSERT INTO conflicts AS known (evaluation, member, source, reason, at)
    SELECT jobs.id, members.id, 'declared', $4, $5 FROM jobs, members
    WHERE jobs.tenant = $1 AND jobs.id = $2 AND members.tenant = $1 AND members.id = $3
    FOR KEY SHARE OF jobs
    ON CONFLICT (evaluation, member) DO UPDATE SET source = 'declared', reason = $4, cleared = NULL, at = $5
    RETURNING known.*
"""
_CLEAR = """
    UPDATE conflicts SET cleared = $4 FROM jobs
    WHERE jobs.id = evaluation AND jobs.tenant = $1 AND evaluation = $2 AND member = $3 RETURNING conflicts.*
"""
# Of what was planned, what can still be: the proposal may be erased meanwhile, a conflict declared, a reviewer removed,
# or taken from the call.
_ASSIGN = f"""
    INSERT INTO assignments (evaluation, member, at)
    SELECT jobs.id, members.id, $3
    FROM unnest($1::text[], $2::text[]) AS given (evaluation, member)
    JOIN jobs ON jobs.id = given.evaluation AND jobs.batch = $4
    JOIN batches ON batches.id = jobs.batch
    JOIN members ON members.id = given.member AND members.removed_at IS NULL AND members.role = 'reviewer'
    WHERE NOT {COULD_READ_REPORTS} AND NOT EXISTS (
        SELECT FROM conflicts WHERE evaluation = jobs.id AND member = members.id AND cleared IS NULL
    )
    AND (
        NOT EXISTS (SELECT FROM call_reviewers WHERE batch = $4)
        OR EXISTS (SELECT FROM call_reviewers AS chosen WHERE chosen.batch = $4 AND chosen.member = members.id)
    )
    FOR KEY SHARE OF jobs, members
    ON CONFLICT DO NOTHING RETURNING evaluation, member
"""  # noqa: S608 - put together from constants
_CONFLICTED = """EXISTS (
    SELECT FROM conflicts
    WHERE conflicts.evaluation = assignments.evaluation AND conflicts.member = assignments.member
      AND conflicts.cleared IS NULL
)"""
_GONE = "(members.removed_at IS NOT NULL OR members.role <> 'reviewer')"
# Opinions that were given stay.
_END_BARRED = f"""
    DELETE FROM assignments USING jobs, batches, members
    WHERE jobs.id = assignments.evaluation AND jobs.tenant = $1 AND jobs.batch = $2 AND batches.id = jobs.batch
      AND members.id = assignments.member AND ({_CONFLICTED} OR {_GONE} OR {COULD_READ_REPORTS})
      AND NOT EXISTS (
          SELECT FROM opinions
          WHERE opinions.evaluation = assignments.evaluation AND opinions.member = assignments.member
      )
    RETURNING assignments.evaluation, assignments.member,
              CASE WHEN {_CONFLICTED} THEN 'a conflict of interest' WHEN {_GONE} THEN 'reviews no more'
                   ELSE 'could read the reports in another role' END AS reason
"""  # noqa: S608 - put together from constants
_NOT_BLIND = f"""
    SELECT members.id, read_reports_until FROM members JOIN batches USING (tenant)
    WHERE members.tenant = $1 AND batches.id = $2 AND members.removed_at IS NULL AND members.role = 'reviewer'
      AND {COULD_READ_REPORTS}
"""  # noqa: S608 - put together from constants
_WITHDRAW = """
    DELETE FROM assignments USING jobs
    WHERE jobs.id = evaluation AND jobs.tenant = $1 AND evaluation = $2 AND member = $3
    AND NOT EXISTS (SELECT FROM opinions WHERE opinions.evaluation = $2 AND opinions.member = $3)
    RETURNING evaluation
"""


class ProposalText(NamedTuple):
    """A proposal, as conflicts are looked for in it."""

    id: JobId
    title: str
    text: str | None
    """None: it came as a document that has not been read yet."""


class PgAssignments:
    def __init__(self, database: Database, audit_log: PgAuditLog, mails: PgMails) -> None:
        self._database = database
        self._log = audit_log
        self._mails = mails
        self._masked_titles = MaskedTitles(database)

    async def queue_of_reviewer(
        self, tenant: TenantId, member: MemberId, batch: BatchId | None = None, limit: int = 10_000
    ) -> list[Assignment]:
        """As they may read it: titles of proposals that are judged blind are masked, or are their numbers alone."""
        given = await self.queue(tenant, member=member, batch=batch, limit=limit)
        titles = await self._masked_titles.of(tenant, [one.evaluation for one in given])
        shown = {one.evaluation: titles.get(one.evaluation, "") for one in given}
        return [
            one
            if shown[one.evaluation] is None
            else one.model_copy(update={"title": shown[one.evaluation] or numbered_title(one.row)})
            for one in given
        ]

    async def queue(
        self, tenant: TenantId, *, member: MemberId | None, batch: BatchId | None, limit: int = 10_000
    ) -> list[Assignment]:
        """Of one person or all, in one call or all; first what waits for an opinion. For whoever runs calls."""
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

    async def not_blind(self, tenant: TenantId, batch: BatchId) -> dict[MemberId, dt.datetime]:
        """Reviewers who could read reports of the call in another role, and until when: they get none of it."""
        rows = await self._database.fetch(_NOT_BLIND, tenant, batch)
        return {MemberId(row["id"]): row["read_reports_until"] for row in rows}

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
                await hold_call_open(connection, tenant, evaluation, alone=True)
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
    ) -> list[tuple[JobId, MemberId]]:
        """Those of the pairs that are new and still can be: nobody gets what a conflict has barred by then, or of what
        they could read the reports. Assignments of the call that are barred so, or whose person reviews no more, and
        that have no opinion, end."""

        async def work(connection: Connection) -> list[tuple[JobId, MemberId]]:
            async with connection.transaction():
                await hold_call_open(connection, tenant, batch, alone=True)
                ended = await connection.fetch(_END_BARRED, tenant, batch)
                evaluations, members = [list(one) for one in zip(*pairs, strict=True)] if pairs else ([], [])
                rows = await connection.fetch(_ASSIGN, evaluations, members, now, batch)
                new = [(JobId(row["evaluation"]), MemberId(row["member"])) for row in rows]
                # People first, as whoever changes them holds them before the end of the log.
                for row in ended:
                    said = {"member": row["member"], "reason": row["reason"]}
                    await self._log.append(
                        connection, tenant, actor, "assignment withdrawn", row["evaluation"], now, **said
                    )
                if new:
                    await self._mails.add_assignments(connection, tenant, batch, [member for _, member in new])
                    given = [[evaluation, member] for evaluation, member in new]
                    await self._log.append(connection, tenant, actor, "reviewers assigned", batch, now, pairs=given)
                return new

        return await self._database.run(work)

    async def withdraw(
        self, tenant: TenantId, evaluation: JobId, member: MemberId, actor: Actor, now: dt.datetime
    ) -> bool:
        """False where there is none, or an opinion was given."""

        async def work(connection: Connection) -> bool:
            async with connection.transaction():
                await hold_call_open(connection, tenant, evaluation, alone=True)
                if await connection.fetchrow(_WITHDRAW, tenant, evaluation, member) is None:
                    return False
                await self._log.append(
                    connection, tenant, actor, "assignment withdrawn", evaluation, now, member=member
                )
                return True

        return await self._database.run(work)
