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
from tests.contract.api.problems import check_problem, get_first_error
from tests.contract.api.service import BODY, OTHER, Service
from tests.contract.webhook_receiver import run_receiver

HOOK = {"url": "https://hooks.example.org/assayer"}


async def test_webhook_secret_is_shown_only_once(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/v1/webhooks", json=HOOK | {"events": ["batch.finished", "batch.finished"]})
    webhook = NewWebhook.model_validate_json(answer.content)
    assert (answer.status_code, answer.headers["location"]) == (201, f"/v1/webhooks/{webhook.id}")
    assert webhook.secret.startswith("whsec_")
    webhook_answer = await client.get(f"/v1/webhooks/{webhook.id}")
    assert WebhookResource.model_validate_json(webhook_answer.content).events == ("batch.finished",)
    response = await client.get("/v1/webhooks")
    assert [item["id"] for item in response.json()["items"]] == [webhook.id]
    assert webhook.secret not in webhook_answer.text + response.text
    assert (await client.delete(f"/v1/webhooks/{webhook.id}")).status_code == 204
    check_problem(await client.get(f"/v1/webhooks/{webhook.id}"), 404, "not-found")


async def test_webhook_secret_is_never_stored_or_logged_in_plain_text(
    service: Service, client: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    answer = (await client.post("/v1/webhooks", json=HOOK, headers={"Idempotency-Key": "one"})).json()
    rows = await service.database.fetch(
        "SELECT webhooks::text || convert_from(body, 'UTF8') AS kept FROM webhooks JOIN idempotency USING (tenant)"
    )
    assert len(rows) == 1
    assert answer["secret"].removeprefix("whsec_") not in rows[0]["kept"] + caplog.text


async def test_webhook_creation_without_an_encryption_key_names_the_setting(service: Service) -> None:
    bare = service.with_services(cipher=SecretCipher([]))
    async with bare.open_caller() as client:
        problem = check_problem(await client.post("/v1/webhooks", json=HOOK), 501, "not-configured")
        assert (await client.get("/v1/webhooks")).json()["items"] == []
    assert "ASSAYER_WEBHOOKS__KEYS" in problem.detail


async def test_repeated_request_is_rejected_after_the_encryption_key_is_lost(
    service: Service, client: httpx2.AsyncClient
) -> None:
    key = {"Idempotency-Key": "one"}
    assert (await client.post("/v1/webhooks", json=HOOK, headers=key)).status_code == 201
    other_service = service.with_services(cipher=SecretCipher([Fernet.generate_key().decode()]))
    async with other_service.open_caller() as later_caller:
        check_problem(await later_caller.post("/v1/webhooks", json=HOOK, headers=key), 501, "not-configured")


@pytest.mark.parametrize(
    ("body", "pointer", "says"),
    [
        ({"url": "ftp://example.org"}, "/url", "it has the scheme ftp:"),
        ({"url": "https://10.0.0.7/hook"}, "/url", "not a public address"),
        ({"url": "https://a:b@example.org/"}, "/url", "user name or password"),
        ({"url": "nonsense"}, "/url", "no scheme"),
        (HOOK | {"events": []}, "/events", "at least 1 item"),
        (HOOK | {"events": ["job.exploded"]}, "/events/0", "It must be"),
        ({}, "/url", "required"),
    ],
)
async def test_invalid_webhook_names_the_field(
    client: httpx2.AsyncClient, body: dict[str, object], pointer: str, says: str
) -> None:
    error = get_first_error(await client.post("/v1/webhooks", json=body))
    assert error.pointer == pointer
    assert says in error.detail


async def test_webhooks_require_the_manage_scope_and_are_limited_to_twenty(
    service: Service, client: httpx2.AsyncClient
) -> None:
    async with service.open_caller("submit", "read") as visitor:
        assert check_problem(await visitor.get("/v1/webhooks"), 403, "forbidden").scope == "manage"
        assert check_problem(await visitor.post("/v1/webhooks", json=HOOK), 403, "forbidden").scope == "manage"
    for _ in range(20):
        assert (await client.post("/v1/webhooks", json=HOOK)).status_code == 201
    assert "has 20 webhooks" in check_problem(await client.post("/v1/webhooks", json=HOOK), 409, "conflict").detail


async def test_evaluation_end_is_delivered_only_to_webhooks_of_its_tenant(
    service: Service, client: httpx2.AsyncClient
) -> None:
    settings = WebhookSettings(allow=("127.0.0.0/8",), plain_http=True)
    async with (
        run_receiver() as receiver,
        run_receiver() as other_receiver,
        service.open_caller(tenant=OTHER) as other_tenant,
    ):
        webhook = NewWebhook.model_validate_json(
            (await client.post("/v1/webhooks", json={"url": receiver.url})).content
        )
        other_id = (await other_tenant.post("/v1/webhooks", json={"url": other_receiver.url})).json()["id"]
        accepted = (await client.post("/v1/evaluations", json=BODY)).json()
        async with (
            service.services.listener.subscribe("assayer_jobs") as notifications,
            open_deliverer(
                settings, service.services.webhooks, service.services.cipher, notifications, service.services.clock
            ) as deliverer,
        ):
            running = asyncio.create_task(deliverer.run())
            await service.finish()
            (message,) = await receiver.receive(1)
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
        Signer(webhook.secret).verify(message.text, message.headers)
        assert message.payload["data"]["id"] == accepted["id"]
        (delivery,) = (await client.get(f"/v1/webhooks/{webhook.id}/deliveries")).json()["items"]
        assert DeliveryResource.model_validate(delivery).id == message.id
        assert (await other_tenant.get(f"/v1/webhooks/{other_id}/deliveries")).json()["items"] == []
        check_problem(await other_tenant.get(f"/v1/webhooks/{webhook.id}/deliveries"), 404, "not-found")
        check_problem(await other_tenant.delete(f"/v1/webhooks/{webhook.id}"), 404, "not-found")
        assert other_receiver.messages == []


async def test_ping_is_queued_and_listed_as_a_delivery(service: Service) -> None:
    async with run_receiver() as received, service.open_caller() as client:
        answer = (await client.post("/v1/webhooks", json={"url": received.url, "events": ["batch.finished"]})).json()
        ping = DeliveryResource.model_validate_json((await client.post(f"/v1/webhooks/{answer['id']}/ping")).content)
        assert (ping.type, ping.state, ping.attempt) == ("ping", "pending", 0)
        assert (await client.post("/v1/webhooks/wh_none/ping")).status_code == 404
        (delivery,) = (await client.get(f"/v1/webhooks/{answer['id']}/deliveries")).json()["items"]
        assert (delivery["id"], delivery["type"]) == (ping.id, "ping")
