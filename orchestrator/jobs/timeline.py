"""When a job did what: drawn from its events and from what the ledger says about its calls."""

import datetime as dt
from collections.abc import Iterator, Sequence

from assayer.models import CallRecord, LedgerRow
from assayer.models.timeline import Span, SpanOutcome, Timeline
from orchestrator.jobs.events import JobEvent
from orchestrator.jobs.models import Job

__all__ = ["timeline_of"]

_ENDS_ATTEMPT = frozenset({"retried", "done", "failed", "dead", "cancelled"})


def timeline_of(job: Job, events: Sequence[JobEvent], rows: Sequence[LedgerRow], now: dt.datetime) -> Timeline:
    """`events` in their order; `rows` of the job's run, which other jobs with the same request may have made as well:
    what is not of this job's time is left out."""
    end = job.finished_at or now
    begun = next((event.at for event in events if event.kind == "started"), job.started_at)
    calls = [_call(row) for row in rows if begun is not None and begun <= row.at <= end]
    spans = sorted((*_waits(job, events, end), *_stages(events, end), *calls), key=lambda span: (span.start, span.end))
    return Timeline(id=job.id, title=job.subject, state=job.state, start=job.created_at, end=end, spans=tuple(spans))


def _waits(job: Job, events: Sequence[JobEvent], end: dt.datetime) -> Iterator[Span]:
    since: dt.datetime | None = job.created_at
    why = "waited for a free place"
    for event in events:
        if event.kind == "retried":
            since, why = event.at, str(event.data.get("why", "given back to the queue"))
        elif since is not None and (event.kind == "started" or event.kind in _ENDS_ATTEMPT):
            yield Span(name="in the queue", kind="wait", start=since, end=event.at, detail=why)
            since = None
    if since is not None:
        yield Span(name="in the queue", kind="wait", start=since, end=end, outcome="open", detail=why)


def _stages(events: Sequence[JobEvent], end: dt.datetime) -> Iterator[Span]:
    """From the first that is told of a stage in an attempt to its last step."""
    running: dict[str, JobEvent] = {}
    for event in events:
        if event.kind == "progress":
            stage, done, total = (event.data.get(name) for name in ("stage", "done", "total"))
            first = running.setdefault(str(stage), event)
            if done == total:
                del running[str(stage)]
                yield Span(name=str(stage), kind="stage", start=first.at, end=event.at, detail=f"{total} steps")
        elif event.kind in _ENDS_ATTEMPT:
            yield from _cut_short(running, event.at, "failed")
            running = {}
    yield from _cut_short(running, end, "open")


def _cut_short(running: dict[str, JobEvent], at: dt.datetime, outcome: SpanOutcome) -> Iterator[Span]:
    for stage, first in running.items():
        yield Span(name=stage, kind="stage", start=first.at, end=at, outcome=outcome, detail="not all steps were told")


def _call(row: LedgerRow) -> Span:
    """The ledger notes a call when it is over."""
    record = row.record
    if record.cached:
        return Span(name=record.task, kind="call", start=row.at, end=row.at, outcome="cached", detail=record.model)
    start = row.at - dt.timedelta(seconds=record.latency_seconds)
    outcome: SpanOutcome = "failed" if row.outcome == "failed" else "done"
    return Span(
        name=record.task, kind="call", start=start, end=row.at, outcome=outcome, detail=_told(record, row.error)
    )


def _told(record: CallRecord, error: str) -> str:
    tokens = f"{record.model}, {record.prompt_tokens:,} + {record.completion_tokens:,} tokens"
    tries = f", {record.attempts} attempts" if record.attempts > 1 else ""
    return f"{tokens}{tries}\n{error}".strip()
