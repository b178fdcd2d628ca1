"""Webhook messages: written with the verdict, delivered at least once, given up with a reason."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from cryptography.fernet import Fernet
from standardwebhooks import Webhook as Signer

from assayer.errors import AddressRefused, DownloadFailed
from assayer_client.webhooks import EVENTS, DeliveryResource, WebhookResource
from cluster.clock import SystemClock
from cluster.settings import WebhookSettings
from cluster.webhooks import create_address_policy, open_deliverer, reencrypt_secrets
from orchestrator.jobs.models import TenantId
from orchestrator.mail.models import ClaimedMail
from orchestrator.outbox import Abandoned, Delivered, DeliveryOutcome, RetryLater
from orchestrator.store import Database
from orchestrator.store.database import Connection
from orchestrator.store.job_sql import build_finish_statement
from orchestrator.store.webhooks import PgWebhooks
from orchestrator.webhooks.models import ClaimedDelivery, WebhookId
from orchestrator.webhooks.secrets import SecretCipher, generate_secret
from tests.contract.webhook_receiver import Receiver, run_receiver
from workers.fetching.guarded_post import GuardedPoster
from workers.fetching.ssrf_guard import AddressPolicy

OURS, THEIRS = TenantId("ours"), TenantId("theirs")
KEY, LATER_KEY = (Fernet.generate_key().decode() for _ in range(2))
HASTY = WebhookSettings(
    allow=("127.0.0.0/8",),
    plain_http=True,
    first_seconds=0.01,
    factor=1,
    tries=3,
    deadline_seconds=10,
    poll_seconds=0.05,
)


class WatchedWebhooks(PgWebhooks):
    """Store that signals when a delivery has been settled."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.settled = asyncio.Condition()

    async def settle(self, claimed: ClaimedMail | ClaimedDelivery, outcome: DeliveryOutcome) -> bool:
        async with self.settled:
            is_settled = await super().settle(claimed, outcome)
            self.settled.notify_all()
        return is_settled


class Bell:
    """A wake that only knows time: what a lost notification leaves."""

    async def next(self, timeout: float) -> str | None:
        await asyncio.sleep(timeout)
        return None


@pytest.fixture
async def store(database: Database) -> WatchedWebhooks:
    for tenant in (OURS, THEIRS):
        await database.execute("INSERT INTO tenants (id, name) VALUES ($1, $1)", tenant)
    return WatchedWebhooks(database)


@pytest.fixture
async def webhook_receiver() -> AsyncIterator[Receiver]:
    async with run_receiver() as opened_receiver:
        yield opened_receiver


async def create_hook(
    store: PgWebhooks, url: str, tenant: TenantId = OURS, events: tuple[Any, ...] = EVENTS, name: str = "wh_1"
) -> tuple[WebhookResource, str]:
    secret = generate_secret()
    webhook = await store.add(tenant, WebhookId(name), url, SecretCipher([KEY]).encrypt(secret), events, 5)
    assert isinstance(webhook, WebhookResource)
    return webhook, secret


async def insert_job(
    database: Database, name: str, tenant: TenantId = OURS, kind: str = "evaluation", batch: str | None = None
) -> None:
    query = """
        INSERT INTO jobs (id, tenant, batch, "row", kind, priority, state, subject, request)
        VALUES ($1, $2, $3, 7, $4, 1, 'queued', 'Corals', '{}')
    """
    await database.execute(query, name, tenant, batch, kind)


async def insert_batch(database: Database, name: str, size: int) -> list[str]:
    await database.execute(
        "INSERT INTO batches (id, tenant, name, rows) VALUES ($1, $2, 'Call 7', $3)", name, OURS, size
    )
    names = [f"{name}_{number}" for number in range(size)]
    for item in names:
        await insert_job(database, item, batch=name)
    return names


async def end(database: Database, name: str, state: str = "succeeded") -> None:
    await database.execute(END, name, state)


END = build_finish_statement(
    """state = $2, cost_usd = 0.5, problem = CASE
        WHEN $2 = 'failed' THEN '{"type": "budget-exhausted"}'::jsonb END""",
    "id = $1 AND state IN ('queued', 'running')",
)


