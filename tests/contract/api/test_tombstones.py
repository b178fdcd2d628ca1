"""Deleted resources: their tenant gets a 410 with date and reason; other tenants do not learn that they existed."""

import datetime as dt
import pickle

import httpx2
import pytest

from assayer_client import AsyncClient, Deleted
from orchestrator.access.audit_chain import ActBy
from orchestrator.store.tombstones import PgTombstones
from tests.contract.api.commands import Program
from tests.contract.api.console_forms import open_session
from tests.contract.api.people import OPERATOR, add_person, call_of
from tests.contract.api.problems import check_problem
from tests.contract.api.routes import QUERY_PARAMETERS, build_request_body, list_api_operations
from tests.contract.api.service import ACME, BODY, OTHER, TEXT, Service

HTML = {"Accept": "text/html"}


async def erase(caller: httpx2.AsyncClient, path: str) -> None:
    answer = await caller.delete(path, params={"erase": True})
    assert answer.status_code == 204, answer.text


async def get_newest_proof_number(service: Service) -> int:
    (entry, *_) = await service.services.audit_log.list_newest(ACME, act="erased", limit=1)
    return entry.number


def mask_ids(answer: httpx2.Response, id: str) -> tuple[int, str]:
    """Return status and body without the ids of the request and of the resource."""
    members = {name: value for name, value in answer.json().items() if name != "request_id"}
    return answer.status_code, str(members).replace(id, "ID")


@pytest.mark.parametrize(("kind", "fewest"), [("evaluations", 12), ("batches", 8)])
async def test_every_route_of_an_erased_resource_returns_410(service: Service, kind: str, fewest: int) -> None:
    batch, (evaluation, _) = await call_of(service, "# One", "# Two")
    resource_id, tried_count = evaluation if kind == "evaluations" else batch, 0
    async with service.open_caller() as owner, service.open_caller(tenant=OTHER) as other_tenant:
        if kind == "evaluations":
            await erase(owner, f"/v1/evaluations/{resource_id}")
        else:
            await owner.post("/v1/erasures", json={"batch": resource_id})
        proof = await get_newest_proof_number(service)
        for method, path in list_api_operations(service.app):
            if not path.startswith(f"/v1/{kind}/{{id}}"):
                continue

            async def ask(
                caller: httpx2.AsyncClient, id: str, *, verb: str = method, path_template: str = path
            ) -> httpx2.Response:
                erased_path = path_template.replace("{id}", id).replace("{number}", "1")
                params = QUERY_PARAMETERS.get((verb, path_template), {}), build_request_body(verb, path_template)
                return await caller.request(verb, erased_path, params=params[0], json=params[1])

            answer = await ask(owner, resource_id)
            if answer.status_code == 403:  # opinions and decisions are people's
                continue
            document = check_problem(answer, 410, "gone")
            assert (document.reason, document.proof) == ("erased", proof), path
            assert document.deleted_at is not None
            assert f"/v1/erasures/{proof}" in document.detail
            strange, unknown = await ask(other_tenant, resource_id), await ask(other_tenant, "ev_none")
            assert mask_ids(strange, resource_id) == mask_ids(unknown, "ev_none"), path
            assert strange.status_code == 404, path
            tried_count += 1
        assert tried_count > fewest
        assert resource_id in (await owner.get(f"/v1/erasures/{proof}")).json()["erased_ids"]
        other_kind = "batches" if kind == "evaluations" else "evaluations"
        check_problem(await owner.get(f"/v1/{other_kind}/{resource_id}"), 404, "not-found")
        if kind == "evaluations":
            response = (await owner.get(f"/v1/batches/{batch}")).json()
            assert (response["rows"], response["erased"], response["states"]) == (2, 1, {"queued": 1})


