"""The same POST sent twice is done once."""

import asyncio

import httpx2
import pytest

from tests.contract.api.people import Person, call_of
from tests.contract.api.problems import check_problem, get_first_error
from tests.contract.api.service import ACME, BODY, OTHER, Service

_ONCE = {"Idempotency-Key": '"8e03978e-40d5"'}


async def test_repeated_request_returns_the_same_answer_and_runs_once(client: httpx2.AsyncClient) -> None:
    first = await client.post("/v1/evaluations", json=BODY, headers=_ONCE)
    again = await client.post("/v1/evaluations", json=BODY, headers=_ONCE)
    items = (await client.get("/v1/evaluations")).json()["items"]
    assert (first.status_code, first.content, first.headers["location"]) == (
        again.status_code,
        again.content,
        again.headers["location"],
    )
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert len(items) == 1


async def test_concurrent_identical_requests_run_once(service: Service) -> None:
    async with service.open_caller() as client, asyncio.TaskGroup() as tasks:
        submissions = [tasks.create_task(client.post("/v1/evaluations", json=BODY, headers=_ONCE)) for _ in range(12)]
        answers = [await item for item in submissions]
        items = (await client.get("/v1/evaluations")).json()["items"]
    assert len({answer.content for answer in answers}) == 1
    assert sum("idempotency-replayed" not in answer.headers for answer in answers) == 1
    assert len(items) == 1


async def test_idempotency_keys_are_separate_per_tenant(service: Service) -> None:
    async with service.open_caller() as client, service.open_caller(tenant=OTHER) as other_caller:
        first = await client.post("/v1/evaluations", json=BODY, headers=_ONCE)
        second = await other_caller.post("/v1/evaluations", json=BODY, headers=_ONCE)
    assert first.json()["id"] != second.json()["id"]


@pytest.mark.parametrize("key", ['""', "a b", "x" * 256, "é"])
async def test_invalid_idempotency_key_is_rejected(client: httpx2.AsyncClient, key: str) -> None:
    answer = await client.post("/v1/evaluations", json=BODY, headers=[(b"idempotency-key", key.encode())])
    error = get_first_error(answer)
    assert error.parameter == "Idempotency-Key"


async def test_repeated_request_with_prefer_wait_returns_the_verdict(service: Service) -> None:
    await service.machine.post("/v1/evaluations", json=BODY, headers=_ONCE)
    await service.finish()
    answer = await service.machine.post("/v1/evaluations", json=BODY, headers={**_ONCE, "Prefer": "wait=30"})
    assert answer.status_code == 200
    assert answer.json()["state"] == "succeeded"
    assert answer.headers["idempotency-replayed"] == "true"


async def test_repeated_key_creation_returns_the_same_secret_without_storing_it(service: Service) -> None:
    body = {"name": "robot", "scopes": ["read"]}
    first = await service.machine.post("/v1/keys", json=body, headers=_ONCE)
    again = await service.machine.post("/v1/keys", json=body, headers=_ONCE)
    async with service.open_caller() as colleague:
        second_answer = await colleague.post("/v1/keys", json=body, headers=_ONCE)
    items = (await service.machine.get("/v1/keys")).json()["items"]
    assert first.status_code == again.status_code == 201
    assert first.content == again.content
    assert first.headers["location"] == again.headers["location"]
    assert again.headers["idempotency-replayed"] == "true"
    check_problem(second_answer, 422, "idempotency-key-reused")
    assert [key["name"] for key in items].count("robot") == 1
    secret = first.json()["secret"]
    async with service.open_client(secret) as robot:
        assert (await robot.get("/v1/methods")).status_code == 200
    (row,) = await service.database.fetch("SELECT string_agg(body::text || location, '') AS kept FROM idempotency")
    assert secret.split("_", 2)[2].encode().hex() not in row["kept"]


async def test_repeated_tenant_creation_does_not_recreate_a_deleted_tenant(service: Service) -> None:
    body = {"name": "Agency", "weight": 2}
    async with service.open_caller("admin") as client:
        first = await client.post("/v1/tenants", json=body, headers=_ONCE)
        again = await client.post("/v1/tenants", json=body, headers=_ONCE)
        assert first.content == again.content
        assert (await client.delete(first.headers["location"])).status_code == 204
        late = await client.post("/v1/tenants", json=body, headers=_ONCE)
        check_problem(await client.get(first.headers["location"]), 404, "not-found")
    assert late.content == first.content


async def test_repeated_call_objection_and_answer_are_recorded_once(
    service: Service, owner: Person, officer: Person
) -> None:
    created = [await officer.post("/v1/calls", json={"name": "Spring"}, headers=_ONCE) for _ in range(2)]
    assert [answer.status_code for answer in created] == [201, 201]
    assert created[0].json() == created[1].json()
    assert len((await officer.get("/v1/batches")).json()["items"]) == 1
    second_answer = await officer.post("/v1/calls", json={"name": "Autumn"}, headers=_ONCE)
    check_problem(second_answer, 422, "idempotency-key-reused")

    _, (first,) = await call_of(service, "# One")
    objections = f"/v1/evaluations/{first}/objections"
    body = {"text": "Ada Verne was misread.", "received_on": "2031-01-31"}
    recorded = [await officer.post(objections, json=body, headers={"Idempotency-Key": "a"}) for _ in range(2)]
    assert recorded[0].json() == recorded[1].json()
    number = recorded[0].json()["id"]
    answers = [
        await officer.post(
            f"{objections}/{number}/answer", json={"answer": "It was not."}, headers={"Idempotency-Key": "b"}
        )
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[1].json()["answer"] == "It was not."
    assert len((await officer.get(objections)).json()["items"]) == 1
    actions = [entry.action for entry in await service.services.audit_log.list_entries(ACME)]
    assert (
        actions.count("call created"),
        actions.count("objection recorded"),
        actions.count("objection answered"),
    ) == (1, 1, 1)
    stored = await service.database.fetch("SELECT convert_from(body, 'UTF8') AS body FROM idempotency")
    assert not any("Verne" in row["body"] for row in stored), "an erasure would not find it there"
    missing = await officer.post("/v1/evaluations/ev_none/objections", json=body, headers={"Idempotency-Key": "c"})
    assert missing.status_code == 404
    assert (await owner.delete(f"/v1/evaluations/{first}?erase=true")).status_code == 204
    response = await officer.post(objections, json=body, headers={"Idempotency-Key": "a"})
    assert response.status_code in (404, 410)