async def list_deliveries(store: PgWebhooks, tenant: TenantId = OURS, name: str = "wh_1") -> list[DeliveryResource]:
    return await store.list_deliveries(tenant, WebhookId(name), 500)


@asynccontextmanager
async def deliver(
    store: PgWebhooks, settings: WebhookSettings = HASTY, keys: tuple[str, ...] = (KEY,)
) -> AsyncIterator[None]:
    async with open_deliverer(settings, store, SecretCipher(keys), Bell(), SystemClock()) as deliverer:
        running = asyncio.create_task(deliverer.run())
        try:
            yield
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


async def wait_for_state(store: "WatchedWebhooks", state: str) -> DeliveryResource:
    async with asyncio.timeout(30), store.settled:
        while (delivery := (await list_deliveries(store))[0]).state != state:
            await store.settled.wait()
    return delivery


async def test_finished_job_sends_signed_message_to_its_tenants_webhook(
    database: Database, store: WatchedWebhooks, webhook_receiver: Receiver
) -> None:
    _, secret = await create_hook(store, webhook_receiver.url)
    await create_hook(store, webhook_receiver.url, THEIRS, name="wh_theirs")
    await insert_job(database, "ev_1")
    await database.execute("UPDATE jobs SET flags = '{hidden_text,suspected_injection}' WHERE id = 'ev_1'")
    async with deliver(store):
        await end(database, "ev_1", "failed")
        (message,) = await webhook_receiver.receive(1)
        await wait_for_state(store, "delivered")
    assert Signer(secret).verify(message.text, message.headers) == message.payload
    assert message.payload["type"] == "evaluation.finished"
    assert message.payload["data"] == {
        "id": "ev_1",
        "state": "failed",
        "title": "Corals",
        "batch": None,
        "row": 7,
        "problem": {"type": "budget-exhausted"},
        "cost_usd": 0.5,
        "flags": ["hidden_text", "suspected_injection"],
        "source": "",
        "reference": "",
    }
    assert await list_deliveries(store, THEIRS, "wh_theirs") == []
    assert await list_deliveries(store, THEIRS, "wh_1") == []


@pytest.mark.parametrize(
    ("kind", "state"), [("comparison", "failed"), ("ranking", "cancelled"), ("evaluation", "succeeded")]
)
async def test_every_job_kind_and_final_state_creates_a_delivery(
    database: Database, store: PgWebhooks, kind: str, state: str
) -> None:
    await create_hook(store, "https://example.org")
    await insert_job(database, "one", kind=kind)
    await end(database, "one", state)
    await database.execute("UPDATE jobs SET cost_usd = 1 WHERE id = 'one'")
    assert [item.type for item in await list_deliveries(store)] == [f"{kind}.finished"]


async def test_webhook_receives_only_subscribed_events(database: Database, store: PgWebhooks) -> None:
    await create_hook(store, "https://example.org", events=("batch.finished",))
    for name in await insert_batch(database, "bt_1", 3):
        assert await store.queue_finished_batches() == 0
        await end(database, name)
    assert await list_deliveries(store) == []
    assert await store.queue_finished_batches() == 1
    assert [item.type for item in await list_deliveries(store)] == ["batch.finished"]


async def test_batch_with_concurrently_finishing_jobs_is_reported_once(database: Database, store: PgWebhooks) -> None:
    await create_hook(store, "https://example.org", events=("batch.finished",))
    names = await insert_batch(database, "bt_1", 40)
    await asyncio.gather(
        *(end(database, name, "succeeded" if number % 3 else "failed") for number, name in enumerate(names))
    )
    await asyncio.gather(*(store.queue_finished_batches() for _ in range(4)))
    assert len(await list_deliveries(store)) == 1
    (dispatch,) = await store.claim(10, 10, (), 60)
    assert dispatch.payload["data"] == {
        "id": "bt_1",
        "name": "Call 7",
        "states": {"succeeded": 26, "failed": 14},
        "cost_usd": 20,
    }