async def test_every_kind_of_job_and_a_batch_leave_a_tombstone(service: Service, client: httpx2.AsyncClient) -> None:
    paper = {"title": "Rehearsal by risk", "abstract": TEXT}
    pair = {"first": BODY["idea"], "second": {"title": "Fern", "text": TEXT.replace("examples", "ferns")}}
    ideas = {"ideas": [pair["first"], pair["second"]]}
    bodies = {"curations": {"items": [paper]}, "comparisons": pair, "rankings": ideas, "evaluations": BODY}
    for kind, body in bodies.items():
        answer = await client.post(f"/v1/{kind}", json=body)
        assert answer.status_code == 202, answer.text
        await erase(client, f"/v1/{kind}/{answer.json()['id']}")
        check_problem(await client.get(f"/v1/{kind}/{answer.json()['id']}"), 410, "gone")
        check_problem(await client.delete(f"/v1/{kind}/{answer.json()['id']}"), 410, "gone")
    batch, (first, _) = await call_of(service, "# One", "# Two")
    proof = (await client.post("/v1/erasures", json={"batch": batch})).json()["proof"]
    for path in (f"/v1/batches/{batch}", f"/v1/batches/{batch}/results", f"/v1/evaluations/{first}"):
        assert check_problem(await client.get(path), 410, "gone").proof == proof, path
    again = check_problem(await client.post("/v1/erasures", json={"batch": batch}), 410, "gone")
    assert (again.reason, again.proof) == ("erased", proof)


async def test_retention_deletion_returns_410_without_a_proof(service: Service) -> None:
    batch, (first, second) = await call_of(service, "# One", "# Two")
    await service.finish()
    await service.finish()
    await service.database.execute("UPDATE tenants SET retention_days = 30 WHERE id = $1", ACME)
    after_retention = dt.datetime.now(dt.UTC) + dt.timedelta(days=31)
    assert await service.services.jobs.purge(after_retention) == 2
    async with service.open_caller() as owner, service.open_caller(tenant=OTHER) as other_tenant:
        for path in (f"/v1/evaluations/{first}", f"/v1/evaluations/{second}/report", f"/v1/batches/{batch}"):
            document = check_problem(await owner.get(path), 410, "gone")
            assert (document.reason, document.proof, document.deleted_at) == ("retention", None, after_retention), path
            assert "retention period" in document.detail
            check_problem(await other_tenant.get(path), 404, "not-found")


async def test_proof_is_named_only_to_roles_allowed_to_read_it(service: Service, client: httpx2.AsyncClient) -> None:
    _, (first, _) = await call_of(service, "# One", "# Two")
    officer, reviewer = await add_person(service, "officer"), await add_person(service, "reviewer", "Grace Hopper")
    await erase(client, f"/v1/evaluations/{first}")
    for key in (await service.create_key("read"), officer.key):
        async with service.open_client(key) as reads:
            document = check_problem(await reads.get(f"/v1/evaluations/{first}"), 410, "gone")
            assert (document.proof, "/v1/erasures" in document.detail) == (None, False)
            check_problem(await reads.get("/v1/erasures/1"), 403, "forbidden")
    document = check_problem(await reviewer.get(f"/v1/evaluations/{first}/proposal"), 410, "gone")
    assert (document.proof, "/v1/erasures" in document.detail) == (None, False)


async def test_tombstone_contains_no_personal_data(service: Service, client: httpx2.AsyncClient) -> None:
    named_body = {"idea": BODY["idea"] | {"title": "Plan of Jane Doe"}, "source": "Jane Doe.docx"}
    response = await client.post("/v1/evaluations", json=named_body)
    assert response.status_code == 202, response.text
    await erase(client, f"/v1/evaluations/{response.json()['id']}")
    answer = await client.get(f"/v1/evaluations/{response.json()['id']}")
    assert "Jane" not in answer.text
    (row,) = await service.database.fetch("SELECT * FROM tombstones")
    assert set(row.keys()) == {"tenant", "id", "kind", "deleted_at", "why", "proof"}


async def test_repeated_request_for_an_erased_evaluation_returns_the_original_answer(
    client: httpx2.AsyncClient,
) -> None:
    once = {"Idempotency-Key": "once"}
    answer = await client.post("/v1/evaluations", json=BODY, headers=once)
    await erase(client, f"/v1/evaluations/{answer.json()['id']}")
    again = await client.post("/v1/evaluations", json=BODY, headers={**once, "Prefer": "wait=1"})
    assert (again.status_code, again.json()["id"]) == (202, answer.json()["id"])
    check_problem(await client.get(again.headers["Location"]), 410, "gone")


