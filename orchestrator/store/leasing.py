"""Giving out leases, in one transaction: who waits, whose turn it is, and what they get."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

import asyncpg

from assayer.errors import StorageError
from orchestrator.jobs.fairness import Contender, Places, Shares, Waiting, share
from orchestrator.jobs.models import JobId, Lease, TenantId
from orchestrator.jobs.refusals import never_fits, unreadable
from orchestrator.jobs.settings import QueueSettings
from orchestrator.store import job_rows
from orchestrator.store.database import Connection
from orchestrator.store.documents import document
from orchestrator.store.endings import ended
from orchestrator.store.job_rows import PRIORITY_OF

__all__ = ["Given", "give_out", "waiting"]

_LEASE = """
    id, tenant, lease, attempt, priority, request, document, pinned, max_usd,
    CASE WHEN reserved_usd > 0 THEN reserved_usd END AS reserved_usd
"""
"""The columns of a Lease."""

_HELD = f"SELECT {_LEASE} FROM jobs WHERE lease = ANY($1) ORDER BY priority, ready_at"  # noqa: S608 - of constants

# In the order of the queue's index, so that it is read and not the table.
_WAITING = """
    SELECT true FROM jobs WHERE state = 'queued' AND ready_at <= statement_timestamp() ORDER BY tenant, priority LIMIT 1
"""

# The lock lets one dispatcher at a time decide; the statements after it see what the last one did.
_CLOCK = "SELECT virtual_time FROM queue_clock FOR UPDATE"

_HEADS = """
    SELECT tenants.id AS tenant, ranks.priority, heads.*
    FROM tenants CROSS JOIN (VALUES (0::smallint), (1::smallint)) AS ranks (priority) CROSS JOIN LATERAL (
        SELECT id, max_usd, losses, ready_at FROM jobs
        WHERE tenant = tenants.id AND priority = ranks.priority AND state = 'queued'
          AND ready_at <= statement_timestamp() AND (losses < $2 OR NOT $3)
        ORDER BY ready_at LIMIT $1
    ) AS heads
    ORDER BY tenants.id, ranks.priority, ready_at
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

_REFUSE = ended("state = 'failed', problem = $2", "id = $1 AND state IN ('queued', 'running')")

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
    SELECT {_LEASE} FROM leased ORDER BY priority, ready_at
"""  # noqa: S608 - put together from constants


async def waiting(connection: Connection) -> bool:
    """Whether any job could be begun now."""
    return bool(await connection.fetchval(_WAITING))


class Given(NamedTuple):
    leases: list[Lease]
    refused: list[JobId]
    """Jobs that ended instead, explained."""


async def give_out(
    connection: Connection, worker: str, places: Places, tokens: Sequence[UUID], settings: QueueSettings
) -> Given:
    """In a transaction of its own; `tokens` are one a free place. With the same tokens again it gives the same."""
    async with connection.transaction():
        clock: float = await connection.fetchval(_CLOCK)
        if before := await connection.fetch(_HELD, tokens):
            return Given([_lease(row, settings) for row in before], [])
        alone = await connection.fetchval(_SUSPECT_RUNS, settings.suspect_losses)
        heads = await connection.fetch(_HEADS, places.free, settings.suspect_losses, alone)
        tenants = await connection.fetch(_TENANTS, list({row["tenant"] for row in heads}))
        lines = _lines(heads, settings)
        dear = await _refuse_dear(connection, tenants, lines)
        contenders = [_contender(row, lines) for row in tenants]
        shares = share(places, clock, contenders, settings.head_start)
        rows = await _give(connection, worker, shares, tokens, settings) if shares.grants else []
        leases, odd = await _read(connection, rows, settings)
    return Given(leases, dear + odd)


def _lines(heads: Sequence[asyncpg.Record], settings: QueueSettings) -> dict[tuple[str, int], list[Waiting]]:
    """By tenant and priority."""
    groups = groupby(heads, key=lambda row: (row["tenant"], row["priority"]))
    return {whose: [_waiting(row, settings) for row in rows] for whose, rows in groups}


def _waiting(row: asyncpg.Record, settings: QueueSettings) -> Waiting:
    limit = settings.max_usd if row["max_usd"] is None else row["max_usd"]
    return Waiting(JobId(row["id"]), limit, row["losses"] >= settings.suspect_losses)


async def _refuse_dear(
    connection: Connection, tenants: Sequence[asyncpg.Record], lines: dict[tuple[str, int], list[Waiting]]
) -> list[JobId]:
    """Ends the jobs that no month could pay for, and takes them out of their lines."""
    budgets = {row["id"]: row["monthly_usd"] for row in tenants if row["monthly_usd"] is not None}
    refused: list[JobId] = []
    for (tenant, priority), line in lines.items():
        budget = budgets.get(tenant, math.inf)
        for one in line:
            if one.max_usd is not None and one.max_usd > budget:
                await connection.fetch(_REFUSE, one.job, document(never_fits(one.max_usd, budget)))
                refused.append(one.job)
        lines[tenant, priority] = [one for one in line if one.job not in refused]
    return refused


def _contender(row: asyncpg.Record, lines: Mapping[tuple[str, int], Sequence[Waiting]]) -> Contender:
    return Contender(
        tenant=TenantId(row["id"]),
        weight=row["weight"],
        virtual_time=row["virtual_time"],
        room=None if row["room"] is None else max(0, row["room"]),
        money=row["money"],
        interactive=lines.get((row["id"], 0), ()),
        batch=lines.get((row["id"], 1), ()),
    )


async def _give(
    connection: Connection, worker: str, shares: Shares, tokens: Sequence[UUID], settings: QueueSettings
) -> list[asyncpg.Record]:
    return await connection.fetch(
        _GIVE,
        [grant.job for grant in shares.grants],
        list(tokens[: len(shares.grants)]),
        [grant.reserved_usd for grant in shares.grants],
        settings.lease_seconds,
        worker,
        list(shares.times),
        list(shares.times.values()),
        shares.clock,
    )


async def _read(
    connection: Connection, rows: Sequence[asyncpg.Record], settings: QueueSettings
) -> tuple[list[Lease], list[JobId]]:
    """One job that cannot be read must not keep the others from being begun: it ends."""
    leases: list[Lease] = []
    odd: list[JobId] = []
    for row in rows:
        try:
            leases.append(_lease(row, settings))
        except StorageError as error:
            await connection.fetch(_REFUSE, row["id"], document(unreadable(str(error))))
            odd.append(row["id"])
    return leases, odd


def _lease(row: asyncpg.Record, settings: QueueSettings) -> Lease:
    """A reservation, where there is one, is the limit that the job was given; it also holds where it has none."""
    limit = settings.max_usd if row["max_usd"] is None else row["max_usd"]
    return Lease(
        job=row["id"],
        tenant=row["tenant"],
        token=row["lease"],
        attempt=row["attempt"],
        priority=PRIORITY_OF[row["priority"]],
        work=job_rows.work(row),
        document=row["document"],
        max_usd=limit if row["reserved_usd"] is None else row["reserved_usd"],
        pinned=job_rows.json_value(row["pinned"]),
    )
