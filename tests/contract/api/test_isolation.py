"""No route lets a tenant read, cancel, count or change the resources of another tenant."""

from typing import Any

import httpx2
import pytest

from orchestrator.access.roles import ROLES, Role
from tests.contract.api.people import add_person, call_of
from tests.contract.api.routes import QUERY_PARAMETERS, build_request_body, list_api_operations
from tests.contract.api.service import ACME, BODY, OTHER, TEXT, Service

_OPEN = {"/healthz", "/readyz"}


async def test_every_route_but_the_probes_needs_a_key(service: Service) -> None:
    async with service.open_client() as client:
        for method, path in list_api_operations(service.app):
            answer = await client.request(method, path.replace("{id}", "ev_1").replace("{item}", "0"))
            assert (answer.status_code == 401) == (path not in _OPEN), (method, path)


@pytest.mark.parametrize(
    "role", [pytest.param(role, marks=() if role in ("machine", "owner") else pytest.mark.slow) for role in ROLES]
)
async def test_resources_of_another_tenant_are_inaccessible(service: Service, role: Role) -> None:
    """Each route with an id in its path gets the ids of things that do exist, from each role of the other tenant; a
    machine comes with the widest key. The quick tier has a machine and the person with the most permissions. Where a
    role may not ask at all, one id is enough."""
    stranger_key = (
        await service.create_key(tenant=OTHER)
        if role == "machine"
        else (await add_person(service, role, tenant=OTHER)).key
    )
    async with service.open_caller() as owner, service.open_client(stranger_key) as other_tenant:
        finished = (await owner.post("/v1/evaluations", json=BODY)).json()["id"]
        await service.finish()
        queued = (await owner.post("/v1/evaluations", json=BODY)).json()["id"]
        paper = {"title": "Rehearsal by risk", "abstract": TEXT}
        batch, (in_batch, _) = await call_of(service, "# One", "# Two")
        member = str((await add_person(service, "reviewer", "Grace Hopper")).member.id)
        curation = (await owner.post("/v1/curations", json={"items": [paper]})).json()["id"]
        pair = {"first": BODY["idea"], "second": {"title": "Fern", "text": TEXT.replace("examples", "ferns")}}
        compared = (await owner.post("/v1/comparisons", json=pair)).json()["id"]
        ranking = (await owner.post("/v1/rankings", json={"ideas": list(pair.values())})).json()["id"]
        item = {"question": "How?", "idea": TEXT, "abstract": TEXT}
        rewards = (await owner.post("/v1/rewards", json={"items": [item]})).json()["id"]
        key = (await owner.post("/v1/keys", json={"name": "robot", "scopes": ["read"]})).json()["id"]
        await service.database.execute("UPDATE api_keys SET requests_per_minute = 100000")
        before = await _fetch_everything(service)
        for method, path in list_api_operations(service.app):
            if "{id}" not in path:
                continue
            needed = QUERY_PARAMETERS.get((method, path), {})
            body = build_request_body(method, path)
            url = path.replace("{id}", "ev_none").replace("{item}", "0").replace("{number}", "1")
            unknown = await other_tenant.request(method, url, params=needed, json=body)
            resource_ids = (finished, queued, curation, compared, ranking, rewards, key, batch, in_batch, member)
            for resource_id in resource_ids if unknown.status_code == 404 else resource_ids[:1]:
                url = path.replace("{id}", resource_id).replace("{item}", "0").replace("{number}", "1")
                answer = await other_tenant.request(method, url, params=needed, json=body)
                assert answer.status_code in (403, 404), (method, path, answer.text)
                assert unknown.status_code == answer.status_code, (method, path)
        assert await _fetch_everything(service) == before


async def test_lists_and_totals_contain_only_own_data(service: Service) -> None:
    async with service.open_caller() as owner, service.open_caller(tenant=OTHER) as other_tenant:
        await owner.post("/v1/evaluations", json=BODY)
        await service.finish()
        await owner.post("/v1/evaluations", json=BODY)
        answers = [await other_tenant.get(path) for path in ("/v1/evaluations", "/v1/keys", "/v1/usage")]
    assert answers[0].json()["items"] == []
    assert {key["tenant"] for key in answers[1].json()["items"]} == {OTHER}
    assert answers[2].json()["jobs"] == []
    assert not any(ACME in answer.text for answer in answers)


async def test_a_cursor_of_another_tenant_shows_nothing_of_theirs(service: Service) -> None:
    async with service.open_caller() as owner, service.open_caller(tenant=OTHER) as other_tenant:
        for _ in range(2):
            await owner.post("/v1/evaluations", json=BODY)
        cursor = (await owner.get("/v1/evaluations?limit=1")).json()["next"]
        answer: httpx2.Response = await other_tenant.get("/v1/evaluations", params={"after": cursor})
    assert answer.json()["items"] == []


async def _fetch_everything(service: Service) -> list[Any]:
    rows = await service.database.fetch("SELECT id, state FROM jobs ORDER BY id")
    keys = await service.database.fetch("SELECT id, revoked_at FROM api_keys ORDER BY id")
    people = await service.database.fetch("SELECT id, tenant, role FROM members ORDER BY id")
    chosen = await service.database.fetch("SELECT batch, member FROM call_reviewers ORDER BY batch, member")
    known = await service.database.fetch("SELECT member, version FROM expertise ORDER BY member")
    bidding_rows = await service.database.fetch("SELECT batch FROM open_bidding ORDER BY batch")
    return [tuple(row) for row in (*rows, *keys, *people, *chosen, *known, *bidding_rows)]