async def test_tombstones_are_deleted_with_their_tenant_or_after_retention(service: Service) -> None:
    _, (first, second) = await call_of(service, "# One", "# Two")
    stones = PgTombstones(service.database)
    await erase(service.machine, f"/v1/evaluations/{first}")
    assert await stones.purge(dt.datetime.now(dt.UTC) - dt.timedelta(days=1)) == 0
    assert await stones.purge(dt.datetime.now(dt.UTC)) == 1
    check_problem(await service.machine.get(f"/v1/evaluations/{first}"), 404, "not-found")
    await erase(service.machine, f"/v1/evaluations/{second}")
    assert await service.services.tenants.delete(ACME, ActBy(OPERATOR, dt.datetime.now(dt.UTC)))
    assert await service.database.fetch("SELECT FROM tombstones") == []


async def test_pages_explain_that_the_proposal_was_erased(service: Service) -> None:
    batch, (first, _) = await call_of(service, "# One", "# Two")
    owner, officer = await add_person(service, "owner", "Olga Owner"), await add_person(service, "officer")
    reviewer = await add_person(service, "reviewer", "Grace Hopper")
    await erase(owner, f"/v1/evaluations/{first}")
    proof = await get_newest_proof_number(service)
    async with open_session(service, owner.key) as browser:
        page = await browser.get(f"/console/proposals/{first}", headers=HTML)
        assert (page.status_code, page.headers["content-type"]) == (410, "text/html; charset=utf-8")
        assert f"The evaluation &#39;{first}&#39; was erased on" in page.text
        assert f'href="/console/erase/{proof}"' in page.text
        assert (await browser.get(f"/console/erase/{proof}")).status_code == 200
        unknown = await browser.get("/console/proposals/ev_none")
        assert unknown.status_code == 404
    for person, path in ((officer, f"/console/proposals/{first}"), (reviewer, f"/console/review/{first}")):
        async with open_session(service, person.key) as browser:
            page = await browser.get(path, headers=HTML)
            assert page.status_code == 410
            assert "was erased on" in page.text
            assert "/console/erase/" not in page.text
    await owner.post("/v1/erasures", json={"batch": batch})
    async with open_session(service, officer.key) as browser:
        assert "was erased on" in (await browser.get(f"/console/calls/{batch}")).text
    other_tenant = await add_person(service, "owner", "Other Owner", tenant=OTHER)
    async with open_session(service, other_tenant.key) as browser:
        assert (await browser.get(f"/console/proposals/{first}")).status_code == 404


async def test_client_and_commands_explain_that_the_evaluation_was_erased(program: Program, service: Service) -> None:
    _, (first, _) = await call_of(service, "# One", "# Two")
    await erase(service.machine, f"/v1/evaluations/{first}")
    proof = await get_newest_proof_number(service)
    async with AsyncClient(program.url, program.key) as client:
        with pytest.raises(Deleted) as caught:
            await client.evaluations.report(first)
        gone = caught.value
        assert (gone.why, gone.proof, gone.slug, gone.retryable) == ("erased", proof, "gone", False)
        assert gone.deleted_at is not None
        assert gone.proof is not None
        assert first in (await client.erasures.get_proof(gone.proof)).erased_ids
    again = pickle.loads(pickle.dumps(gone))  # noqa: S301 - our own bytes
    assert (str(again), again.proof, again.deleted_at) == (str(gone), proof, gone.deleted_at)
    for command in ("fetch", "watch", "timeline", "cancel"):
        result = await program.run("batch", command, first)
        assert result.code != 0, command
        assert f"The evaluation '{first}' was erased on " in " ".join(result.err.split()), (command, result.err)
        assert "Traceback" not in result.err


async def test_cost_of_a_batch_is_unknown_once_retention_has_deleted_some_of_it(service: Service) -> None:
    batch, (first, _) = await call_of(service, "# One", "# Two")
    await service.finish()
    await service.finish()
    async with service.open_caller() as owner:
        before = (await owner.get(f"/v1/batches/{batch}")).json()
        assert before["cost_usd"] is not None
        await erase(owner, f"/v1/evaluations/{first}")
        after = (await owner.get(f"/v1/batches/{batch}")).json()
    assert (after["cost_usd"], after["erased"]) == (None, 1)
