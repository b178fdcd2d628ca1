"""Leases, which give a worker the exclusive right to run a job. They are granted fairly, renewed by heartbeats and
protected by fencing tokens. A lease ends when the job gets a verdict, when the worker gives it back, or when it
expires."""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from assayer.models import EvaluationId
from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.models import JobState, JobVerdict, Lease
from orchestrator.jobs.state_machine import AttemptHistory, AttemptLimits, RetryCause, build_gave_up_problem
from orchestrator.settings import QueueSettings
from orchestrator.store.database import Connection, Database, Store
from orchestrator.store.job_sql import CHARGE, PAID_SO_FAR, PROMPT_TOKENS_SO_FAR, build_finish_statement
from orchestrator.store.json_columns import mapping_to_json_column, replace_nul, to_json_column
from orchestrator.store.lease_granting import HAS_WAITING_JOBS, grant_leases
from orchestrator.store.notifications import (
    JOB_QUEUED,
    Notification,
    make_event_notification,
    make_finished_notifications,
    notify,
)
from orchestrator.store.ranking_rows import result_to_json, store_ranking_result

_MAX_EXPIRED_PER_STATEMENT = 100
_RANKING_SECONDS = 300.0
"""Timeout in seconds for storing a ranking's result, which may contain a hundred megabytes of comparisons."""
_SHORT_OUTAGE_DIVISOR = 6
"""An outage shorter than the lease duration divided by this number leaves enough time to renew the lease."""

_RENEW_LEASES = """
    UPDATE jobs SET leased_until = statement_timestamp() + $2 * interval '1 second' WHERE lease = ANY($1)
    RETURNING lease
"""

_RECORD_RUN = """
    WITH pinned AS (UPDATE jobs SET run_id = $3, pinned = $4 WHERE id = $1 AND lease = $2 RETURNING id, run_id)
    INSERT INTO runs (job, run_id) SELECT id, run_id FROM pinned
    ON CONFLICT (job, run_id) DO UPDATE SET run_id = excluded.run_id RETURNING job
"""

_FINISH_JOB = build_finish_statement(
    "state = $3, last_lease = $2, run_id = coalesce($4, run_id), result = $5, problem = $6, "
    f"cost_usd = coalesce($7::float8, {PAID_SO_FAR}), prompt_tokens = {PROMPT_TOKENS_SO_FAR}, "
    "flags = coalesce($8::text[], flags), subject = coalesce($9::text, subject)",
    "id = $1 AND lease = $2",
    keep_if="$10::boolean",
    run_insert="""
        INSERT INTO runs (job, run_id) SELECT id, $4 FROM ended WHERE $4::text IS NOT NULL ON CONFLICT DO NOTHING
    """,
)
_SELECT_IS_FINISHED = "SELECT true FROM jobs WHERE id = $1 AND last_lease = $2 AND state = $3"

_ATTEMPT_COLUMNS = "id, failures, losses, outages, reasons, worker"
_LOCK_LEASED_JOB = f"SELECT {_ATTEMPT_COLUMNS} FROM jobs WHERE id = $1 AND lease = $2 FOR UPDATE"
_SELECT_RETURNED_STATE = "SELECT state FROM jobs WHERE id = $1 AND last_lease = $2 AND state IN ('queued', 'failed')"
# Sorted in the order in which spending is written, so that concurrent charges cannot deadlock.
_LOCK_EXPIRED_JOBS = f"""
    WITH expired AS (
        SELECT tenant, {_ATTEMPT_COLUMNS} FROM jobs WHERE state = 'running' AND leased_until < statement_timestamp()
        ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
    )
    SELECT * FROM expired ORDER BY tenant, abs(hashtext(id) % 16), id
"""

