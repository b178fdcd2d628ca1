"""Webhooks and what is owed to them. What is owed for a job is put down by a trigger, with its end (v0005)."""

import json
from collections.abc import Collection, Sequence
from typing import assert_never

from orchestrator.jobs.idempotency import Once, Replay
from orchestrator.jobs.models import TenantId
from orchestrator.store.database import Connection, Database
from orchestrator.store.documents import plain
from orchestrator.store.once import done_once
from orchestrator.webhooks.models import Delivery, Dispatch, Webhook, WebhookEvent, WebhookId
from orchestrator.webhooks.schedule import Dead, Delivered, Later, Next

__all__ = ["PgWebhooks"]

_ADD = """
    INSERT INTO webhooks (id, tenant, url, sealed, events)
    SELECT $2, $1, $3, $4, $5 WHERE (SELECT count(*) FROM webhooks WHERE tenant = $1 AND id <> $2) < $6
    ON CONFLICT (id) DO UPDATE SET url = excluded.url
    RETURNING id, tenant, url, events, created_at
"""

_LIST = "SELECT id, tenant, url, events, created_at FROM webhooks WHERE tenant = $1 ORDER BY created_at DESC, id DESC"

_DELIVERIES = """
    SELECT deliveries.id, payload ->> 'type' AS type, state, attempt, said, deliveries.created_at,
           CASE WHEN state = 'pending' THEN next_at END AS next_at
    FROM deliveries JOIN webhooks ON webhooks.id = webhook
    WHERE tenant = $1 AND webhook = $2 ORDER BY deliveries.created_at DESC, deliveries.id LIMIT $3
"""

# Whoever claims one has it until `next_at`, and its attempt is the token by which it is settled.
_CLAIM = """
    WITH due AS (
        SELECT id, row_number() OVER (PARTITION BY webhook ORDER BY next_at, id) AS place FROM deliveries
        WHERE state = 'pending' AND next_at <= statement_timestamp() AND webhook <> ALL($3::text[])
    ), taken AS (
        SELECT id FROM deliveries
        WHERE id IN (SELECT id FROM due WHERE place <= $2)
          AND state = 'pending' AND next_at <= statement_timestamp()
        ORDER BY next_at, id LIMIT $1
        FOR UPDATE SKIP LOCKED
    )
    UPDATE deliveries SET attempt = attempt + 1, next_at = statement_timestamp() + $4 * interval '1 second'
    FROM taken, webhooks
    WHERE deliveries.id = taken.id AND webhooks.id = webhook
    RETURNING deliveries.id, webhook, url, sealed, payload, attempt
"""

# Who comes second waits for the first, and then finds the batch told.
_OWE_BATCHES = """
    WITH finished AS (
        SELECT id FROM batches WHERE NOT told AND NOT open
          AND NOT EXISTS (SELECT FROM jobs WHERE tenant = batches.tenant AND batch = batches.id AND state = 'running')
          AND NOT EXISTS (SELECT FROM jobs WHERE tenant = batches.tenant AND batch = batches.id AND state = 'queued')
    ), told AS (
        UPDATE batches SET told = true WHERE id IN (SELECT id FROM finished) AND NOT told RETURNING id, tenant, name
    )
    INSERT INTO deliveries (id, webhook, state, payload)
    SELECT gen_random_uuid(), webhooks.id, 'pending', jsonb_build_object(
        'type', 'batch.finished',
        'timestamp', to_char(sums.ended AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'data', jsonb_build_object('id', told.id, 'name', name, 'states', sums.states, 'cost_usd', sums.cost)
    )
    FROM told JOIN webhooks USING (tenant)
    CROSS JOIN LATERAL (
        SELECT coalesce(jsonb_object_agg(state, jobs), '{}') AS states, sum(cost) AS cost,
               coalesce(max(last), statement_timestamp()) AS ended
        FROM (
            SELECT state, count(*) AS jobs, sum(cost_usd) AS cost, max(finished_at) AS last FROM jobs
            WHERE batch = told.id GROUP BY state
        ) AS by_state
    ) AS sums
    WHERE 'batch.finished' = ANY(events)
    RETURNING deliveries.id
"""

_SETTLE = """
    UPDATE deliveries SET state = $3, said = $4, next_at = statement_timestamp() + $5 * interval '1 second'
    WHERE id = $1 AND attempt = $2 AND state = 'pending'
    RETURNING id
"""


class PgWebhooks:
    """Implements `orchestrator.webhooks.ports.Outbox`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        tenant: TenantId,
        webhook: WebhookId,
        url: str,
        sealed: str,
        events: Sequence[WebhookEvent],
        most: int,
        once: Once | None = None,
    ) -> Webhook | Replay | None:
        """None when the tenant has as many as it may. Raises KeyReused."""

        async def work(connection: Connection) -> Webhook | None:
            row = await connection.fetchrow(_ADD, tenant, webhook, url, sealed, list(events), most)
            return None if row is None else Webhook(**dict(row))

        return await done_once(self._database, tenant, once, work)

    async def sealed(self) -> list[tuple[WebhookId, str]]:
        """Every webhook's secret, as it is kept."""
        rows = await self._database.fetch("SELECT id, sealed FROM webhooks ORDER BY id")
        return [(row["id"], row["sealed"]) for row in rows]

    async def reseal(self, webhook: WebhookId, before: str, after: str) -> bool:
        """Whether it was still kept as before."""
        query = "UPDATE webhooks SET sealed = $3 WHERE id = $1 AND sealed = $2 RETURNING id"
        return await self._database.fetch_one(query, webhook, before, after) is not None

    async def of(self, tenant: TenantId) -> list[Webhook]:
        """The newest first."""
        return [Webhook(**dict(row)) for row in await self._database.fetch(_LIST, tenant)]

    async def delete(self, tenant: TenantId, webhook: WebhookId) -> bool:
        """With all that is still owed to it. Whether it was there."""
        query = "DELETE FROM webhooks WHERE tenant = $1 AND id = $2 RETURNING id"
        return await self._database.fetch_one(query, tenant, webhook) is not None

    async def deliveries(self, tenant: TenantId, webhook: WebhookId, limit: int = 50) -> list[Delivery]:
        """The newest first."""
        rows = await self._database.fetch(_DELIVERIES, tenant, webhook, limit)
        return [Delivery(**dict(row)) for row in rows]

    async def owe_batches(self) -> int:
        return len(await self._database.fetch(_OWE_BATCHES))

    async def claim(
        self, most: int, most_per_webhook: int, busy: Collection[WebhookId], seconds: float
    ) -> list[Dispatch]:
        rows = await self._database.fetch(_CLAIM, most, most_per_webhook, sorted(busy), seconds)
        return [Dispatch(**dict(row) | {"payload": json.loads(row["payload"])}) for row in rows]

    async def settle(self, dispatch: Dispatch, step: Next) -> bool:
        match step:
            case Delivered():
                state, seconds = "delivered", 0.0
            case Later():
                state, seconds = "pending", step.seconds
            case Dead():
                state, seconds = "dead", 0.0
            case _:
                assert_never(step)
        row = await self._database.fetch_one(_SETTLE, dispatch.id, dispatch.attempt, state, plain(step.said), seconds)
        return row is not None
