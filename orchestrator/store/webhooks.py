"""Webhooks and their deliveries. A job's deliveries are queued by the statement that finishes the job."""

from collections.abc import Collection, Sequence

from assayer_client.webhooks import DeliveryResource, WebhookEvent, WebhookResource
from orchestrator.jobs.models import TenantId
from orchestrator.store.database import Connection, Database, select_one
from orchestrator.store.idempotency import IdempotencyRecord, RecordedResponse, insert_once
from orchestrator.store.mails import INSERT_CALL_FINISHED, PgMails
from orchestrator.store.outbox import PgOutbox, build_claim_query
from orchestrator.webhooks.models import ClaimedDelivery, WebhookId

_INSERT_WEBHOOK = """
    INSERT INTO webhooks (id, tenant, url, sealed, events)
    SELECT $2, $1, $3, $4, $5 WHERE (SELECT count(*) FROM webhooks WHERE tenant = $1 AND id <> $2) < $6
    ON CONFLICT (id) DO UPDATE SET url = excluded.url
    RETURNING id, url, events, created_at
"""

_SELECT_WEBHOOKS = (
    "SELECT id, url, events, created_at FROM webhooks WHERE tenant = $1 ORDER BY created_at DESC, id DESC"
)
_SELECT_WEBHOOK = "SELECT id, url, events, created_at FROM webhooks WHERE tenant = $1 AND id = $2"

_SELECT_DELIVERIES = """
    SELECT 'msg_' || replace(deliveries.id::text, '-', '') AS id, payload ->> 'type' AS type, state, attempt,
           last_result, deliveries.created_at, CASE WHEN state = 'pending' THEN next_at END AS next_at
    FROM deliveries JOIN webhooks ON webhooks.id = webhook
    WHERE tenant = $1 AND webhook = $2 ORDER BY deliveries.created_at DESC, deliveries.id LIMIT $3
"""

_CLAIM_DELIVERIES = build_claim_query(
    "deliveries",
    "webhook, url, sealed, payload",
    receivers="webhooks",
    join_condition="webhooks.id = webhook",
    due_condition="""id IN (SELECT id FROM (
            SELECT id, row_number() OVER (PARTITION BY webhook ORDER BY next_at, id) AS place FROM deliveries
            WHERE state = 'pending' AND next_at <= statement_timestamp() AND webhook <> ALL($3::text[])
        ) AS placed WHERE place <= $4)""",
)

# If two of these statements run concurrently, the second waits for the first and then finds the batch marked.
_INSERT_FINISHED_BATCHES = """
    WITH ended AS (
        SELECT id FROM batches WHERE NOT told AND NOT open
          AND NOT EXISTS (SELECT FROM jobs WHERE batch = batches.id AND state IN ('queued', 'running'))
    ), finished AS (
        UPDATE batches SET told = true WHERE id IN (SELECT id FROM ended) AND NOT told RETURNING id, tenant, name
    ){mailed}
    INSERT INTO deliveries (webhook, payload)
    SELECT webhooks.id, jsonb_build_object(
        'type', 'batch.finished',
        'timestamp', to_char(sums.ended AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'data', jsonb_build_object('id', finished.id, 'name', name, 'states', sums.states, 'cost_usd', sums.cost)
    )
    FROM finished JOIN webhooks USING (tenant)
    CROSS JOIN LATERAL (
        SELECT coalesce(jsonb_object_agg(state, jobs), '{}') AS states, sum(cost) AS cost,
               coalesce(max(last), statement_timestamp()) AS ended
        FROM (
            SELECT state, count(*) AS jobs, sum(cost_usd) AS cost, max(finished_at) AS last FROM jobs
            WHERE batch = finished.id GROUP BY state
        ) AS by_state
    ) AS sums
    WHERE 'batch.finished' = ANY(events)
    RETURNING deliveries.id
"""
_INSERT_MAILS = f", mailed AS ({INSERT_CALL_FINISHED})"