# The attempt's cost is charged immediately, because a waiting job has no reservation.
_REQUEUE_JOB = f"""
    WITH charges AS (
        SELECT id, tenant, greatest(0, {PAID_SO_FAR} - charged_usd) AS usd FROM jobs WHERE id = $1
    ), charged AS ({CHARGE}), requeued AS (
        UPDATE jobs
        SET state = 'queued', lease = NULL, leased_until = NULL, worker = NULL, reserved_usd = 0, last_lease = $2,
            charged_usd = charged_usd + charges.usd, failures = $3, losses = $4, outages = $5, reasons = $6,
            last_event = last_event + 1,
            ready_at = CASE WHEN $7 > 0 THEN statement_timestamp() + $7 * interval '1 second' ELSE ready_at END
        FROM charges WHERE jobs.id = charges.id
        RETURNING jobs.id, last_event
    ), event AS (
        INSERT INTO events (job, number, kind, data)
        SELECT id, last_event, 'retried', jsonb_build_object('reason', $8::text, 'after_seconds', $7::float8)
        FROM requeued
    )
    SELECT id FROM requeued
"""

_FAIL_JOB = build_finish_statement(
    "state = 'failed', last_lease = $2, failures = $3, losses = $4, outages = $5, reasons = $6, problem = $7, "
    f"cost_usd = {PAID_SO_FAR}",
    "id = $1",
    keep_if="$8::boolean",
)


