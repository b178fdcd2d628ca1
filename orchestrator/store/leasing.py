"""Giving out leases, in one transaction: who waits, whose turn it is, and what they get."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from uuid import UUID

import asyncpg

from orchestrator.jobs.fairness import Contender, Grant, Places, Shares, Waiting, share
from orchestrator.jobs.models import JobId, Lease, Priority, Problem, TenantId
from orchestrator.jobs.settings import QueueSettings
from orchestrator.store import job_rows
from orchestrator.store.database import Connection
from orchestrator.store.documents import document
from orchestrator.store.endings import ended

__all__ = ["give_out", "waiting"]

_LEASE = """
    id, tenant, lease, attempt, priority, request, document, pinned, max_usd,
    CASE WHEN reserved_usd > 0 THEN reserved_usd END AS reserved_usd
"""
"""The columns of a Lease."""

_HELD = f"SELECT {_LEASE} FROM jobs WHERE lease = ANY($1) ORDER BY priority, ready_at"  # noqa: S608 - of constants

_WAITING = "SELECT true FROM jobs WHERE state = 'queued' AND ready_at <= statement_timestamp() LIMIT 1"

# The lock lets one dispatcher at a time decide; the statements after it see what the last one did.
_CLOCK = "SELECT virtual_time FROM queue_clock FOR UPDATE"

_HEADS = """
    SELECT tenants.id AS tenant, ranks.priority, heads.*
    FROM tenants CROSS JOIN (VALUES (0::smallint), (1::smallint)) AS ranks (priority) CROSS JOIN LATERAL (
        SELECT id, max_usd, losses FROM jobs
        WHERE tenant = tenants.id AND priority = ranks.priority AND state = 'queued'
          AND ready_at <= statement_timestamp() AND (losses < $2 OR NOT $3)
        ORDER BY ready_at LIMIT $1
    ) AS heads
"""

_SUSPECT_RUNS = "SELECT EXISTS (SELECT FROM jobs WHERE state = 'running' AND losses > 0 AND losses >= $1)"

_TENANTS = """
    SELECT id, weight, virtual_time, monthly_usd, max_running - running.jobs AS room,
           monthly_usd - running.reserved - (
               SELECT coalesce(sum(usd), 0) FROM spending
               WHERE tenant = tenants.id
                 AND month = date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC')::date
           ) AS money
    FROM tenants CROSS JOIN LATERAL (
        SELECT count(*) AS jobs, coalesce(sum(reserved_usd), 0) AS reserved
        FROM jobs WHERE tenant = tenants.id AND state = 'running'
    ) AS running
    WHERE id = ANY($1)
"""

_REFUSE = ended("state = 'failed', problem = $2", "id = $1 AND state = 'queued'")

_GIVE = f"""
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
    ), told AS (
        INSERT INTO events (job, number, kind, data)
        SELECT id, last_event, 'started', jsonb_build_object('attempt', attempt, 'worker', worker) FROM leased
    ), charged AS (
        UPDATE tenants SET virtual_time = share.virtual_time
        FROM unnest($6::text[], $7::float8[]) AS share (id, virtual_time) WHERE tenants.id = share.id
    ), ticked AS (
        UPDATE queue_clock SET virtual_time = $8
    )
    SELECT {_LEASE}, pg_notify('assayer_events', id) FROM leased ORDER BY priority, ready_at
"""  # noqa: S608 - put together from constants


async def waiting(connection: Connection) -> bool:
    """Whether any job could be begun now."""
    return bool(await connection.fetchval(_WAITING))


async def give_out(
    connection: Connection, worker: str, places: Places, tokens: Sequence[UUID], settings: QueueSettings
) -> list[Lease]:
    """In a transaction of its own; `tokens` are one a free place. With the same tokens again it gives the same."""
    async with connection.transaction():
        clock: float = await connection.fetchval(_CLOCK)
        if before := await connection.fetch(_HELD, tokens):
            return [_lease(row, settings) for row in before]
        alone = await connection.fetchval(_SUSPECT_RUNS, settings.suspect_losses)
        heads = await connection.fetch(_HEADS, places.free, settings.suspect_losses, alone)
        if not heads:
            return []
        contenders = await _contenders(connection, heads, settings)
        shares = share(places, clock, contenders, settings.head_start)
        if not shares.grants:
            return []
        return await _give(connection, worker, shares, tokens, settings)


async def _contenders(
    connection: Connection, heads: Sequence[asyncpg.Record], settings: QueueSettings
) -> list[Contender]:
    rows = await connection.fetch(_TENANTS, list({row["tenant"] for row in heads}))
    budgets = {row["id"]: row["monthly_usd"] or math.inf for row in rows}
    lines: dict[tuple[str, int], list[Waiting]] = {}
    for (tenant, priority), jobs in groupby(heads, key=lambda row: (row["tenant"], row["priority"])):
        line = [_waiting(row, settings) for row in jobs]
        for one in line:
            if (one.max_usd or 0) > budgets[tenant]:
                problem = _never_fits(one.max_usd or 0, budgets[tenant])
                await connection.fetch(_REFUSE, one.job, document(problem))
        lines[tenant, priority] = [one for one in line if (one.max_usd or 0) <= budgets[tenant]]
    return [
        Contender(
            tenant=TenantId(row["id"]),
            weight=row["weight"],
            virtual_time=row["virtual_time"],
            room=None if row["room"] is None else max(0, row["room"]),
            money=row["money"],
            interactive=lines.get((row["id"], 0), ()),
            batch=lines.get((row["id"], 1), ()),
        )
        for row in rows
    ]


def _waiting(row: asyncpg.Record, settings: QueueSettings) -> Waiting:
    limit = settings.max_usd if row["max_usd"] is None else row["max_usd"]
    return Waiting(JobId(row["id"]), limit, row["losses"] >= settings.suspect_losses)


def _never_fits(max_usd: float, monthly_usd: float) -> Problem:
    return Problem(
        type="budget-too-small",
        title="It may cost more than a month's budget",
        detail=f"This job may cost up to {max_usd:g} USD; its tenant's budget is {monthly_usd:g} USD a month, so it "
        "could never begin. Submit it with a lower limit (limits.max_usd), or have the budget raised.",
    )


async def _give(
    connection: Connection, worker: str, shares: Shares, tokens: Sequence[UUID], settings: QueueSettings
) -> list[Lease]:
    grants: Mapping[str, Grant] = {grant.job: grant for grant in shares.grants}
    rows = await connection.fetch(
        _GIVE,
        list(grants),
        list(tokens[: len(grants)]),
        [grant.reserved_usd for grant in grants.values()],
        settings.lease_seconds,
        worker,
        list(shares.times),
        list(shares.times.values()),
        shares.clock,
    )
    return [_lease(row, settings) for row in rows]


def _lease(row: asyncpg.Record, settings: QueueSettings) -> Lease:
    """A reservation, where there is one, is the limit that the job was given; it also holds where it has none."""
    limit = settings.max_usd if row["max_usd"] is None else row["max_usd"]
    priority: Priority = "interactive" if row["priority"] == 0 else "batch"
    return Lease(
        job=row["id"],
        tenant=row["tenant"],
        token=row["lease"],
        attempt=row["attempt"],
        priority=priority,
        work=job_rows.work(row),
        document=row["document"],
        max_usd=limit if row["reserved_usd"] is None else row["reserved_usd"],
        pinned=job_rows.json_value(row["pinned"]),
    )
