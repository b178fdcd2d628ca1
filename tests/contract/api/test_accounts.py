"""Tenants, keys and usage over HTTP."""

import pytest

from tests.contract.api.problems import check_problem
from tests.contract.api.service import BODY, OTHER, Service


async def test_tenant_is_created_changed_listed_and_deleted(service: Service) -> None:
    async with service.open_caller("admin") as admin:
        response = await admin.post("/v1/tenants", json={"id": "agency", "name": "An agency", "monthly_usd": 100})
        assert (response.status_code, response.headers["location"]) == (201, "/v1/tenants/agency")
        changed = await admin.patch("/v1/tenants/agency", json={"weight": 3, "monthly_usd": None})
        tenant_answer = await admin.get("/v1/tenants/agency")
        answer = await admin.get("/v1/tenants?limit=1")
        second = await admin.get("/v1/tenants", params={"after": answer.json()["next"]})
        assert (await admin.delete("/v1/tenants/agency")).status_code == 204
        check_problem(await admin.get("/v1/tenants/agency"), 404, "not-found")
        check_problem(await admin.delete("/v1/tenants/agency"), 404, "not-found")
        check_problem(await admin.post("/v1/tenants", json={"id": "other", "name": "Somebody"}), 409, "conflict")
        check_problem(await admin.delete("/v1/tenants/acme"), 409, "conflict")
    assert changed.json() == tenant_answer.json()
    assert (tenant_answer.json()["name"], tenant_answer.json()["weight"], tenant_answer.json()["monthly_usd"]) == (
        "An agency",
        3,
        None,
    )
    assert [item["id"] for item in (*answer.json()["items"], *second.json()["items"])] == ["acme", "agency", "other"]


async def test_a_key_is_shown_once(service: Service) -> None:
    async with service.open_caller("manage") as manager:
        response = await manager.post(
            "/v1/keys", json={"name": "robot", "scopes": ["submit", "read"], "expires_at": "2190-01-01T01:00:00+01:00"}
        )
        key_answer = await manager.get(response.headers["location"])
        answer = await manager.get("/v1/keys")
    secret = response.json()["secret"]
    assert response.headers["cache-control"] == "no-store"
    assert secret.startswith(response.json()["id"])
    assert key_answer.json()["expires_at"] == "2190-01-01T00:00:00Z"
    assert secret.removeprefix(response.json()["id"]) not in key_answer.text + answer.text
    async with service.open_client(secret) as robot:
        assert (await robot.post("/v1/evaluations", json=BODY)).status_code == 202


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"name": "x", "scopes": []}, "/scopes"),
        ({"name": "x", "scopes": ["write"]}, "/scopes/0"),
        ({"name": "x\0", "scopes": ["read"]}, "/name"),
        ({"name": "x", "scopes": ["read"], "expires_at": "2001-01-01T00:00:00Z"}, "/expires_at"),
        ({"name": "x", "scopes": ["read"], "expires_at": "9999-12-31T23:59:59-23:00"}, "/expires_at"),
        ({"name": "x", "scopes": ["read"], "expires_at": "2100-01-01T00:00:00"}, "/expires_at"),
    ],
)
async def test_invalid_key_request_is_rejected(service: Service, body: dict[str, object], pointer: str) -> None:
    async with service.open_caller("manage") as manager:
        document = check_problem(await manager.post("/v1/keys", json=body), 422, "invalid-request")
    assert document.errors is not None
    assert document.errors[0].pointer == pointer


async def test_creating_a_key_beyond_own_rights_is_forbidden(service: Service) -> None:
    async with service.open_caller("manage") as manager:
        higher = await manager.post("/v1/keys", json={"name": "x", "scopes": ["admin"]})
        figures = await manager.post("/v1/keys", json={"name": "x", "scopes": ["metrics"]})
        answer = await manager.post("/v1/keys", json={"name": "x", "scopes": ["read"], "tenant": OTHER})
    assert check_problem(higher, 403, "forbidden").scope == check_problem(figures, 403, "forbidden").scope == "admin"
    assert check_problem(answer, 403, "forbidden").scope == "admin"


async def test_admin_creates_keys_for_other_tenants(service: Service) -> None:
    async with service.open_caller("admin") as admin:
        response = await admin.post("/v1/keys", json={"name": "first", "scopes": ["manage"], "tenant": OTHER})
        answer = await admin.get("/v1/keys", params={"tenant": OTHER})
        nowhere = await admin.post("/v1/keys", json={"name": "x", "scopes": ["read"], "tenant": "nobody"})
    assert response.json()["tenant"] == OTHER
    assert [key["name"] for key in answer.json()["items"]] == ["first"]
    check_problem(nowhere, 404, "not-found")


async def test_usage_counts_only_jobs_of_the_tenant(service: Service) -> None:
    async with (
        service.open_caller() as client,
        service.open_caller(tenant=OTHER) as other_caller,
        service.open_caller("admin") as admin,
    ):
        await client.post("/v1/evaluations", json=BODY)
        await service.finish()
        await client.post("/v1/evaluations", json=BODY)
        own = (await client.get("/v1/usage")).json()
        none = (await other_caller.get("/v1/usage")).json()
        answer = (await admin.get("/v1/usage?tenant=acme&since=2026-01-01T00:00:00Z")).json()
        past = (await client.get("/v1/usage?since=2001-01-01T00:00:00Z&until=2001-02-01T00:00:00Z")).json()
        backwards = await client.get("/v1/usage?since=2002-01-01T00:00:00Z&until=2001-02-01T00:00:00Z")
    assert {(item["state"], item["jobs"]) for item in own["jobs"]} == {("succeeded", 1), ("queued", 1)}
    assert own["spent_this_month_usd"] == 0.25
    assert (own["cost_usd"], own["cost_absent"]) == (0.0, None)
    assert none["jobs"] == past["jobs"] == []
    assert answer["jobs"] == own["jobs"]
    check_problem(backwards, 422, "invalid-request")