_INSERT_PING = """
    INSERT INTO deliveries (webhook, payload)
    SELECT id, jsonb_build_object(
        'type', 'ping',
        'timestamp', to_char(statement_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'data', jsonb_build_object('webhook', id)
    )
    FROM webhooks WHERE tenant = $1 AND id = $2
    RETURNING 'msg_' || replace(id::text, '-', '') AS id, payload ->> 'type' AS type, state, attempt, last_result,
              created_at, next_at
"""


class PgWebhooks(PgOutbox):
    def __init__(self, database: Database, mails: PgMails | None = None) -> None:
        """Open the outbox. With `mails`, the member who submitted a batch is emailed when it finishes."""
        super().__init__(database, "deliveries", "delivered")
        mailed = _INSERT_MAILS if mails is not None and mails.enabled else ""
        self._insert_finished_batches = _INSERT_FINISHED_BATCHES.replace("{mailed}", mailed)

    async def add(
        self,
        tenant: TenantId,
        webhook: WebhookId,
        url: str,
        sealed: str,
        events: Sequence[WebhookEvent],
        max_webhooks: int,
        record: IdempotencyRecord | None = None,
    ) -> WebhookResource | RecordedResponse | None:
        """Add a webhook; return None if the tenant already has `max_webhooks`. Raises IdempotencyKeyReused if the
        idempotency key belongs to a different request."""

        async def insert_webhook(connection: Connection) -> WebhookResource | None:
            return await select_one(
                connection, WebhookResource, _INSERT_WEBHOOK, tenant, webhook, url, sealed, list(events), max_webhooks
            )

        return await insert_once(self._database, tenant, record, insert_webhook)

    async def list_encrypted_secrets(self) -> list[tuple[WebhookId, str]]:
        """Return every webhook's encrypted secret."""
        rows = await self._database.fetch("SELECT id, sealed FROM webhooks ORDER BY id")
        return [(row["id"], row["sealed"]) for row in rows]

    async def replace_secret(self, webhook: WebhookId, old_secret: str, new_secret: str) -> bool:
        """Replace a webhook's encrypted secret. Return False if the current one is not `old_secret`."""
        query = "UPDATE webhooks SET sealed = $3 WHERE id = $1 AND sealed = $2 RETURNING id"
        return await self._database.fetch_one(query, webhook, old_secret, new_secret) is not None

    async def list_webhooks(self, tenant: TenantId) -> list[WebhookResource]:
        """Return a tenant's webhooks, newest first."""
        return await self._database.select(WebhookResource, _SELECT_WEBHOOKS, tenant)

    async def get(self, tenant: TenantId, webhook: WebhookId) -> WebhookResource | None:
        return await self._database.select_one(WebhookResource, _SELECT_WEBHOOK, tenant, webhook)

    async def delete(self, tenant: TenantId, webhook: WebhookId) -> bool:
        """Delete a webhook and its pending deliveries. Return False if it does not exist."""
        query = "DELETE FROM webhooks WHERE tenant = $1 AND id = $2 RETURNING id"
        return await self._database.fetch_one(query, tenant, webhook) is not None

    async def list_deliveries(self, tenant: TenantId, webhook: WebhookId, limit: int = 50) -> list[DeliveryResource]:
        """Return a webhook's deliveries, newest first."""
        return await self._database.select(DeliveryResource, _SELECT_DELIVERIES, tenant, webhook, limit)

    async def ping(self, tenant: TenantId, webhook: WebhookId) -> DeliveryResource | None:
        """Queue a test delivery and return it; None if the webhook does not exist."""
        return await self._database.select_one(DeliveryResource, _INSERT_PING, tenant, webhook)

    async def queue_finished_batches(self) -> int:
        """Queue deliveries and emails for batches that have finished since the last call. Return the number of
        deliveries."""
        return len(await self._database.fetch(self._insert_finished_batches))

    async def claim(
        self, limit: int, per_webhook: int, busy: Collection[WebhookId], seconds: float
    ) -> list[ClaimedDelivery]:
        """Claim up to `limit` due deliveries, at most `per_webhook` for each webhook and none for `busy` ones. No other
        process can claim them for `seconds` seconds."""
        return await self._database.select(
            ClaimedDelivery, _CLAIM_DELIVERIES, limit, seconds, sorted(busy), per_webhook
        )
