"""Timeline of a job, from its events and the ledger."""

import pytest

from assayer_client.reports import Timeline
from orchestrator.jobs.timeline import build_timeline
from tests.unit.job_timelines import job_between, job_events, ledger_row, stage_progress, time_at


def _told(timeline: Timeline) -> list[tuple[str, str, float, float, str]]:
    start = timeline.start
    return [
        (span.kind, span.name, (span.start - start).total_seconds(), (span.end - start).total_seconds(), span.outcome)
        for span in timeline.spans
    ]


def test_timeline_of_first_attempt_shows_wait_then_stages() -> None:
    events = job_events(
        (0, "queued", {}),
        (2, "started", {}),
        (3, "progress", stage_progress("soundness", 0, 2, began=time_at(2))),
        (4, "progress", stage_progress("soundness", 1, 2, began=time_at(2))),
        (5, "progress", stage_progress("soundness", 2, 2, began=time_at(2))),
        (6, "succeeded", {}),
    )
    timeline = build_timeline(job_between("succeeded", 2, 6), events, [ledger_row(4, 1.5, attempts=3)], time_at(60))
    assert _told(timeline) == [
        ("wait", "in the queue", 0, 2, "succeeded"),
        ("stage", "soundness", 2, 5, "succeeded"),
        ("call", "read", 2.5, 4, "succeeded"),
    ]
    assert timeline.spans[-1].detail == "m, 1,200 + 30 tokens, 3 attempts"
    assert timeline.end == time_at(6)


def test_second_attempt_shows_another_wait_with_its_reason() -> None:
    events = job_events(
        (1, "started", {}),
        (1, "progress", stage_progress("soundness", 1, 2)),
        (3, "retried", {"reason": "its worker died"}),
        (4, "started", {}),
        (9, "succeeded", {}),
    )
    timeline = build_timeline(job_between("succeeded", 1, 9), events, [], time_at(60))
    assert _told(timeline) == [
        ("wait", "in the queue", 0, 1, "succeeded"),
        ("stage", "soundness", 1, 3, "failed"),
        ("wait", "in the queue", 3, 4, "succeeded"),
    ]
    assert timeline.spans[-1].detail == "its worker died"


def test_unfinished_spans_are_open_until_now() -> None:
    events = job_events((1, "started", {}), (2, "progress", stage_progress("soundness", 0, 2)))
    assert _told(build_timeline(job_between("running", 1, None), events, [], time_at(7)))[-1] == (
        "stage",
        "soundness",
        1,
        7,
        "open",
    )
    assert _told(build_timeline(job_between("queued", None, None), [], [], time_at(7))) == [
        ("wait", "in the queue", 0, 7, "open")
    ]


def test_llm_requests_outside_job_period_are_excluded() -> None:
    rows = [ledger_row(-5, 1), ledger_row(3, 1), ledger_row(20, 1)]
    timeline = build_timeline(
        job_between("succeeded", 1, 6), job_events((1, "started", {}), (6, "succeeded", {})), rows, time_at(60)
    )
    assert [item[2:4] for item in _told(timeline) if item[0] == "call"] == [(2, 3)]


@pytest.mark.parametrize("outcome", ["failed", "cancelled"])
def test_cached_answer_takes_no_time_and_failed_request_states_reason(outcome: str) -> None:
    rows = [ledger_row(3, 9, cached=True), ledger_row(5, 1, outcome=outcome, error="no valid answer")]
    timeline = build_timeline(job_between("running", 1, None), job_events((1, "started", {})), rows, time_at(7))
    calls = [(item[2], item[3], item[4]) for item in _told(timeline) if item[0] == "call"]
    assert calls == [(3, 3, "cached"), (4, 5, "failed")]
    assert timeline.spans[-1].detail.endswith("no valid answer")
