"""Granting of leases in one transaction: read the queues, let the fair scheduler choose jobs, and lease them."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

import asyncpg

from assayer.errors import StorageError
from orchestrator.jobs.fair_scheduler import (
    FreeSlots,
    TenantQueue,
    WaitingJob,
    allocate_overnight_slots,
    allocate_slots,
)
from orchestrator.jobs.models import JobId, Lease, TenantId
from orchestrator.jobs.state_machine import build_over_budget_problem, build_unreadable_request_problem
from orchestrator.settings import QueueSettings
from orchestrator.store.database import Connection
from orchestrator.store.job_sql import (
    IS_UNFINISHED,
    PAID_SO_FAR,
    PRIORITIES,
    PROMPT_TOKENS_SO_FAR,
    SPENT_THIS_MONTH,
    build_finish_statement,
    parse_request,
)
from orchestrator.store.json_columns import to_json_column
from orchestrator.store.ranking_rows import WHOLE_REQUEST
from orchestrator.store.rows import from_row

_LEASE_COLUMNS = f"""
    id, id AS job, tenant, lease AS token, attempt, priority, {WHOLE_REQUEST} AS request, document, document_file,
    pinned, max_usd, CASE WHEN reserved_usd > 0 THEN charged_usd + reserved_usd END AS affordable_usd,
    coalesce({PAID_SO_FAR}, 0) AS paid_usd, {PROMPT_TOKENS_SO_FAR} AS paid_prompt_tokens, created_at AS submitted_at
"""
"""Columns of a Lease."""

_SELECT_LEASED = f"SELECT {_LEASE_COLUMNS} FROM jobs WHERE lease = ANY($1) ORDER BY priority, ready_at"

# Ordered like the queue's index, so that the index is read instead of the table.
HAS_WAITING_JOBS = """
    SELECT true FROM jobs
    WHERE state = 'queued' AND ready_at <= statement_timestamp() AND (priority = 2) = $1
    ORDER BY tenant, priority LIMIT 1
"""
"""SQL query for whether any job could start now. $1 selects overnight jobs if true, all others if false."""

# This lock serialises scheduling; the statements that follow see what the previous worker did.
_LOCK_CLOCK = "SELECT virtual_time FROM queue_clock FOR UPDATE"

_SELECT_QUEUE_HEADS = """
    SELECT tenants.id AS tenant, ranks.priority, heads.*
    FROM tenants CROSS JOIN unnest($4::smallint[]) AS ranks (priority) CROSS JOIN LATERAL (
        SELECT id, max_usd, charged_usd, losses, ready_at FROM jobs
        WHERE tenant = tenants.id AND priority = ranks.priority AND state = 'queued'
          AND ready_at <= statement_timestamp() AND (losses < $2 OR NOT $3)
        ORDER BY ready_at LIMIT $1
    ) AS heads
    ORDER BY tenants.id, ranks.priority, ready_at
"""

_SELECT_SUSPECT_RUNS = "SELECT EXISTS (SELECT FROM jobs WHERE state = 'running' AND losses > 0 AND losses >= $1)"

_SELECT_TENANTS = f"""
    SELECT id, weight, virtual_time, monthly_usd, max_running - running.jobs AS room, running.overnight,
           monthly_usd - running.reserved - {SPENT_THIS_MONTH} AS money
    FROM tenants CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE priority <> 2) AS jobs, count(*) FILTER (WHERE priority = 2) AS overnight,
               coalesce(sum(reserved_usd), 0) AS reserved
        FROM jobs WHERE tenant = tenants.id AND state = 'running'
    ) AS running
    WHERE id = ANY($1)
"""

_FAIL_JOB = build_finish_statement(
    f"state = 'failed', problem = $2, cost_usd = {PAID_SO_FAR}",
    f"id = $1 AND {IS_UNFINISHED}",
    keep_if="$3::boolean",
)

_GRANT_LEASES = f"""
    WITH granted AS (
        SELECT * FROM unnest($1::text[], $2::uuid[], $3::float8[]) AS granted (id, token, reserved)
    ), held AS (
        SELECT id, token, reserved FROM jobs JOIN granted USING (id) WHERE state = 'queued'
        FOR UPDATE OF jobs SKIP LOCKED
    ), leased AS (
        UPDATE jobs
        SET state = 'running', lease = held.token, leased_until = statement_timestamp() + $4 * interval '1 second',
            worker = $5, reserved_usd = held.reserved, attempt = attempt + 1, last_event = last_event + 1,
            started_at = coalesce(started_at, statement_timestamp())
        FROM held WHERE jobs.id = held.id
        RETURNING jobs.*
    ), started AS (
        INSERT INTO events (job, number, kind, data)
        SELECT id, last_event, 'started', jsonb_build_object('attempt', attempt, 'worker', worker) FROM leased
    ), charged AS (
        UPDATE tenants SET virtual_time = share.virtual_time
        FROM unnest($6::text[], $7::float8[]) AS share (id, virtual_time) WHERE tenants.id = share.id
    ), ticked AS (
        UPDATE queue_clock SET virtual_time = $8
    )
    SELECT {_LEASE_COLUMNS} FROM leased AS jobs ORDER BY priority, ready_at
