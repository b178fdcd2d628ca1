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
from tests.contract.otlp_collector import Collector, read_attributes, run_collector
from tests.contract.store_jobs import ACME, DONE, Queue, build_job
from tests.contract.store_records import answer, build_answered_row, build_failed_row, call
from tests.unit.job_timelines import make_stage_progress

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
UNSAMPLED = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
NOBODY = "http://127.0.0.1:9"


@pytest.fixture
async def collector() -> AsyncIterator[Collector]:
    async with run_collector() as opened_collector:
        yield opened_collector


@contextmanager
def open_exporter(database: Database, url: str) -> Iterator[TraceExporter]:
    exporter = OTLPSpanExporter(f"{url}/v1/traces", timeout=1)
    try:
        yield TraceExporter(PgFinishedJobs(database, dt.timedelta(0)), exporter)
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]


async def finish_job(queue: Queue, new: NewJob, verdict: JobVerdict = DONE) -> EvaluationId:
    """A job with a stage and two calls of a language model, of which one failed."""
    await queue.add(new)
    lease, run = await queue.acquire_lease(), EvaluationId(f"ev_of_{new.id}")
    await queue.leases.record_run(lease, run, {})
    events, answers = PgEvents(queue.database), PgAnswerCache(queue.database)
    now = dt.datetime.now(dt.UTC)
    for row in (build_answered_row(f"{run}_1", run), build_failed_row(f"{run}_2", run)):
        await answers.record(row.model_copy(update={"at": now}), answer(row.key))
    for done_count in (0, 1):
        await events.append(new.id, "progress", make_stage_progress("reading", done_count, 1, began=now))
    await queue.leases.finish(lease, verdict)
    return run


def build_traced_job(name: str, parent: str | None) -> NewJob:
    return build_job(name).model_copy(update={"traceparent": parent})


def get_seconds(span: Span) -> float:
    """Return the length of a span in seconds."""
    return (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9


async def test_job_is_traced_under_its_submitting_request(queue: Queue, collector: Collector) -> None:
    run = await finish_job(queue, build_traced_job("ev_1", PARENT))
    with open_exporter(queue.database, collector.url) as exporter:
        await exporter.export_new_traces()
    evaluation_span = await collector.wait_for_span("evaluation")
    assert evaluation_span.trace_id.hex() == PARENT.split("-")[1]
    assert evaluation_span.parent_span_id.hex() == PARENT.split("-")[2]
    assert read_attributes(evaluation_span) == {
        "assayer.job.id": "ev_1",
        "assayer.job.state": "succeeded",
        "assayer.job.priority": "batch",
        "assayer.job.attempts": 1,
        "assayer.tenant.id": ACME,
        "assayer.run.id": run,
        "assayer.cost_usd": 0.5,
    }
    other_spans = [span for span in collector.spans if span is not evaluation_span]
    assert {span.parent_span_id for span in other_spans} == {evaluation_span.span_id}
    assert {span.trace_id for span in other_spans} == {evaluation_span.trace_id}
    assert sorted(span.name for span in other_spans) == ["chat small", "chat small", "in the queue", "reading"]
    assert collector.services == {"assayer"}


async def test_llm_request_spans_follow_genai_conventions(queue: Queue, collector: Collector) -> None:
    await finish_job(queue, build_job("ev_1"))
    with open_exporter(queue.database, collector.url) as exporter:
        await exporter.export_new_traces()
    good, bad = sorted(
        (span for span in collector.spans if span.name == "chat small"), key=lambda span: span.status.code
    )
    assert (good.kind, bad.kind) == (Span.SPAN_KIND_CLIENT, Span.SPAN_KIND_CLIENT)
    assert read_attributes(good) == {
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
    assert get_seconds(good) == pytest.approx(2.0, abs=1e-3)
    assert (bad.status.code, read_attributes(bad)["error.type"]) == (Status.STATUS_CODE_ERROR, "connection")


async def test_cached_answer_span_has_zero_duration_without_token_counts(queue: Queue, collector: Collector) -> None:
    await queue.add(build_job("ev_1"))
    lease, run = await queue.acquire_lease(), EvaluationId("ev_of_cached")
    await queue.leases.record_run(lease, run, {})
    row = build_answered_row("key", run, call(cached=True)).model_copy(update={"at": dt.datetime.now(dt.UTC)})
    await PgAnswerCache(queue.database).record(row, answer("key"))
    await queue.leases.finish(lease, DONE)
    with open_exporter(queue.database, collector.url) as exporter:
        await exporter.export_new_traces()
    span = await collector.wait_for_span("chat small")
    assert (get_seconds(span), span.kind) == (0, Span.SPAN_KIND_INTERNAL)
    assert "gen_ai.usage.input_tokens" not in read_attributes(span)


async def test_failed_job_span_has_error_type_but_excludes_content(queue: Queue, collector: Collector) -> None:
    problem = Problem(type="budget-exhausted", title="Spent", detail="Of 'Corals' nothing is left.")
    await finish_job(queue, build_job("ev_1"), JobVerdict(state="failed", problem=problem))
    with open_exporter(queue.database, collector.url) as exporter:
        await exporter.export_new_traces()
    evaluation_span = await collector.wait_for_span("evaluation")
    assert (evaluation_span.status.code, read_attributes(evaluation_span)["error.type"]) == (
        Status.STATUS_CODE_ERROR,
        "budget-exhausted",
    )
    assert not any("Corals" in str(span) or "The endpoint is down" in str(span) for span in collector.spans)


async def test_job_is_traced_once_and_only_after_it_ends(queue: Queue, collector: Collector) -> None:
    await queue.add(build_job("ev_waiting"), build_job("ev_cancelled"))
    await queue.jobs.cancel(ACME, JobId("ev_cancelled"))
    with (
        open_exporter(queue.database, collector.url) as first_exporter,
        open_exporter(queue.database, collector.url) as second_exporter,
    ):
        for exporter in (first_exporter, second_exporter, first_exporter):
            await exporter.export_new_traces()
    assert [read_attributes(span)["assayer.job.id"] for span in collector.spans if span.name == "evaluation"] == [
        "ev_cancelled"
    ]
    assert (await collector.wait_for_span("evaluation")).status.code == Status.STATUS_CODE_UNSET


async def test_unsampled_job_is_not_sent(queue: Queue, collector: Collector) -> None:
    await finish_job(queue, build_traced_job("ev_1", UNSAMPLED))
    with open_exporter(queue.database, collector.url) as exporter:
        await exporter.export_new_traces()
    assert collector.requests == 0


async def test_collector_failure_loses_spans_but_not_jobs(
    queue: Queue, collector: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    collector.status = 400
    for url in (collector.url, NOBODY):
        await finish_job(queue, build_job(f"ev_{len(url)}"))
        with open_exporter(queue.database, url) as exporter:
            await exporter.export_new_traces()
    assert caplog.text.count("1 jobs have no complete trace") == 2
    collector.status, before = 200, collector.requests
    with open_exporter(queue.database, collector.url) as exporter:
        await exporter.export_new_traces()
    assert collector.requests == before, "what was lost is not told again"
    assert {item.state for item in await queue.jobs.list(ACME)} == {"succeeded"}
