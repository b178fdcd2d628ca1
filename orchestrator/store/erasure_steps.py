"""The steps of an erasure. Each is one transaction, so that no other transaction can write text about the erased
resource in between."""

from collections.abc import Sequence, Set
from typing import NamedTuple

import asyncpg

from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection
from orchestrator.store.job_sql import IS_UNFINISHED, PAID_SO_FAR, build_finish_statement, source_matches
from orchestrator.store.notifications import make_cancelled_notifications, notify
from orchestrator.store.open_calls import prevent_sign_off
from orchestrator.store.ranking_redaction import (
    APPLICANT_IDEAS,
    MIN_REMAINING_PROPOSALS,
    RankedApplicant,
    find_ranked_applicant,
    redact_ranking,
)
from orchestrator.store.retention import erase_batch, erase_jobs

_SELECT_IDEA_IDS = f"WITH {APPLICANT_IDEAS} SELECT DISTINCT idea FROM direct WHERE idea IS NOT NULL"
_ROW_HAS_NAME = source_matches("(rejected_row ->> 'source')", "$2")
# Rows added concurrently are kept, because the update filters the current list.
_DELETE_REJECTED_ROWS = f"""
    UPDATE batches SET (erased, rejected) = (
        SELECT erased + count(*) FILTER (WHERE {_ROW_HAS_NAME}),
               coalesce(jsonb_agg(rejected_row ORDER BY place) FILTER (WHERE NOT {_ROW_HAS_NAME}), '[]')
        FROM jsonb_array_elements(batches.rejected) WITH ORDINALITY AS numbered (rejected_row, place)
    )
    WHERE tenant = $1 AND EXISTS (
        SELECT FROM jsonb_array_elements(batches.rejected) AS rejected_row WHERE {_ROW_HAS_NAME}
    )
    RETURNING id
"""
_CANCEL_JOBS = build_finish_statement(
    f"state = 'cancelled', cost_usd = {PAID_SO_FAR}",
    f"id IN (SELECT id FROM jobs WHERE tenant = $1 AND {IS_UNFINISHED} AND id = ANY($2) ORDER BY id FOR UPDATE)",
)
# Calls are locked before their jobs, as in every other action on calls.
_LOCK_BATCHES = """
    SELECT id FROM batches WHERE id IN (SELECT batch FROM jobs WHERE tenant = $1 AND id = ANY($2))
    ORDER BY id FOR NO KEY UPDATE
"""
# Webhook messages contain titles and names; this includes those about the cancellations made just now.
_DELETE_MESSAGES = """
    DELETE FROM deliveries USING webhooks
    WHERE webhooks.id = webhook AND webhooks.tenant = $1 AND payload #>> '{data,id}' = ANY($2)
"""
# Stored responses list rejected, duplicate and skipped rows; those about rankings list skipped evaluations. A request
# repeated within a week still gets its response, but with empty lists.
_EMPTY_RESPONSES = """
    UPDATE idempotency SET body = convert_to(
        (
            SELECT jsonb_object_agg(name, CASE jsonb_typeof(value) WHEN 'array' THEN '[]' ELSE value END)
            FROM jsonb_each(convert_from(body, 'UTF8')::jsonb) AS field (name, value)
        )::text,
        'UTF8'
    )
    WHERE tenant = $1 AND (
        split_part(location, '/', 4) = ANY($2)
        OR CASE WHEN location LIKE '/v1/rankings/%' THEN EXISTS (
            SELECT FROM jsonb_path_query(convert_from(body, 'UTF8')::jsonb, '$.*[*].evaluation') AS named
            WHERE named #>> '{}' = ANY($2)
        ) ELSE false END
    )
"""
_SELECT_FINISHED_RANKINGS = """
    SELECT id FROM jobs WHERE tenant = $1 AND id = ANY($2) AND kind = 'ranking' AND state = 'succeeded' ORDER BY id
"""
_SELECT_RANKED_CALLS = "SELECT batch FROM ranking_calls WHERE job = $1 ORDER BY batch"


class StartedErasure(NamedTuple):
    proof: int
    """Number of the audit log entry that records the erasure."""
    ideas: set[str]
    """Ids of the ideas in the applicant's evaluations or in the batch."""
    finished_rankings: dict[JobId, RankedApplicant]
    """Rankings that would have been deleted but have finished since the preview. They are kept without the
    applicant."""


