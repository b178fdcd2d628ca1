"""Jobs, events and ledger rows for timelines; times are seconds after `START`."""

import datetime as dt
from typing import Any

from assayer.models import CallRecord, LedgerRow
from orchestrator.jobs.models import EventKind, Job, JobEvent, JobId, JobState, TenantId

START = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


SECOND_1 = START + dt.timedelta(seconds=1)


def compute_time(seconds: float) -> dt.datetime:
    """Return the time that many seconds after `START`."""
    return START + dt.timedelta(seconds=seconds)


def make_job(state: JobState, started: float | None, finished: float | None) -> Job:
    """Return a job that started and finished at these times."""
    return Job(
        id=JobId("ev_1"),
        tenant=TenantId("t"),
        batch=None,
        row=None,
        kind="evaluation",
        priority="interactive",
        state=state,
        subject="An idea",
        attempt=1,
        run_id=None,
        problem=None,
        cost_usd=None,
        created_at=START,
        started_at=None if started is None else compute_time(started),
        finished_at=None if finished is None else compute_time(finished),
    )


def make_job_events(*events: tuple[float, EventKind, dict[str, Any]]) -> list[JobEvent]:
    """Return events from times, kinds and data."""
    return [
        JobEvent(job=JobId("ev_1"), number=number, kind=kind, data=data, at=compute_time(seconds))
        for number, (seconds, kind, data) in enumerate(events, 1)
    ]


def make_stage_progress(name: str, done: int, total: int, began: dt.datetime = SECOND_1) -> dict[str, Any]:
    """Return the data of a progress event of a stage."""
    return {"stages": [{"stage": name, "done": done, "total": total, "began": began.isoformat()}]}


def make_ledger_row(ended_at_second: float, latency: float, **changes: Any) -> LedgerRow:
    """Return the row of an LLM request that ended at a time and took `latency` seconds."""
    record = CallRecord(
        task="read",
        version=1,
        model="m",
        prompt_tokens=1200,
        completion_tokens=30,
        cost_usd=None,
        latency_seconds=latency,
        attempts=changes.pop("attempts", 1),
        cached=changes.pop("cached", False),
    )
    outcome = changes.pop("outcome", "answered")
    return LedgerRow(run_id="r", key="k", record=record, outcome=outcome, at=compute_time(ended_at_second), **changes)
