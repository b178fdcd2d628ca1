"""Calls and rankings in the log of acts: sent, cancelled, run again; one entry each, whoever asks and however many."""

import asyncio
import datetime as dt
import json

import pytest

from orchestrator.access.audit_chain import ActBy, AuditEntry
from orchestrator.jobs.models import BatchId
from orchestrator.jobs.submissions import MoreRows, NewBatch
from orchestrator.store import PgJobs
from orchestrator.store.database import Connection
from tests.contract.api.comparison_jobs import TWO_IDEAS
from tests.contract.api.console_forms import fetch_csrf_token, open_session
from tests.contract.api.evaluated_calls import evaluate_call_of_six
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.service import ACME, BODY, Service
from tests.contract.store_jobs import NOW, OPERATOR, Losing, build_job
from tests.polling import wait_until_async
from tests.unit.batch_bodies import WORDS

ROWS = "".join(
    json.dumps({"id": f"A-{number}", "title": f"Secret {number}", "text": f"{WORDS} {number}"}) + "\n"
    for number in range(40)
)
JSON_LINES = {"Content-Type": "application/jsonl"}
BY_OPERATOR = ActBy(OPERATOR, NOW)


async def _log(service: Service, after: int = 0) -> list[AuditEntry]:
    return await service.services.audit_log.list_entries(ACME, after=after)


def _list_acts(entries: list[AuditEntry]) -> list[str]:
    return [entry.action for entry in entries]


async def test_call_submission_is_a_single_entry_with_rules_but_without_titles(service: Service) -> None:
    query = "name=Spring&tags=a,b&cutoff=2026-01-31&max_usd=0.5&opinions_due=2027-01-15"
    for _ in range(2):
        headers = {**JSON_LINES, "Idempotency-Key": "once"}
        answer = await service.machine.post(f"/v1/batches?{query}", content=ROWS + "{}\n", headers=headers)
        assert answer.status_code == 202, answer.text
    (entry,) = await _log(service)
    assert (entry.action, entry.role, entry.subject) == ("call submitted", "machine", answer.json()["id"])
    assert entry.content == {
        "by": "key “test”",
        "name": "Spring",
        "tags": ["a", "b"],
        "opinions_due": "2027-01-15",
        "proposals": 40,
        "refused": 1,
        "method": "review",
        "cutoff": "2026-01-31",
        "blind": True,
        "max_usd": 0.5,
        "priority": "batch",
    }
    assert "Secret" not in entry.model_dump_json()
    assert "A-1" not in entry.model_dump_json()


async def test_added_parts_and_cancellation_of_a_call_are_logged(service: Service, owner: Person) -> None:
    before = len(await _log(service))
    answer = (await owner.post("/v1/batches?open=true", content=ROWS, headers=JSON_LINES)).json()
    more = f"/v1/batches/{answer['id']}/rows?first_row={answer['next_row']}&open=true"
    assert (await owner.post(more, content=ROWS.splitlines()[0], headers=JSON_LINES)).status_code == 202
    for _ in range(2):
        assert (await owner.delete(f"/v1/batches/{answer['id']}")).status_code == 200
    again = (await owner.post(f"/v1/batches/{answer['id']}/retry")).json()
    assert (await owner.post(f"/v1/batches/{answer['id']}/retry")).status_code == 202
    log = await _log(service, before)
    assert _list_acts(log) == ["call submitted", "proposals added", "call cancelled", "call run again"]
    assert {(item.actor, item.role, item.subject) for item in log} == {(owner.member.id, "owner", answer["id"])}
    words = [item.content or {} for item in log]
    assert (words[0]["proposals"], words[0]["open"]) == (40, True)
    assert (words[1]["proposals"], words[1]["open"]) == (1, True)
    assert words[2] == words[3] == {"by": "Olga Owner", "evaluations": 41}
    assert again["retried"] == 41


async def test_single_evaluations_are_logged_only_when_cancelled_or_retried(service: Service) -> None:
    ids = [(await service.machine.post("/v1/evaluations", json=BODY)).json()["id"] for _ in range(3)]
    assert await _log(service) == []
    for _ in range(2):
        await service.machine.delete(f"/v1/evaluations/{ids[0]}")
    for _ in range(2):
        assert (await service.machine.post(f"/v1/evaluations/{ids[0]}/retry")).status_code == 202
    comparison = await service.machine.post("/v1/comparisons", json=TWO_IDEAS)
    await service.machine.delete(f"/v1/comparisons/{comparison.json()['id']}")
    log = await _log(service)
    assert _list_acts(log) == ["evaluation cancelled", "evaluation run again"]
    assert {item.subject for item in log} == {ids[0]}