class PgLeases(Store):
    """Leases for any number of concurrent workers. A worker whose lease is no longer valid cannot change the job."""

    def __init__(
        self,
        database: Database,
        settings: QueueSettings,
        new_token: Callable[[], UUID] = uuid4,
        keep_documents: bool = True,
    ) -> None:
        """Create the store. `keep_documents` is True if documents are kept after their jobs have ended."""
        super().__init__(database)
        self._keep_documents = keep_documents
        self._settings = settings
        self._new_token = new_token
        self._attempt_limits = AttemptLimits(settings.max_failures, settings.max_losses, settings.max_outages)

    async def acquire(self, worker: str, slots: FreeSlots) -> list[Lease]:
        """Acquire at most one lease per free slot, interactive jobs first. Jobs whose maximum cost exceeds the tenant's
        whole monthly budget, and jobs that cannot be read, are marked as failed. Jobs whose maximum cost exceeds only
        what remains of this month's budget keep waiting."""
        if slots.free <= 0 or await self._database.fetch_one(HAS_WAITING_JOBS, slots.overnight_only) is None:
            return []
        tokens = [self._new_token() for _ in range(slots.free)]

        async def grant(connection: Connection) -> list[Lease]:
            granted = await grant_leases(
                connection, worker, slots, tokens, self._settings, keep_documents=self._keep_documents
            )
            started = [make_event_notification(lease.job) for lease in granted.leases]
            await notify(connection, [*started, *chain(*map(make_finished_notifications, granted.rejected))])
            return granted.leases

        return await self._database.run(grant)

    async def renew(self, tokens: Sequence[UUID]) -> set[UUID]:
        """Renew leases, and return the tokens of those that are still valid."""
        rows = await self._database.fetch(_RENEW_LEASES, sorted(tokens), self._settings.lease_seconds)
        return {row["lease"] for row in rows}

    async def record_run(self, lease: Lease, run_id: EvaluationId, pinned: Mapping[str, Any]) -> bool:
        """Record a run and everything that determines its result (`pinned`), before any money is spent on it. Return
        False if the lease is no longer valid."""
        row = await self._database.fetch_one(
            _RECORD_RUN, lease.job, lease.token, run_id, mapping_to_json_column(pinned)
        )
        return row is not None

    async def finish(self, lease: Lease, verdict: JobVerdict) -> bool:
        """Store a job's verdict. If it has no cost, the ledger's total for all of the job's runs is used. Return False
        if the lease is no longer valid."""
        problem = None if verdict.problem is None else to_json_column(verdict.problem)
        result = None if verdict.result is None else result_to_json(lease.request.kind, verdict.result)
        title = replace_nul(verdict.title) if verdict.title else None
        values = (verdict.run_id, result, problem, verdict.cost_usd, verdict.flags, title, self._keep_documents)

        timeout = _RANKING_SECONDS if lease.request.kind == "ranking" else None

        async def store_verdict(connection: Connection) -> bool:
            key = (lease.job, lease.token, verdict.state)
            async with connection.transaction():
                stored_rows = await connection.fetch(_FINISH_JOB, *key, *values, timeout=timeout)
                if stored_rows and verdict.result is not None:
                    await store_ranking_result(connection, lease.job, verdict.result, timeout)
            # An earlier attempt whose response was lost may have stored the verdict.
            is_stored = bool(stored_rows or await connection.fetch(_SELECT_IS_FINISHED, *key))
            if is_stored:
                await notify(connection, make_finished_notifications(lease.job))
            return is_stored

        return await self._database.run(store_verdict, timeout)

    async def give_back(self, lease: Lease, why: str, *, attempt_failed: bool, after_seconds: float) -> JobState | None:
        """Put a job back in the queue, or mark it as failed if its attempts are exhausted. Return its new state, or
        None if the lease is no longer valid. The attempt counts as a failure if `attempt_failed`, otherwise as an
        outage."""
        cause: RetryCause = "failure" if attempt_failed else "outage"

        async def return_job(connection: Connection) -> JobState | None:
            async with connection.transaction():
                row = await connection.fetchrow(_LOCK_LEASED_JOB, lease.job, lease.token)
                state: JobState | None
                if row is None:
                    state = await connection.fetchval(_SELECT_RETURNED_STATE, lease.job, lease.token)
                else:
                    state = await self._requeue_or_fail(connection, row, cause, why, lease.token, after_seconds)
            if state is not None:
                await notify(connection, _make_notifications(lease.job, state))
            return state

        return await self._database.run(return_job)

    async def expire(self) -> int:
        """Put jobs whose lease has expired back in the queue, or mark them as failed if their attempts are exhausted.
        Return the number of these jobs. After a database outage, do nothing until workers have had time to renew their
        leases."""

        async def return_expired_jobs(connection: Connection) -> int:
            if self._has_just_reconnected():
                return 0
            async with connection.transaction():
                rows = await connection.fetch(_LOCK_EXPIRED_JOBS, _MAX_EXPIRED_PER_STATEMENT)
                states = []
                for row in rows:
                    why = f"The process {row['worker']} was lost while running this job."
                    states.append(await self._requeue_or_fail(connection, row, "loss", why, None, 0))
            for row, state in zip(rows, states, strict=True):
                await notify(connection, _make_notifications(row["id"], state))
            return len(rows)

        total = 0
        while count := await self._database.run(return_expired_jobs):
            total += count
        return total

    def _has_just_reconnected(self) -> bool:
        outage, lease = self._database.last_outage, self._settings.lease_seconds
        if outage is None or outage.seconds < lease / _SHORT_OUTAGE_DIVISOR:
            return False
        return time.monotonic() - outage.ended_at < lease

    async def _requeue_or_fail(
        self,
        connection: Connection,
        row: asyncpg.Record,
        cause: RetryCause,
        why: str,
        token: UUID | None,
        after_seconds: float,
    ) -> JobState:
        earlier_history = AttemptHistory(row["failures"], row["losses"], row["outages"], tuple(row["reasons"]))
        history = earlier_history.add_attempt(cause, replace_nul(why))
        counts = (row["id"], token, *history)
        if history.has_exhausted(self._attempt_limits):
            await connection.fetch(
                _FAIL_JOB, *counts, to_json_column(build_gave_up_problem(history)), self._keep_documents
            )
            return "failed"
        await connection.fetch(_REQUEUE_JOB, *counts, float(after_seconds), history.reasons[-1])
        return "queued"


def _make_notifications(job: str, state: JobState) -> tuple[Notification, Notification]:
    return make_finished_notifications(job) if state == "failed" else (JOB_QUEUED, make_event_notification(job))