async def test_webhook_created_after_batch_finished_receives_nothing(database: Database, store: PgWebhooks) -> None:
    for name in await insert_batch(database, "bt_1", 2):
        await end(database, name)
    assert await store.queue_finished_batches() == 0
    await create_hook(store, "https://example.org")
    assert await store.queue_finished_batches() == 0


async def test_finished_batch_reaches_its_tenants_webhook(
    database: Database, store: PgWebhooks, webhook_receiver: Receiver
) -> None:
    await create_hook(store, webhook_receiver.url, events=("batch.finished",))
    names = await insert_batch(database, "bt_1", 2)
    async with deliver(store):
        for name in names:
            await end(database, name, "cancelled")
        (message,) = await webhook_receiver.receive(1)
    assert message.payload["data"]["states"] == {"cancelled": 2}


async def test_rolled_back_verdict_does_not_create_a_delivery(database: Database, store: PgWebhooks) -> None:
    await create_hook(store, "https://example.org")
    await insert_job(database, "ev_1")

    async def end_and_roll_back(connection: Connection) -> None:
        async with connection.transaction():
            await connection.execute(END, "ev_1", "succeeded")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.run(end_and_roll_back)
    assert await list_deliveries(store) == []


async def test_failed_delivery_is_retried_with_identical_message(
    database: Database, store: WatchedWebhooks, webhook_receiver: Receiver
) -> None:
    await create_hook(store, webhook_receiver.url)
    await insert_job(database, "ev_1")
    webhook_receiver.status = 503
    async with deliver(store):
        await end(database, "ev_1")
        await webhook_receiver.receive(1)
        webhook_receiver.status = 200
        first, second, *_ = await webhook_receiver.receive(2)
        delivered = await wait_for_state(store, "delivered")
    assert first.id == second.id
    assert first.text == second.text
    assert (delivered.last_result, delivered.next_at) == ("The receiver responded with status 200.", None)


async def test_delivery_fails_after_last_attempt_and_records_reason(
    database: Database, store: WatchedWebhooks, webhook_receiver: Receiver
) -> None:
    await create_hook(store, webhook_receiver.url)
    await insert_job(database, "ev_1")
    webhook_receiver.status = 302
    async with deliver(store):
        await end(database, "ev_1")
        dead = await wait_for_state(store, "failed")
    assert dead.attempt == 3
    assert dead.last_result == "The receiver responded with status 302. That was attempt 3 of 3."
    assert len(webhook_receiver.messages) == 3


async def test_private_address_is_not_contacted_and_delivery_fails(database: Database, store: WatchedWebhooks) -> None:
    await create_hook(store, "https://localhost/hook")
    await insert_job(database, "ev_1")
    closed = HASTY.model_copy(update={"allow": (), "tries": 1})
    async with deliver(store, closed):
        await end(database, "ev_1")
        dead = await wait_for_state(store, "failed")
    assert dead.last_result == "Connections to https://localhost/hook are not allowed. That was attempt 1 of 1."


async def test_hanging_receiver_does_not_delay_other_webhooks(
    database: Database, store: WatchedWebhooks, webhook_receiver: Receiver
) -> None:
    async with run_receiver() as slow:
        slow.open.clear()
        await create_hook(store, slow.url)
        await create_hook(store, webhook_receiver.url, THEIRS, name="wh_theirs")
        for number in range(10):
            await insert_job(database, f"ev_{number}")
            await end(database, f"ev_{number}")
        narrow_settings = HASTY.model_copy(update={"at_once": 4, "at_once_per_webhook": 2})
        async with deliver(store, narrow_settings):
            await slow.receive(2)
            await insert_job(database, "theirs", THEIRS)
            await end(database, "theirs")
            await webhook_receiver.receive(1)
            assert len(slow.messages) == 2
            slow.open.set()
            await slow.receive(10)


