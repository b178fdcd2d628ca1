"""Evaluations whose reports are already stored, without a worker."""

import datetime as dt

from assayer.models import CachedAnswer, CallRecord, EvaluationId, Fault, LedgerRow, Message, Report
from orchestrator.jobs.models import JobVerdict, Lease
from orchestrator.settings import QueueSettings
from orchestrator.store import PgAnswerCache, PgLeases, PgReports
from tests.contract.api.service import BODY, Service
from tests.unit.reports_fixture import make_full_report

MESSAGES = (
    Message(role="system", content="You read research papers."),
    Message(role="user", content="Which methods does the idea use? <b>They are fenced as data.</b>"),
)


async def finish_with_report(service: Service, lease: Lease, report: Report) -> None:
    """Run a leased evaluation: store its report and mark its job as succeeded."""
    await _store_report(service, lease, await _start_run(service, lease), report)


async def _start_run(service: Service, lease: Lease) -> EvaluationId:
    run = EvaluationId(f"run_{lease.job}")
    assert await PgLeases(service.database, QueueSettings()).record_run(lease, run, {})
    return run


async def _store_report(service: Service, lease: Lease, run: EvaluationId, report: Report) -> None:
    await PgReports(service.database).store(report.model_copy(update={"evaluation_id": run}))
    verdict = JobVerdict(state="succeeded", run_id=run, cost_usd=0.25)
    assert await PgLeases(service.database, QueueSettings()).finish(lease, verdict)


async def store_full_report(service: Service) -> str:
    """Return the id of a finished evaluation whose report uses every field."""
    answer = await service.machine.post("/v1/evaluations", json=BODY)
    await finish_with_report(service, await service.lease_next(), make_full_report())
    return str(answer.json()["id"])


def call_record(task: str, *faults: Fault, cached: bool = False) -> CallRecord:
    """Return the record of an LLM request that needed one attempt more than it had faults."""
    return CallRecord(
        task=task, version=3, model="reader-1", prompt_tokens=1_234, completion_tokens=56, cost_usd=0.0125,
        latency_seconds=0.5, attempts=1 + len(faults), faults=faults, cached=cached,
    )  # fmt: skip


async def store_llm_requests(service: Service) -> str:
    """Return the id of a finished evaluation with three LLM requests.

    The first has its messages stored, the second was answered from an older cache, the third failed."""
    submitted = await service.machine.post("/v1/evaluations", json=BODY)
    lease = await service.lease_next()
    run = await _start_run(service, lease)
    answers, now = PgAnswerCache(service.database), service.services.clock.now()
    wrapped_fault = Fault(kind="wrapped", detail="The answer came in a code block.")
    rows = [
        LedgerRow(run_id=run, key="k1", record=call_record("methods", wrapped_fault), outcome="answered", at=now),
        LedgerRow(run_id=run, key="k2", record=call_record("queries", cached=True), outcome="answered", at=now),
        LedgerRow(run_id=run, key="k3", record=call_record("reading"), outcome="failed", error="No answer.", at=now),
    ]
    first = CachedAnswer(key="k1", value='{"methods":["replay"]}', record=rows[0].record, messages=MESSAGES)
    for number, (row, answer) in enumerate(zip(rows, (first, None, None), strict=True)):
        await answers.record(row.model_copy(update={"at": now + dt.timedelta(microseconds=number)}), answer)
    await _store_report(service, lease, run, make_full_report())
    return str(submitted.json()["id"])
