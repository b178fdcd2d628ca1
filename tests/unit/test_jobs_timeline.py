"""When a job did what, from its events and the ledger."""

import datetime as dt
from typing import Any

from assayer.models import CallRecord, LedgerRow
from assayer.models.timeline import Timeline
from orchestrator.jobs.models import EventKind, Job, JobEvent, JobId, JobState, TenantId
from orchestrator.jobs.timeline import timeline_of

_START = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


def _at(seconds: float) -> dt.datetime:
    return _START + dt.timedelta(seconds=seconds)


def _job(state: JobState, started: float | None, finished: float | None) -> Job:
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
        created_at=_START,
        started_at=None if started is None else _at(started),
        finished_at=None if finished is None else _at(finished),
    )


def _events(*told: tuple[float, EventKind, dict[str, Any]]) -> list[JobEvent]:
    return [
        JobEvent(job=JobId("ev_1"), number=number, kind=kind, data=data, at=_at(seconds))
        for number, (seconds, kind, data) in enumerate(told, 1)
    ]


def _stage(name: str, done: int, total: int) -> dict[str, Any]:
    return {"stages": [{"stage": name, "done": done, "total": total}]}


def _row(at: float, latency: float, **changes: Any) -> LedgerRow:
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
    return LedgerRow(run_id="r", key="k", record=record, outcome=outcome, at=_at(at), **changes)


def _told(timeline: Timeline) -> list[tuple[str, str, float, float, str]]:
    start = timeline.start
    return [
        (one.kind, one.name, (one.start - start).total_seconds(), (one.end - start).total_seconds(), one.outcome)
        for one in timeline.spans
    ]


def test_evaluation_done_at_the_first_try_waits_once_and_then_does_its_stages() -> None:
    events = _events(
        (0, "queued", {}),
        (2, "started", {}),
        (3, "progress", _stage("soundness", 0, 2)),
        (4, "progress", _stage("soundness", 1, 2)),
        (5, "progress", _stage("soundness", 2, 2)),
        (6, "done", {}),
    )
    timeline = timeline_of(_job("done", 2, 6), events, [_row(4, 1.5, attempts=3)], _at(60))
    assert _told(timeline) == [
        ("wait", "in the queue", 0, 2, "done"),
        ("stage", "soundness", 2, 5, "done"),
        ("call", "read", 2.5, 4, "done"),
    ]
    assert timeline.spans[-1].detail == "m, 1,200 + 30 tokens, 3 attempts"
    assert timeline.end == _at(6)


def test_second_try_waits_again_and_says_why() -> None:
    events = _events(
        (1, "started", {}),
        (1, "progress", _stage("soundness", 1, 2)),
        (3, "retried", {"reason": "its worker died"}),
        (4, "started", {}),
        (9, "done", {}),
    )
    timeline = timeline_of(_job("done", 1, 9), events, [], _at(60))
    assert _told(timeline) == [
        ("wait", "in the queue", 0, 1, "done"),
        ("stage", "soundness", 1, 3, "failed"),
        ("wait", "in the queue", 3, 4, "done"),
    ]
    assert timeline.spans[-1].detail == "its worker died"


def test_what_is_not_over_is_open_until_now() -> None:
    events = _events((1, "started", {}), (2, "progress", _stage("soundness", 0, 2)))
    assert _told(timeline_of(_job("running", 1, None), events, [], _at(7)))[-1] == ("stage", "soundness", 1, 7, "open")
    assert _told(timeline_of(_job("queued", None, None), [], [], _at(7))) == [("wait", "in the queue", 0, 7, "open")]


def test_calls_of_another_time_are_another_jobs() -> None:
    rows = [_row(-5, 1), _row(3, 1), _row(20, 1)]
    timeline = timeline_of(_job("done", 1, 6), _events((1, "started", {}), (6, "done", {})), rows, _at(60))
    assert [one[2:4] for one in _told(timeline) if one[0] == "call"] == [(2, 3)]


def test_cached_answer_takes_no_time_and_a_failed_call_says_why() -> None:
    rows = [_row(3, 9, cached=True), _row(5, 1, outcome="failed", error="no valid answer")]
    timeline = timeline_of(_job("running", 1, None), _events((1, "started", {})), rows, _at(7))
    calls = [(one[2], one[3], one[4]) for one in _told(timeline) if one[0] == "call"]
    assert calls == [(3, 3, "cached"), (4, 5, "failed")]
    assert timeline.spans[-1].detail.endswith("no valid answer")
