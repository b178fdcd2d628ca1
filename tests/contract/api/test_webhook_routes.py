"""Webhooks as their tenants manage them, and the way of a message from a request to a receiver."""

import asyncio
from contextlib import suppress

import httpx2
import pytest
from cryptography.fernet import Fernet
from standardwebhooks import Webhook as Signer

from assayer_client.webhooks import DeliveryResource, NewWebhook, WebhookResource
from cluster.settings import WebhookSettings
from cluster.webhooks import open_deliverer
from orchestrator.webhooks.secrets import SecretCipher
from tests.contract.api.problems import check_problem, first_error
from tests.contract.api.service import BODY, OTHER, Service
from tests.contract.webhook_receiver import receiver

HOOK = {"url": "https://hooks.example.org/assayer"}


async def test_webhook_tells_its_secret_once(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/v1/webhooks", json=HOOK | {"events": ["batch.finished", "batch.finished"]})
    made = NewWebhook.model_validate_json(answer.content)
    assert (answer.status_code, answer.headers["location"]) == (201, f"/v1/webhooks/{made.id}")
    assert made.secret.startswith("whsec_")
    shown = await client.get(f"/v1/webhooks/{made.id}")
    assert WebhookResource.model_validate_json(shown.content).events == ("batch.finished",)
    listed = await client.get("/v1/webhooks")
    assert [item["id"] for item in listed.json()["items"]] == [made.id]
    assert made.secret not in shown.text + listed.text
    assert (await client.delete(f"/v1/webhooks/{made.id}")).status_code == 204
    check_problem(await client.get(f"/v1/webhooks/{made.id}"), 404, "not-found")


async def test_secret_lies_nowhere_in_clear(
    service: Service, client: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    made = (await client.post("/v1/webhooks", json=HOOK, headers={"Idempotency-Key": "one"})).json()
    rows = await service.database.fetch(
        "SELECT webhooks::text || convert_from(body, 'UTF8') AS kept FROM webhooks JOIN idempotency USING (tenant)"
    )
    assert len(rows) == 1
    assert made["secret"].removeprefix("whsec_") not in rows[0]["kept"] + caplog.text


async def test_without_a_key_no_webhook_is_made_and_the_setting_is_named(service: Service) -> None:
    bare = service.with_services(cipher=SecretCipher([]))
    async with bare.caller() as client:
        refused = check_problem(await client.post("/v1/webhooks", json=HOOK), 501, "not-configured")
        assert (await client.get("/v1/webhooks")).json()["items"] == []
    assert "ASSAYER_WEBHOOKS__KEYS" in refused.detail


async def test_request_that_is_repeated_after_its_key_was_lost_is_refused(
    service: Service, client: httpx2.AsyncClient
) -> None:
    key = {"Idempotency-Key": "one"}
    assert (await client.post("/v1/webhooks", json=HOOK, headers=key)).status_code == 201
    other = service.with_services(cipher=SecretCipher([Fernet.generate_key().decode()]))
    async with other.caller() as later:
        check_problem(await later.post("/v1/webhooks", json=HOOK, headers=key), 501, "not-configured")


@pytest.mark.parametrize(
    ("body", "pointer", "says"),
    [
        ({"url": "ftp://example.org"}, "/url", "it has ftp:"),
        ({"url": "https://10.0.0.7/hook"}, "/url", "not a public address"),
        ({"url": "https://a:b@example.org/"}, "/url", "user name or password"),
        ({"url": "nonsense"}, "/url", "no scheme"),
        (HOOK | {"events": []}, "/events", "at least 1 item"),
        (HOOK | {"events": ["job.exploded"]}, "/events/0", "It should be"),
        ({}, "/url", "required"),
    ],
)
async def test_webhook_that_cannot_be_is_named(
    client: httpx2.AsyncClient, body: dict[str, object], pointer: str, says: str
) -> None:
    error = first_error(await client.post("/v1/webhooks", json=body))
    assert error.pointer == pointer
    assert says in error.detail


async def test_webhooks_take_the_scope_manage_and_are_so_many(service: Service, client: httpx2.AsyncClient) -> None:
    async with service.caller("submit", "read") as visitor:
        assert check_problem(await visitor.get("/v1/webhooks"), 403, "forbidden").scope == "manage"
        assert check_problem(await visitor.post("/v1/webhooks", json=HOOK), 403, "forbidden").scope == "manage"
    for _ in range(20):
        assert (await client.post("/v1/webhooks", json=HOOK)).status_code == 201
    assert "has 20 webhooks" in check_problem(await client.post("/v1/webhooks", json=HOOK), 409, "conflict").detail


async def test_end_of_an_evaluation_is_told_to_its_tenant_alone(service: Service, client: httpx2.AsyncClient) -> None:
    settings = WebhookSettings(allow=("127.0.0.0/8",), plain_http=True)
    async with receiver() as ours, receiver() as theirs, service.caller(tenant=OTHER) as stranger:
        made = NewWebhook.model_validate_json((await client.post("/v1/webhooks", json={"url": ours.url})).content)
        other = (await stranger.post("/v1/webhooks", json={"url": theirs.url})).json()["id"]
        accepted = (await client.post("/v1/evaluations", json=BODY)).json()
        async with (
            service.services.listener.subscribe("assayer_jobs") as notifications,
            open_deliverer(
                settings, service.services.webhooks, service.services.cipher, notifications, service.services.clock
            ) as deliverer,
        ):
            running = asyncio.create_task(deliverer.run())
            await service.finish()
            (message,) = await ours.received(1)
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
        Signer(made.secret).verify(message.text, message.headers)
        assert message.payload["data"]["id"] == accepted["id"]
        (told,) = (await client.get(f"/v1/webhooks/{made.id}/deliveries")).json()["items"]
        assert DeliveryResource.model_validate(told).id == message.id
        assert (await stranger.get(f"/v1/webhooks/{other}/deliveries")).json()["items"] == []
        check_problem(await stranger.get(f"/v1/webhooks/{made.id}/deliveries"), 404, "not-found")
        check_problem(await stranger.delete(f"/v1/webhooks/{made.id}"), 404, "not-found")
        assert theirs.messages == []


async def test_a_ping_is_sent_signed_and_told(service: Service) -> None:
    async with receiver() as received, service.caller() as client:
        made = (await client.post("/v1/webhooks", json={"url": received.url, "events": ["batch.finished"]})).json()
        sent = DeliveryResource.model_validate_json((await client.post(f"/v1/webhooks/{made['id']}/ping")).content)
        assert (sent.type, sent.state, sent.attempt) == ("ping", "pending", 0)
        assert (await client.post("/v1/webhooks/wh_none/ping")).status_code == 404
        (listed,) = (await client.get(f"/v1/webhooks/{made['id']}/deliveries")).json()["items"]
        assert (listed["id"], listed["type"]) == (sent.id, "ping")
