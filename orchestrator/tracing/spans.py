"""The spans of a job that has ended: one of the whole, one a wait and a stage, one a call of a language model. Pure.

Names of attributes: OpenTelemetry's conventions for generative AI where they fit, `assayer.…` otherwise. No words of
ideas and no texts of errors, which may quote them.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from assayer.models import LedgerRow
from assayer.models.timeline import Span
from orchestrator.jobs.events import JobEvent
from orchestrator.jobs.models import Job
from orchestrator.jobs.timeline import rows_within, timeline_of

__all__ = ["LATE", "Attributes", "Ended", "FinishedSpan", "Trace", "trace_of"]

Attributes: TypeAlias = Mapping[str, str | int | float]
LATE = dt.timedelta(seconds=2)
"""Calls that a cancellation cuts off are noted a moment after it."""


class Ended(NamedTuple):
    """A job with its verdict, and what is kept of its way there."""

    job: Job
    traceparent: str | None
    """Of the request that asked for it (W3C Trace Context)."""
    events: Sequence[JobEvent]
    rows: Sequence[LedgerRow]
    """Of its run."""


class FinishedSpan(NamedTuple):
    name: str
    start: dt.datetime
    end: dt.datetime
    attributes: Attributes
    error: str | None = None
    """Its kind (`error.type`), where it failed."""
    is_call: bool = False
    """Of a service outside."""


class Trace(NamedTuple):
    traceparent: str | None
    whole: FinishedSpan
    within: tuple[FinishedSpan, ...]


def trace_of(ended: Ended) -> Trace:
    job, end = ended.job, ended.job.finished_at or ended.job.created_at
    timeline = timeline_of(job, ended.events, (), end)
    calls = [_call(row) for row in rows_within(job, ended.events, ended.rows, end + LATE)]
    steps = [_step(span) for span in timeline.spans]
    return Trace(ended.traceparent, _whole(job, end), (*steps, *calls))


def _whole(job: Job, end: dt.datetime) -> FinishedSpan:
    known = {
        "assayer.job.id": job.id,
        "assayer.job.state": job.state,
        "assayer.job.priority": job.priority,
        "assayer.job.attempts": job.attempt,
        "assayer.tenant.id": job.tenant,
        "assayer.run.id": job.run_id,
        "assayer.batch.id": job.batch,
        "assayer.batch.row": job.row,
        "assayer.cost_usd": job.cost_usd,
    }
    attributes = {name: value for name, value in known.items() if value is not None}
    return FinishedSpan(job.kind, job.created_at, end, attributes, job.problem.type if job.problem else None)


def _step(span: Span) -> FinishedSpan:
    error = None if span.kind == "wait" or span.outcome == "done" else "unfinished"
    return FinishedSpan(span.name, span.start, span.end, {"assayer.step.kind": span.kind}, error)


def _call(row: LedgerRow) -> FinishedSpan:
    """The ledger notes a call when it is over. An answer that was there already took no time and no tokens."""
    record = row.record
    attributes: dict[str, str | int | float] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",  # whose protocol it is, as the conventions have it
        "gen_ai.request.model": record.model,
        "assayer.task.name": record.task,
        "assayer.task.version": record.version,
        "assayer.call.cached": record.cached,
    }
    name = f"chat {record.model}"
    if record.cached:
        return FinishedSpan(name, row.at, row.at, attributes)
    attributes |= {
        "gen_ai.usage.input_tokens": record.prompt_tokens,
        "gen_ai.usage.output_tokens": record.completion_tokens,
        "assayer.call.attempts": record.attempts,
    }
    if record.cost_usd is not None:
        attributes["assayer.cost_usd"] = record.cost_usd
    start = row.at - dt.timedelta(seconds=record.latency_seconds)
    return FinishedSpan(name, start, row.at, attributes, _fault(row), is_call=True)


def _fault(row: LedgerRow) -> str | None:
    if row.outcome == "answered":
        return None
    return row.record.faults[-1].kind if row.record.faults else "_OTHER"
