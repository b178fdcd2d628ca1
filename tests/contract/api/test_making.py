"""Record of how a report was made: every LLM call with its request and response, over HTTP and as pages."""

import datetime as dt
import re

from assayer.models import EvaluationId, LedgerRow
from orchestrator.jobs.models import JobVerdict
from orchestrator.settings import QueueSettings
from orchestrator.store import PgAnswerCache, PgLeases
from tests.contract.api.console_forms import open_session
from tests.contract.api.reported_evaluations import MESSAGES, call_record, store_llm_requests
from tests.contract.api.service import BODY, OTHER, Service


async def test_llm_requests_are_listed_with_tokens_cost_and_faults(service: Service) -> None:
    job = await store_llm_requests(service)
    calls = (await service.machine.get(f"/v1/evaluations/{job}/llm-requests")).json()["items"]
    assert [(call["number"], call["task"], call["outcome"], call["cached"]) for call in calls] == [
        (1, "methods", "answered", False),
        (2, "queries", "answered", True),
        (3, "reading", "failed", False),
    ]
    assert (calls[0]["prompt_tokens"], calls[0]["completion_tokens"], calls[0]["cost_usd"]) == (1_234, 56, 0.0125)
    assert calls[0]["faults"][0]["detail"] == "The answer came in a code block."


async def test_llm_request_shows_its_messages_and_answer_or_why_absent(service: Service) -> None:
    job = await store_llm_requests(service)
    first, second, third = [
        (await service.machine.get(f"/v1/evaluations/{job}/llm-requests/{number}")).json() for number in (1, 2, 3)
    ]
    beyond = await service.machine.get(f"/v1/evaluations/{job}/llm-requests/4")
    assert first["messages"] == [message.model_dump() for message in MESSAGES]
    assert first["answer"] == '{"methods":["replay"]}'
    assert second["answer"] == {"reason": "The messages and the answer are no longer stored."}
    assert third["messages"] == {"reason": "The request failed without an answer."}
    assert beyond.status_code == 404
    async with service.open_caller(tenant=OTHER) as other_tenant:
        assert (await other_tenant.get(f"/v1/evaluations/{job}/llm-requests/1")).status_code == 404


async def test_erased_evaluation_leaves_no_llm_answers(service: Service) -> None:
    job = await store_llm_requests(service)
    assert (await service.machine.delete(f"/v1/evaluations/{job}?erase=true")).status_code in (200, 204)
    assert await service.database.fetch("SELECT FROM answers") == []


async def test_record_page_shows_the_recorded_start_of_a_stage(service: Service) -> None:
    asked = await service.machine.post("/v1/evaluations", json=BODY)
    job = str(asked.json()["id"])
    lease = await service.lease_next()
    run = EvaluationId(f"run_{lease.job}")
    leases = PgLeases(service.database, QueueSettings())
    assert await leases.record_run(lease, run, {})
    (started_row,) = await service.database.fetch("SELECT started_at FROM jobs WHERE id = $1", lease.job)
    start = started_row["started_at"]

    def at(seconds: float) -> dt.datetime:
        moment: dt.datetime = start + dt.timedelta(seconds=seconds)
        return moment

    await service.database.execute("UPDATE events SET at = $1 WHERE job = $2", start, lease.job)
    row = LedgerRow(run_id=run, key="k1", record=call_record("methods"), outcome="answered", at=at(6.5))
    await PgAnswerCache(service.database).record(row, None)
    progress = {
        "stages": [{"stage": "soundness", "done": 1, "total": 4, "began": at(6).isoformat()}],
    }
    assert await service.services.events.append(lease.job, "progress", progress, lease.token)
    await service.database.execute("UPDATE events SET at = $1 WHERE job = $2 AND kind = 'progress'", at(9), lease.job)
    assert await leases.finish(lease, JobVerdict(state="succeeded", run_id=run, cost_usd=0.25))
    await service.database.execute("UPDATE events SET at = $1 WHERE job = $2 AND kind = 'succeeded'", at(12), lease.job)
    await service.database.execute("UPDATE jobs SET finished_at = $1 WHERE id = $2", at(12), lease.job)
    async with open_session(service, await service.create_key()) as client:
        page = (await client.get(f"/console/proposals/{job}/making")).text
    rows = [re.sub(r"<[^>]+>|\s+", " ", item) for item in re.findall("<tr>.*?</tr>", page)]
    soundness = next(item for item in rows if "soundness" in item)
    waited = float(re.findall(r"(\d+\.\d) s", soundness)[0])
    assert 5.9 <= waited <= 7.5