async def test_ranking_start_and_cancellation_are_logged_with_its_call(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    before = len(await _log(service))
    body = {"batch": call, "shortlist_size": 2, "comparisons_per_idea": 4, "limits": {"max_usd": 3}}
    answer = await service.machine.post("/v1/rankings", json=body, headers={"Idempotency-Key": "once"})
    again = await service.machine.post("/v1/rankings", json=body, headers={"Idempotency-Key": "once"})
    ranking = answer.json()["id"]
    assert again.json()["id"] == ranking
    for _ in range(2):
        assert (await service.machine.delete(f"/v1/rankings/{ranking}")).status_code == 200
    log = await _log(service, before)
    assert [(item.action, item.subject) for item in log] == [
        ("ranking started", ranking),
        ("ranking cancelled", ranking),
    ]
    assert log[0].content == {
        "by": "key “test”",
        "call": call,
        "proposals": 6,
        "places": 2,
        "comparisons_per_proposal": 4,
        "blind": True,
        "max_usd": 3,
    }


async def test_console_actions_are_logged_under_the_acting_member(service: Service) -> None:
    officer = await add_person(service, "officer", "Otto Officer")
    ranked = await evaluate_call_of_six(service)
    call, (first, second) = await call_of(service, "# One", "# Two")
    before = len(await _log(service))
    async with open_session(service, officer.key) as browser:
        token = await fetch_csrf_token(browser, f"/console/calls/{call}/cancel")
        for path in (
            f"/console/proposals/{first}/cancel",
            f"/console/calls/{call}/cancel",
            f"/console/proposals/{second}/retry",
            f"/console/calls/{call}/retry",
            f"/console/calls/{ranked}/rankings",
        ):
            answer = await browser.post(path, data={"csrf_token": token}, headers={"Origin": "http://api"})
            assert answer.status_code == 303, answer.text
    log = await _log(service, before)
    assert _list_acts(log) == [
        "evaluation cancelled",
        "call cancelled",
        "evaluation run again",
        "call run again",
        "ranking started",
    ]
    assert [item.subject for item in log[:-1]] == [first, call, second, call]
    assert (log[-1].content or {})["call"] == ranked
    assert {item.actor for item in log} == {officer.member.id}
    owner = await add_person(service, "owner", "Olga Owner")
    async with open_session(service, owner.key) as browser:
        page = (await browser.get("/console/audit-log", params={"act": "call submitted"})).text
    assert '<dt>blind:</dt> <dd dir="auto">yes</dd>' in page


async def test_single_submissions_do_not_wait_for_the_log_lock_but_calls_do(service: Service) -> None:
    await service.services.audit_log.record(ACME, ActBy(OPERATOR, NOW), "exported", "bt_1")

    async def while_the_log_is_held(connection: Connection) -> None:
        async with connection.transaction():
            await connection.fetch("SELECT FROM audit_heads WHERE tenant = $1 FOR UPDATE", ACME)
            for _ in range(5):
                assert (await service.machine.post("/v1/evaluations", json=BODY)).status_code == 202
            sending.append(asyncio.create_task(service.machine.post("/v1/batches", content=ROWS, headers=JSON_LINES)))
            await wait_until_async(lambda: service.database.fetch(_WAITING), seconds=30)
            assert not sending[0].done()

    sending = list[asyncio.Task[object]]()
    await service.database.run(while_the_log_is_held)
    await asyncio.wait_for(sending[0], 30)
    assert _list_acts(await _log(service)) == ["exported", "call submitted"]


_WAITING = """
    SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%audit_heads%'
"""


@pytest.mark.parametrize("lost", [True, False])
async def test_lost_database_answers_cause_no_duplicate_log_entries(service: Service, *, lost: bool) -> None:
    jobs = PgJobs(Losing(service.database)) if lost else service.services.jobs
    call = NewBatch(id=BatchId("bt_1"), name="b", rows=1, open=True, opinions_due=dt.date(2026, 12, 1))
    first, second = build_job(row=1), build_job(row=2)
    await jobs.add(ACME, [first], call, by=BY_OPERATOR)
    await jobs.add(ACME, [second], MoreRows(id=call.id, first=2, rows=1), by=BY_OPERATOR)
    await jobs.cancel(ACME, first.id, BY_OPERATOR)
    await jobs.cancel_batch(ACME, call.id, BY_OPERATOR)
    await jobs.retry(ACME, first.id, BY_OPERATOR)
    await jobs.retry_batch(ACME, call.id, BY_OPERATOR)
    assert _list_acts(await _log(service)) == [
        "call submitted",
        "proposals added",
        "evaluation cancelled",
        "call cancelled",
        "evaluation run again",
        "call run again",
    ]