class ErasureStart(NamedTuple):
    """The first step of an erasure: record in the audit log what will be deleted, and cancel the applicant's unfinished
    jobs."""

    log: PgAuditLog
    tenant: TenantId
    by: ActBy
    source: str | None
    batch: BatchId | None
    jobs: Sequence[JobId]
    ranking: JobId | None
    redacted_rankings: Sequence[JobId]
    ideas: Set[str]

    @property
    def audit_subject(self) -> str:
        """Subject of the audit log entry: the batch, the only job, or `an applicant`."""
        single = len(self.jobs) == 1 and self.source is None
        return self.batch or (self.jobs[0] if single else "an applicant")

    async def record_and_cancel(self, connection: Connection) -> StartedErasure:
        """Record the erasure in the audit log, delete the log's content about the resources, and cancel the applicant's
        unfinished jobs."""
        async with connection.transaction():
            for row in await connection.fetch(_SELECT_RANKED_CALLS, self.ranking):
                await prevent_sign_off(connection, self.tenant, row["batch"])
            ideas = self.ideas | await find_idea_ids(self.tenant, self.source, self.batch, connection)
            finished, cancelled = dict[JobId, RankedApplicant](), list[asyncpg.Record]()
            if self.source is not None:
                # Rankings that have finished since the preview are kept.
                await connection.fetch(_LOCK_BATCHES, self.tenant, self.jobs)
                cancelled = await connection.fetch(_CANCEL_JOBS, self.tenant, self.jobs)
                finished = await self._find_finished_rankings(connection, ideas)
            resource_ids = [job for job in (*self.jobs, self.batch) if job is not None and job not in finished]
            await connection.fetch(_DELETE_MESSAGES, self.tenant, resource_ids)
            kept_rankings = [*self.redacted_rankings, *finished]
            extra_content: dict[str, list[str]] = {"redacted_rankings": [*kept_rankings]} if kept_rankings else {}
            head = await self.log.erase_within(
                connection, self.tenant, self.by, self.audit_subject, resource_ids, **extra_content
            )
        await notify(connection, make_cancelled_notifications(cancelled))
        return StartedErasure(head.number, set(ideas), finished)

    async def _find_finished_rankings(self, connection: Connection, ideas: Set[str]) -> dict[JobId, RankedApplicant]:
        finished = {}
        for row in await connection.fetch(_SELECT_FINISHED_RANKINGS, self.tenant, self.jobs):
            ranked_applicant = await find_ranked_applicant(
                connection, self.tenant, row["id"], remove_nul(self.source) or "", ideas
            )
            if ranked_applicant is not None and ranked_applicant.others >= MIN_REMAINING_PROPOSALS:
                finished[JobId(row["id"])] = ranked_applicant
        return finished


class ErasureSteps(NamedTuple):
    """Steps performed after `ErasureStart`."""

    log: PgAuditLog
    tenant: TenantId
    by: ActBy
    audit_subject: str
    proof: int
    """Number of the audit log entry that records the erasure."""

    async def delete_jobs(self, jobs: Sequence[JobId], connection: Connection) -> None:
        async with connection.transaction():
            batches = [row["id"] for row in await connection.fetch(_LOCK_BATCHES, self.tenant, jobs)]
            cancelled = await connection.fetch(_CANCEL_JOBS, self.tenant, jobs)
            await erase_jobs(connection, self.tenant, jobs, self.by.at, self.proof)
            await self._delete_traces(connection, jobs, [*jobs, *batches])
        await notify(connection, make_cancelled_notifications(cancelled))

    async def remove_from_ranking(self, ranking: JobId, source: str, ideas: Set[str], connection: Connection) -> None:
        async with connection.transaction():
            ranked_applicant = await find_ranked_applicant(
                connection, self.tenant, ranking, remove_nul(source) or "", ideas
            )
            if ranked_applicant is None:
                return
            if ranked_applicant.others >= MIN_REMAINING_PROPOSALS:
                await redact_ranking(connection, ranking, ranked_applicant, self.by.at, self.proof)
                await connection.fetch(_EMPTY_RESPONSES, self.tenant, [ranking])
                return
            # Too few others are left, because some have been erased since the preview. The log's head is locked last.
            await connection.fetch(_DELETE_MESSAGES, self.tenant, [ranking])
            await connection.fetch(_EMPTY_RESPONSES, self.tenant, [ranking])
            head = await self.log.erase_within(connection, self.tenant, self.by, self.audit_subject, [ranking])
            await erase_jobs(connection, self.tenant, [ranking], self.by.at, head.number)

    async def delete_rejected_rows(self, source: str, connection: Connection) -> None:
        async with connection.transaction():
            rows = await connection.fetch(_DELETE_REJECTED_ROWS, self.tenant, remove_nul(source))
            await connection.fetch(_EMPTY_RESPONSES, self.tenant, [row["id"] for row in rows])

    async def delete_batch(self, batch: BatchId, connection: Connection) -> None:
        async with connection.transaction():
            await erase_batch(connection, self.tenant, batch, self.by.at, self.proof)
            await self._delete_traces(connection, [batch], [batch])

    async def _delete_traces(
        self, connection: Connection, resource_ids: Sequence[str], response_ids: Sequence[str]
    ) -> None:
        await connection.fetch(_DELETE_MESSAGES, self.tenant, resource_ids)
        await connection.fetch(_EMPTY_RESPONSES, self.tenant, response_ids)
        await self.log.erase_late(connection, self.tenant, self.by, self.audit_subject, resource_ids)


async def find_idea_ids(
    tenant: TenantId, source: str | None, batch: BatchId | None, connection: Connection
) -> frozenset[str]:
    """Return the idea ids of the evaluations that still exist and are named `source` or belong to the batch."""
    if source is None and batch is None:
        return frozenset()
    rows = await connection.fetch(_SELECT_IDEA_IDS, tenant, remove_nul(source), batch, [])
    return frozenset(row["idea"] for row in rows)


def remove_nul(source: str | None) -> str | None:
    """Return a name without NUL characters, for comparison with stored names."""
    return None if source is None else source.replace("\x00", "")
