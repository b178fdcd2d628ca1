"""Traces of jobs that have ended, as a collector receives them."""

import datetime as dt
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from assayer.models import EvaluationId
from orchestrator.jobs.models import JobId, JobVerdict, Problem
from orchestrator.jobs.submissions import NewJob
from orchestrator.store import Database, PgAnswerCache, PgEvents
from orchestrator.store.finished_jobs import PgFinishedJobs
from orchestrator.tracing import TraceExporter
from tests.contract.otlp_collector import Collector, attributes, collector
from tests.contract.store_jobs import ACME, DONE, Queue, job
from tests.contract.store_records import answer, answered, call, failed
from tests.unit.job_timelines import make_stage_progress

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
UNSAMPLED = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
NOBODY = "http://127.0.0.1:9"


@pytest.fixture
async def there() -> AsyncIterator[Collector]:
    async with collector() as one:
        yield one


@contextmanager
def traces(database: Database, url: str) -> Iterator[TraceExporter]:
    exporter = OTLPSpanExporter(f"{url}/v1/traces", timeout=1)
    try:
        yield TraceExporter(PgFinishedJobs(database, dt.timedelta(0)), exporter)
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]


async def ended(queue: Queue, new: NewJob, verdict: JobVerdict = DONE) -> EvaluationId:
    """A job with a stage and two calls of a language model, of which one failed."""
    await queue.add(new)
    lease, run = await queue.one(), EvaluationId(f"ev_of_{new.id}")
    await queue.leases.record_run(lease, run, {})
    events, answers = PgEvents(queue.database), PgAnswerCache(queue.database)
    now = dt.datetime.now(dt.UTC)
    for row in (answered(f"{run}_1", run), failed(f"{run}_2", run)):
        await answers.record(row.model_copy(update={"at": now}), answer(row.key))
    for done in (0, 1):
        await events.append(new.id, "progress", make_stage_progress("reading", done, 1, began=now))
    await queue.leases.finish(lease, verdict)
    return run


def traced(name: str, parent: str | None) -> NewJob:
    return job(name).model_copy(update={"traceparent": parent})


def length(span: Span) -> float:
    """Return the length of a span in seconds."""
    return (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9


async def test_job_is_traced_under_its_submitting_request(queue: Queue, there: Collector) -> None:
    run = await ended(queue, traced("ev_1", PARENT))
    with traces(queue.database, there.url) as told:
        await told.export_new_traces()
    whole = await there.whole("evaluation")
    assert whole.trace_id.hex() == PARENT.split("-")[1]
    assert whole.parent_span_id.hex() == PARENT.split("-")[2]
    assert attributes(whole) == {
        "assayer.job.id": "ev_1",
        "assayer.job.state": "succeeded",
        "assayer.job.priority": "batch",
        "assayer.job.attempts": 1,
        "assayer.tenant.id": ACME,
        "assayer.run.id": run,
        "assayer.cost_usd": 0.5,
    }
    others = [span for span in there.spans if span is not whole]
    assert {span.parent_span_id for span in others} == {whole.span_id}
    assert {span.trace_id for span in others} == {whole.trace_id}
    assert sorted(span.name for span in others) == ["chat small", "chat small", "in the queue", "reading"]
    assert there.services == {"assayer"}


async def test_llm_request_spans_follow_genai_conventions(queue: Queue, there: Collector) -> None:
    await ended(queue, job("ev_1"))
    with traces(queue.database, there.url) as told:
        await told.export_new_traces()
    good, bad = sorted((span for span in there.spans if span.name == "chat small"), key=lambda span: span.status.code)
    assert (good.kind, bad.kind) == (Span.SPAN_KIND_CLIENT, Span.SPAN_KIND_CLIENT)
    assert attributes(good) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "small",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.cache_read.input_tokens": 40,
        "gen_ai.usage.output_tokens": 10,
        "assayer.task.name": "scholareval.methods",
        "assayer.task.version": 1,
        "assayer.call.cached": False,
        "assayer.call.attempts": 1,
        "assayer.cost_usd": 0.25,
    }
    assert length(good) == pytest.approx(2.0, abs=1e-3)
    assert (bad.status.code, attributes(bad)["error.type"]) == (Status.STATUS_CODE_ERROR, "connection")


async def test_cached_answer_span_has_zero_duration_without_token_counts(queue: Queue, there: Collector) -> None:
    await queue.add(job("ev_1"))
    lease, run = await queue.one(), EvaluationId("ev_of_cached")
    await queue.leases.record_run(lease, run, {})
    row = answered("key", run, call(cached=True)).model_copy(update={"at": dt.datetime.now(dt.UTC)})
    await PgAnswerCache(queue.database).record(row, answer("key"))
    await queue.leases.finish(lease, DONE)
    with traces(queue.database, there.url) as told:
        await told.export_new_traces()
    span = await there.whole("chat small")
    assert (length(span), span.kind) == (0, Span.SPAN_KIND_INTERNAL)
    assert "gen_ai.usage.input_tokens" not in attributes(span)


async def test_failed_job_span_has_error_type_but_excludes_content(queue: Queue, there: Collector) -> None:
    problem = Problem(type="budget-exhausted", title="Spent", detail="Of 'Corals' nothing is left.")
    await ended(queue, job("ev_1"), JobVerdict(state="failed", problem=problem))
    with traces(queue.database, there.url) as told:
        await told.export_new_traces()
    whole = await there.whole("evaluation")
    assert (whole.status.code, attributes(whole)["error.type"]) == (Status.STATUS_CODE_ERROR, "budget-exhausted")
    assert not any("Corals" in str(span) or "The endpoint is down" in str(span) for span in there.spans)


async def test_job_is_traced_once_and_only_after_it_ends(queue: Queue, there: Collector) -> None:
    await queue.add(job("ev_waiting"), job("ev_cancelled"))
    await queue.jobs.cancel(ACME, JobId("ev_cancelled"))
    with traces(queue.database, there.url) as one, traces(queue.database, there.url) as other:
        for told in (one, other, one):
            await told.export_new_traces()
    assert [attributes(span)["assayer.job.id"] for span in there.spans if span.name == "evaluation"] == ["ev_cancelled"]
    assert (await there.whole("evaluation")).status.code == Status.STATUS_CODE_UNSET


async def test_unsampled_job_is_not_sent(queue: Queue, there: Collector) -> None:
    await ended(queue, traced("ev_1", UNSAMPLED))
    with traces(queue.database, there.url) as told:
        await told.export_new_traces()
    assert there.requests == 0


async def test_collector_failure_loses_spans_but_not_jobs(
    queue: Queue, there: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    there.status = 400
    for url in (there.url, NOBODY):
        await ended(queue, job(f"ev_{len(url)}"))
        with traces(queue.database, url) as told:
            await told.export_new_traces()
    assert caplog.text.count("1 jobs have no complete trace") == 2
    there.status, before = 200, there.requests
    with traces(queue.database, there.url) as told:
        await told.export_new_traces()
    assert there.requests == before, "what was lost is not told again"
    assert {item.state for item in await queue.jobs.list(ACME)} == {"succeeded"}
