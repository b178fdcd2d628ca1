"""Timeline of a job: its waits, stages and language model requests, from its events and the ledger."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assayer.models import CallRecord, LedgerRow
from assayer_client.reports import Span, SpanOutcome, Timeline
from orchestrator.jobs.models import Job, JobEvent

ATTEMPT_END_KINDS = frozenset({"retried", "succeeded", "failed", "cancelled"})


def build_timeline(job: Job, events: Sequence[JobEvent], rows: Sequence[LedgerRow], now: dt.datetime) -> Timeline:
    """Return the timeline of a job from its `events`, in order, and the ledger `rows` of its run."""
    end = job.finished_at or now
    request_spans = [_build_request_span(row) for row in select_ledger_rows(job, events, rows, end)]
    spans = sorted(
        (*_build_wait_spans(job, events, end), *_build_stage_spans(events, end), *request_spans),
        key=lambda span: (span.start, span.end),
    )
    return Timeline(id=job.id, title=job.subject, state=job.state, start=job.created_at, end=end, spans=tuple(spans))


def select_ledger_rows(
    job: Job, events: Sequence[JobEvent], rows: Sequence[LedgerRow], end: dt.datetime
) -> Iterator[LedgerRow]:
    """Return the ledger rows of a run that were written while this job was running. Jobs with the same request share a
    run."""
    started_at = next((event.at for event in events if event.kind == "started"), job.started_at)
    return (row for row in rows if started_at is not None and started_at <= row.at <= end)


def _build_wait_spans(job: Job, events: Sequence[JobEvent], end: dt.datetime) -> Iterator[Span]:
    waiting_since: dt.datetime | None = job.created_at
    reason = "waiting for a free worker"
    for event in events:
        if event.kind == "retried":
            waiting_since, reason = event.at, str(event.data.get("reason", "returned to the queue"))
        elif waiting_since is not None and (event.kind == "started" or event.kind in ATTEMPT_END_KINDS):
            yield Span(name="in the queue", kind="wait", start=waiting_since, end=event.at, detail=reason)
            waiting_since = None
    if waiting_since is not None:
        yield Span(name="in the queue", kind="wait", start=waiting_since, end=end, outcome="open", detail=reason)


@dataclass
class _Stage:
    since: dt.datetime
    until: dt.datetime
    """Time at which progress was last reported."""
    done: int
    total: int

    def build_span(self, name: str, end: dt.datetime, outcome: SpanOutcome) -> Span:
        is_complete = self.done >= self.total
        detail = f"{self.done} of {self.total} steps"
        until, outcome = (self.until, "succeeded") if is_complete else (end, outcome)
        return Span(name=name, kind="stage", start=self.since, end=until, outcome=outcome, detail=detail)


def _build_stage_spans(events: Sequence[JobEvent], end: dt.datetime) -> Iterator[Span]:
    """Yield a span for each stage of each attempt, built from the progress events. They record when each stage
    started."""
    stages: dict[str, _Stage] = {}
    for event in events:
        if event.kind == "progress":
            for progress in event.data.get("stages", ()):
                _update_stage(stages, progress, event.at)
        elif event.kind in ATTEMPT_END_KINDS:
            outcome: SpanOutcome = "succeeded" if event.kind == "succeeded" else "failed"
            yield from (stage.build_span(name, event.at, outcome) for name, stage in stages.items())
            stages = {}
    yield from (stage.build_span(name, end, "open") for name, stage in stages.items())


def _update_stage(stages: dict[str, _Stage], progress: Mapping[str, Any], at: dt.datetime) -> None:
    name, done, total = str(progress["stage"]), int(progress["done"]), int(progress["total"])
    stage = stages.setdefault(name, _Stage(dt.datetime.fromisoformat(progress["began"]), at, done, total))
    if (stage.done, stage.total) != (done, total):
        stage.done, stage.total, stage.until = done, total, at


def _build_request_span(row: LedgerRow) -> Span:
    """Return a request's span. The ledger records a request when it ends, so the start is calculated from the
    latency."""
    record = row.record
    if record.cached:
        return Span(name=record.task, kind="call", start=row.at, end=row.at, outcome="cached", detail=record.model)
    start = row.at - dt.timedelta(seconds=record.latency_seconds)
    outcome: SpanOutcome = "succeeded" if row.outcome == "answered" else "failed"
    return Span(
        name=record.task,
        kind="call",
        start=start,
        end=row.at,
        outcome=outcome,
        detail=_describe_request(record, row.error),
    )


def _describe_request(record: CallRecord, error: str) -> str:
    tokens = f"{record.model}, {record.prompt_tokens:,} + {record.completion_tokens:,} tokens"
    attempts_text = f", {record.attempts} attempts" if record.attempts > 1 else ""
    return f"{tokens}{attempts_text}\n{error}".strip()