"""


class GrantedLeases(NamedTuple):
    leases: list[Lease]
    rejected: list[JobId]
    """Jobs that were marked as failed instead of being leased."""


async def grant_leases(
    connection: Connection,
    worker: str,
    slots: FreeSlots,
    tokens: Sequence[UUID],
    settings: QueueSettings,
    *,
    keep_documents: bool,
) -> GrantedLeases:
    """Grant at most one lease per free slot, in one transaction. `tokens` holds a token for each slot; calling again
    with the same tokens returns the same leases."""
    async with connection.transaction():
        clock: float = await connection.fetchval(_LOCK_CLOCK)
        if leased_rows := await connection.fetch(_SELECT_LEASED, tokens):
            return GrantedLeases([_to_lease(row, settings) for row in leased_rows], [])
        is_suspect_running = await connection.fetchval(_SELECT_SUSPECT_RUNS, settings.suspect_losses)
        priorities = [2] if slots.overnight_only else [0, 1]
        heads = await connection.fetch(
            _SELECT_QUEUE_HEADS, slots.free, settings.suspect_losses, is_suspect_running, priorities
        )
        tenants = await connection.fetch(_SELECT_TENANTS, list({row["tenant"] for row in heads}))
        groups = groupby(heads, key=lambda row: (row["tenant"], row["priority"]))
        queues = {key: [_to_waiting_job(row, settings) for row in rows] for key, rows in groups}
        over_budget = await _reject_over_budget(connection, tenants, queues, keep_documents)
        tenant_queues = [_to_tenant_queue(row, queues) for row in tenants]
        if slots.overnight_only:
            shares = allocate_overnight_slots(slots, clock, tenant_queues)
        else:
            shares = allocate_slots(slots, clock, tenant_queues)
        if not shares.grants:
            return GrantedLeases([], over_budget)
        rows = await connection.fetch(
            _GRANT_LEASES,
            [grant.job for grant in shares.grants],
            tokens[: len(shares.grants)],
            [grant.reserved_usd for grant in shares.grants],
            settings.lease_seconds,
            worker,
            list(shares.virtual_times),
            list(shares.virtual_times.values()),
            shares.clock,
        )
        leases, unreadable = await _build_leases(connection, rows, settings, keep_documents)
    return GrantedLeases(leases, over_budget + unreadable)


def _to_waiting_job(row: asyncpg.Record, settings: QueueSettings) -> WaitingJob:
    """Return the waiting job in a row. Its maximum cost is its budget minus the cost of earlier attempts."""
    job_max_usd = settings.max_usd if row["max_usd"] is None else row["max_usd"]
    remaining_usd = None if job_max_usd is None else max(0.0, job_max_usd - row["charged_usd"])
    return WaitingJob(JobId(row["id"]), remaining_usd, row["losses"] >= settings.suspect_losses)


async def _reject_over_budget(
    connection: Connection,
    tenants: Sequence[asyncpg.Record],
    queues: dict[tuple[str, int], list[WaitingJob]],
    keep_documents: bool,
) -> list[JobId]:
    """Mark as failed the jobs whose maximum cost exceeds their tenant's whole monthly budget, and remove them from the
    queues. Return their ids."""
    budgets = {row["id"]: row["monthly_usd"] for row in tenants if row["monthly_usd"] is not None}
    rejected: list[JobId] = []
    for (tenant, priority), queue in queues.items():
        budget = budgets.get(tenant, math.inf)
        for item in queue:
            if item.max_usd is not None and item.max_usd > budget:
                problem = to_json_column(build_over_budget_problem(item.max_usd, budget))
                await connection.fetch(_FAIL_JOB, item.job, problem, keep_documents)
                rejected.append(item.job)
        queues[tenant, priority] = [item for item in queue if item.job not in rejected]
    return rejected


def _to_tenant_queue(row: asyncpg.Record, queues: Mapping[tuple[str, int], Sequence[WaitingJob]]) -> TenantQueue:
    return TenantQueue(
        tenant=TenantId(row["id"]),
        weight=row["weight"],
        virtual_time=row["virtual_time"],
        free_jobs=None if row["room"] is None else max(0, row["room"]),
        budget_left=row["money"],
        interactive=queues.get((row["id"], 0), ()),
        batch=queues.get((row["id"], 1), ()),
        overnight=queues.get((row["id"], 2), ()),
        overnight_running=row["overnight"],
    )


async def _build_leases(
    connection: Connection, rows: Sequence[asyncpg.Record], settings: QueueSettings, keep_documents: bool
) -> tuple[list[Lease], list[JobId]]:
    """Build the leases from the rows, and mark the jobs whose request cannot be read as failed, so that they do not
    keep others from starting. Return the leases and the failed jobs' ids."""
    leases: list[Lease] = []
    unreadable: list[JobId] = []
    for row in rows:
        try:
            leases.append(_to_lease(row, settings))
        except StorageError as error:
            problem = to_json_column(build_unreadable_request_problem(str(error)))
            await connection.fetch(_FAIL_JOB, row["id"], problem, keep_documents)
            unreadable.append(row["id"])
    return leases, unreadable


def _to_lease(row: asyncpg.Record, settings: QueueSettings) -> Lease:
    """Return the lease in a row. If an amount was reserved for the attempt, it is the attempt's cost limit, even if the
    request sets none."""
    job_max_usd = settings.max_usd if row["max_usd"] is None else row["max_usd"]
    return from_row(
        Lease,
        row,
        priority=PRIORITIES[row["priority"]],
        request=parse_request(row),
        max_usd=job_max_usd if row["affordable_usd"] is None else row["affordable_usd"],
    )
