"""Concurrent and delayed writes leave nothing of an erased proposal behind."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from orchestrator.access.audit_chain import ActBy
from orchestrator.services.erasures import carry_out_erasure, preview_erasure
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection
from orchestrator.store.erasure_steps import ErasureStart, StartedErasure
from orchestrator.store.migrator import AnyConnection
from orchestrator.store.retention import erase_jobs
from tests.contract.api.erasures import erase_and_fetch_proof, find_tables_with, wait_for_blocked_statements
from tests.contract.api.evaluated_calls import ENTRANTS, evaluate_call_of_six
from tests.contract.api.people import OPERATOR, add_person, call_of
from tests.contract.api.problems import check_problem
from tests.contract.api.ranking_jobs import finish_ranking
from tests.contract.api.service import ACME, JSONL_HEADERS, OTHER, Service
from tests.contract.store_jobs import NOW
from tests.unit.batch_bodies import make_idea_text, render_jsonl

NAME = "Jane Doe"
ROWS = render_jsonl(
    [
        {"id": "A-1", "title": f"Plan of {NAME}", "text": make_idea_text(1)},
        {"id": "A-2", "title": "Moss", "text": make_idea_text(2)},
        {"id": "A-3", "title": "-"},
    ]
)


def act_after_redaction(monkeypatch: pytest.MonkeyPatch, act: Callable[[], Awaitable[object]]) -> None:
    """Run an action after the erasure has removed texts of the log, but no jobs yet."""
    original = ErasureStart.record_and_cancel

    async def record_and_cancel(self: ErasureStart, connection: Connection) -> StartedErasure:
        started_erasure = await original(self, connection)
        await act()
        return started_erasure

    monkeypatch.setattr(ErasureStart, "record_and_cancel", record_and_cancel)


async def test_opinion_submitted_during_an_erasure_is_erased_too(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, ada = await add_person(service, "owner", "Olga Owner"), await add_person(service, "reviewer")
    batch, (first,) = await call_of(service, "# One")
    await owner.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})

    async def give() -> None:
        opinion = {"score": 2, "note": f"{NAME} is my rival"}
        answer = await ada.post(f"/v1/evaluations/{first}/opinions", json=opinion)
        assert answer.status_code == 200, answer.text

    act_after_redaction(monkeypatch, give)
    proof = await erase_and_fetch_proof(owner, source="0.txt")

    assert proof["still_stored"] == []
    assert await find_tables_with(service.database, NAME) == []
    entries = await service.services.audit_log.list_entries(ACME)
    late = [entry for entry in entries if entry.action == "erased" and entry.content and entry.content["entries"]]
    assert late, "an entry names those that have lost their words"


async def test_row_added_during_an_erasure_is_erased_with_its_call(
    service: Service, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await client.post("/v1/batches", content=ROWS, headers=JSONL_HEADERS, params={"open": "true"})
    batch = answer.json()["id"]

    async def add_row() -> None:
        part = render_jsonl([{"id": "A-4", "title": f"Late plan of {NAME}", "text": make_idea_text(4)}])
        params = {"first_row": answer.json()["next_row"], "open": "true"}
        part_answer = await client.post(f"/v1/batches/{batch}/rows", content=part, headers=JSONL_HEADERS, params=params)
        assert part_answer.status_code == 202, part_answer.text
        for _ in range(3):
            await service.finish()

    act_after_redaction(monkeypatch, add_row)
    proof = await erase_and_fetch_proof(client, batch=batch)

    assert proof["still_stored"] == []
    assert await find_tables_with(service.database, NAME) == []
    assert await service.database.fetch("SELECT FROM evaluations") == []


async def test_webhook_deliveries_contain_no_erased_data(service: Service, client: httpx2.AsyncClient) -> None:
    await client.post("/v1/webhooks", json={"url": "http://127.0.0.1:9/x"})
    await client.post("/v1/batches", content=ROWS, headers=JSONL_HEADERS)
    await service.finish()
    proof = await erase_and_fetch_proof(client, source="A-1")
    assert proof["still_stored"] == []
    answer = await client.post("/v1/batches", content=ROWS, headers=JSONL_HEADERS)
    await erase_and_fetch_proof(client, batch=answer.json()["id"])
    claimed = await service.services.webhooks.claim(10, 10, [], 60)
    assert NAME not in json.dumps([item.payload for item in claimed])


async def test_repeated_request_after_an_erasure_omits_the_rejected_row(client: httpx2.AsyncClient) -> None:
    headers = {**JSONL_HEADERS, "Idempotency-Key": "once"}
    first = await client.post("/v1/batches", content=ROWS, headers=headers)
    assert "A-3" in first.text
    await erase_and_fetch_proof(client, source="A-3")
    again = await client.post("/v1/batches", content=ROWS, headers=headers)
    assert (again.status_code, again.json()["id"], again.json()["rejected"]) == (202, first.json()["id"], [])


async def test_rejected_rows_of_a_part_added_during_an_erasure_are_kept(service: Service) -> None:
    """The erasure waits for the part, and filters what is there then."""
    async with service.open_caller() as caller:
        response = (
            await caller.post("/v1/batches", content=ROWS, headers=JSONL_HEADERS, params={"open": "true"})
        ).json()
        part = render_jsonl([{"id": "B-1", "title": "-"}])
        holder = await service.database.connect_unpooled()
        async with holder.transaction():
            await holder.fetch("SELECT FROM batches WHERE id = $1 FOR UPDATE", response["id"])
            params = {"first_row": response["next_row"], "open": "true"}
            sending = asyncio.create_task(
                caller.post(f"/v1/batches/{response['id']}/rows", content=part, headers=JSONL_HEADERS, params=params)
            )
            await wait_for_blocked_statements(service.database, 1)
            task = asyncio.create_task(caller.post("/v1/erasures", json={"source": "A-3"}))
            await wait_for_blocked_statements(service.database, 2)
        await holder.close()
        assert (await sending).status_code == 202
        assert (await task).status_code == 200
        batch_after = (await caller.get(f"/v1/batches/{response['id']}")).json()
    assert [item["source"] for item in batch_after["rejected_rows"]] == ["row 4 (B-1)"]
    assert (batch_after["rows"], batch_after["erased"]) == (4, 1)


async def test_tenant_deletion_can_be_retried_after_a_crash_and_erases_all_text(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = await add_person(service, "owner", "Olga Owner")
    _, (first,) = await call_of(service, "# One")
    await owner.post(f"/v1/evaluations/{first}/remarks", json={"text": f"{NAME}'s plan is weak"})
    original = PgAuditLog.erase_within

    async def crash(*_: Any) -> Any:
        raise LookupError("the process dies here")

    async with service.open_client(await service.create_key("admin", tenant=OTHER)) as admin:
        monkeypatch.setattr(PgAuditLog, "erase_within", crash)
        with pytest.raises(LookupError):
            await service.services.tenants.delete(ACME, ActBy(OPERATOR, NOW))
        monkeypatch.setattr(PgAuditLog, "erase_within", original)
        again = await admin.delete(f"/v1/tenants/{ACME}")
    assert again.status_code == 204
    assert await find_tables_with(service.database, NAME) == []
    assert await service.services.tenants.get(ACME) is None


async def test_ranking_started_during_an_erasure_is_erased_too(service: Service, client: httpx2.AsyncClient) -> None:
    """The erasure reads first and then removes the applicant from finished rankings, which is slow."""
    call, erasures, now = await evaluate_call_of_six(service), service.services.erasures, service.services.clock.now()
    ids = [item.id for item in await erasures.find(ACME, "3.txt", None)]
    ranking = (await client.post("/v1/rankings", json={"batch": call, "blind": False})).json()["id"]
    erasure = await erasures.erase(ACME, ids, ActBy(OPERATOR, now), source="3.txt")
    assert (await client.get(f"/v1/rankings/{ranking}")).status_code == 410
    assert (await client.get(f"/v1/erasures/{erasure.proof}")).json()["still_stored"] == []
    assert await find_tables_with(service.database, "3.txt") == []
    erased_too = [entry for entry in await service.services.audit_log.list_entries(ACME) if entry.action == "erased"][
        1:
    ]
    assert [(item.content or {})["erased_ids"] for item in erased_too] == [[ranking]]


async def test_ranking_from_reports_erased_while_submitting_is_rejected(service: Service) -> None:
    """A ranking of thousands of reports takes seconds; its sender gets an error, and ranks the remaining ideas."""
    call, erasures, now = await evaluate_call_of_six(service), service.services.erasures, service.services.clock.now()
    body = {"batch": call, "blind": False}
    headers = {"Idempotency-Key": "once"}
    ids = [item.id for item in await erasures.find(ACME, "3.txt", None)]

    async def erase_meanwhile(connection: Connection) -> "asyncio.Task[httpx2.Response]":
        async with connection.transaction():
            # What is kept of a request is looked up when its job is added, and waits here.
            await connection.execute("LOCK TABLE idempotency IN ACCESS EXCLUSIVE MODE")
            task = asyncio.create_task(service.machine.post("/v1/rankings", json=body, headers=headers))
            await wait_for_blocked_statements(service.database, 1)
            await erase_jobs(connection, ACME, ids, now, 1)
        return task

    problem = check_problem(await (await service.database.run(erase_meanwhile)), 409, "conflict")
    await erasures.erase(ACME, ids, ActBy(OPERATOR, now), source="3.txt")
    again = await service.machine.post("/v1/rankings", json=body, headers=headers)
    assert f"1 of the {ENTRANTS} evaluations on which the request is based has been deleted" in (problem.detail or "")
    assert (again.status_code, again.json()["ideas"]) == (202, ENTRANTS - 1)
    assert await find_tables_with(service.database, "3.txt") == []


@asynccontextmanager
async def block_added_jobs(holder: AnyConnection) -> AsyncIterator[None]:
    """Jobs are not added before the end."""
    await holder.execute("""
        CREATE FUNCTION wait_to_be_added() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM pg_advisory_xact_lock(1);
            RETURN NEW;
        END $$
    """)
    try:
        await holder.execute(
            "CREATE TRIGGER waits BEFORE INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION wait_to_be_added()"
        )
        async with holder.transaction():
            await holder.execute("SELECT pg_advisory_xact_lock(1)")
            yield
    finally:
        await holder.execute("DROP FUNCTION wait_to_be_added CASCADE")


async def test_erasure_waits_for_a_ranking_being_added_and_erases_it(
    service: Service, table_owner: AnyConnection
) -> None:
    call, erasures, now = await evaluate_call_of_six(service), service.services.erasures, service.services.clock.now()
    ids = [item.id for item in await erasures.find(ACME, "3.txt", None)]
    async with block_added_jobs(table_owner):
        # By then the evaluations are held, and not yet the log, at which the erasure would wait.
        adding = asyncio.create_task(service.machine.post("/v1/rankings", json={"batch": call, "blind": False}))
        await wait_for_blocked_statements(service.database, 1)
        task = asyncio.create_task(erasures.erase(ACME, ids, ActBy(OPERATOR, now), source="3.txt"))
        await wait_for_blocked_statements(service.database, 2)
    ranking = (await adding).json()["id"]
    proof = (await task).proof
    assert (await service.machine.get(f"/v1/rankings/{ranking}")).status_code == 410
    assert (await service.machine.get(f"/v1/erasures/{proof}")).json()["still_stored"] == []
    assert await find_tables_with(service.database, "3.txt") == []


@pytest.mark.parametrize("kind", ["ranking", "comparison"])
async def test_job_started_during_erasure_of_its_call_is_erased_too(
    service: Service, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    call = await evaluate_call_of_six(service)
    items = (await client.get(f"/v1/batches/{call}/evaluations")).json()["items"]
    pair = {"first_evaluation": items[0]["id"], "second_evaluation": items[1]["id"]}
    body = {"batch": call, "blind": False} if kind == "ranking" else pair
    started_ids: list[str] = []

    async def begin() -> None:
        if not started_ids:
            answer = await client.post(f"/v1/{kind}s", json=body)
            assert answer.status_code == 202, answer.text
            started_ids.append(answer.json()["id"])

    act_after_redaction(monkeypatch, begin)
    proof = await erase_and_fetch_proof(client, batch=call)
    assert (await client.get(f"/v1/{kind}s/{started_ids[0]}")).status_code == 410
    assert proof["still_stored"] == []
    assert await find_tables_with(service.database, "3.txt") == []


async def test_ranking_finished_after_the_erasure_preview_is_kept_without_the_applicant(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    ranking = (await service.machine.post("/v1/rankings", json={"batch": call, "blind": False})).json()["id"]
    preview = await preview_erasure(service.services.erasures, service.services.jobs, ACME, "3.txt", None)
    assert ranking in [job.id for job in preview.jobs]
    assert any("has not finished and will be deleted too" in job.warning for job in preview.jobs)
    await finish_ranking(service)
    actor = ActBy(OPERATOR, service.services.clock.now())
    outcome = await carry_out_erasure(service.services.erasures, ACME, "3.txt", preview, actor)
    assert ranking not in [job.id for job in outcome.jobs]
    assert not any(job.warning for job in outcome.jobs)
    assert [
        (item.id, item.removed_proposals, item.remaining_proposals)
        for item in outcome.redacted_rankings
        if item.id == ranking
    ] == [(ranking, 1, ENTRANTS - 1)]
    report = await service.machine.get(f"/v1/rankings/{ranking}/report", headers={"Accept": "application/json"})
    proof = (await service.machine.get(f"/v1/erasures/{outcome.proof}")).json()
    assert len(report.json()["ideas"]) == ENTRANTS - 1
    assert ranking in proof["redacted_rankings"]
    assert proof["still_stored"] == []
    assert await find_tables_with(service.database, "3.txt") == []