async def test_claimed_delivery_is_exclusive_until_claim_expires(database: Database, store: PgWebhooks) -> None:
    await create_hook(store, "https://example.org")
    await insert_job(database, "ev_1")
    await end(database, "ev_1")
    (lost,) = await store.claim(10, 10, (), 0)
    (claimed_delivery,) = await store.claim(10, 10, (), 60)
    assert (lost.id, lost.attempt, claimed_delivery.attempt) == (claimed_delivery.id, 1, 2)
    assert await store.claim(10, 10, (), 60) == []
    assert not await store.settle(lost, Delivered("late"))
    assert await store.settle(claimed_delivery, RetryLater(0, "again"))
    (third,) = await store.claim(10, 10, (), 60)
    assert await store.settle(third, Abandoned("enough"))
    assert await store.claim(10, 10, (), 0) == []


async def test_claims_respect_limits_and_skip_busy_webhooks(database: Database, store: PgWebhooks) -> None:
    await create_hook(store, "https://example.org", events=EVENTS)
    await create_hook(store, "https://example.com", name="wh_2")
    for number in range(5):
        await insert_job(database, f"ev_{number}")
        await end(database, f"ev_{number}")
    assert await store.claim(10, 3, (WebhookId("wh_1"), WebhookId("wh_2")), 60) == []
    claimed = await store.claim(10, 3, (WebhookId("wh_2"),), 60)
    assert [item.webhook for item in claimed] == ["wh_1"] * 3
    assert len(await store.claim(1, 3, (), 60)) == 1


async def test_webhooks_are_limited_and_isolated_per_tenant(store: PgWebhooks) -> None:
    for number in range(5):
        await create_hook(store, "https://example.org", name=f"wh_{number}")
    assert await store.add(OURS, WebhookId("wh_5"), "https://example.org", "s", EVENTS, 5) is None
    assert len(await store.list_webhooks(OURS)) == 5
    assert await store.list_webhooks(THEIRS) == []
    assert not await store.delete(THEIRS, WebhookId("wh_1"))
    assert await store.delete(OURS, WebhookId("wh_1"))
    assert len(await store.list_webhooks(OURS)) == 4


async def test_key_rotation_re_encrypts_secrets_and_keeps_signatures_valid(
    database: Database, store: WatchedWebhooks, webhook_receiver: Receiver
) -> None:
    _, secret = await create_hook(store, webhook_receiver.url)
    await reencrypt_secrets(store, SecretCipher([LATER_KEY, KEY]))
    ((_, sealed),) = await store.list_encrypted_secrets()
    await reencrypt_secrets(store, SecretCipher([LATER_KEY]))
    assert await store.list_encrypted_secrets() == [("wh_1", sealed)], "what is under the first key stays as it is"
    await insert_job(database, "ev_1")
    async with deliver(store, keys=(LATER_KEY,)):
        await end(database, "ev_1")
        (message,) = await webhook_receiver.receive(1)
    Signer(secret).verify(message.text, message.headers)


async def test_message_with_lost_encryption_key_is_not_sent_and_reports_reason(
    database: Database, store: WatchedWebhooks, webhook_receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    await create_hook(store, webhook_receiver.url)
    await insert_job(database, "ev_1")
    await reencrypt_secrets(store, SecretCipher([LATER_KEY]))
    async with deliver(store, keys=(LATER_KEY,)):
        await end(database, "ev_1")
        dead = await wait_for_state(store, "failed")
    assert "encrypted with a key that the service does not have. That was attempt 3 of 3." in dead.last_result
    assert "ASSAYER_WEBHOOKS__KEYS" in caplog.text
    assert webhook_receiver.messages == []


async def test_poster_times_out_when_receiver_does_not_answer(webhook_receiver: Receiver) -> None:
    webhook_receiver.open.clear()
    async with GuardedPoster(create_address_policy(HASTY), "test") as poster:
        with pytest.raises(DownloadFailed, match="did not answer within"):
            await poster.post(webhook_receiver.url, b"{}", {}, 0.3)


async def test_poster_rejects_hostname_that_resolves_to_private_address(webhook_receiver: Receiver) -> None:
    async with GuardedPoster(AddressPolicy(), "test") as poster:
        with pytest.raises(AddressRefused):
            await poster.post(webhook_receiver.url.replace("127.0.0.1", "localhost"), b"{}", {}, 5)
    assert webhook_receiver.messages == []
