"""Timeline of a job, from its events and the ledger."""

import pytest

from assayer_client.reports import Timeline
from orchestrator.jobs.timeline import build_timeline
from tests.unit.job_timelines import compute_time, make_job, make_job_events, make_ledger_row, make_stage_progress


def list_spans(timeline: Timeline) -> list[tuple[str, str, float, float, str]]:
    start = timeline.start
    return [
        (span.kind, span.name, (span.start - start).total_seconds(), (span.end - start).total_seconds(), span.outcome)
        for span in timeline.spans
    ]


def test_timeline_of_first_attempt_shows_wait_then_stages() -> None:
    events = make_job_events(
        (0, "queued", {}),
        (2, "started", {}),
        (3, "progress", make_stage_progress("soundness", 0, 2, began=compute_time(2))),
        (4, "progress", make_stage_progress("soundness", 1, 2, began=compute_time(2))),
        (5, "progress", make_stage_progress("soundness", 2, 2, began=compute_time(2))),
        (6, "succeeded", {}),
    )
    timeline = build_timeline(
        make_job("succeeded", 2, 6), events, [make_ledger_row(4, 1.5, attempts=3)], compute_time(60)
    )
    assert list_spans(timeline) == [
        ("wait", "in the queue", 0, 2, "succeeded"),
        ("stage", "soundness", 2, 5, "succeeded"),
        ("call", "read", 2.5, 4, "succeeded"),
    ]
    assert timeline.spans[-1].detail == "m, 1,200 + 30 tokens, 3 attempts"
    assert timeline.end == compute_time(6)


def test_second_attempt_shows_another_wait_with_its_reason() -> None:
    events = make_job_events(
        (1, "started", {}),
        (1, "progress", make_stage_progress("soundness", 1, 2)),
        (3, "retried", {"reason": "its worker died"}),
        (4, "started", {}),
        (9, "succeeded", {}),
    )
    timeline = build_timeline(make_job("succeeded", 1, 9), events, [], compute_time(60))
    assert list_spans(timeline) == [
        ("wait", "in the queue", 0, 1, "succeeded"),
        ("stage", "soundness", 1, 3, "failed"),
        ("wait", "in the queue", 3, 4, "succeeded"),
    ]
    assert timeline.spans[-1].detail == "its worker died"


def test_unfinished_spans_are_open_until_now() -> None:
    events = make_job_events((1, "started", {}), (2, "progress", make_stage_progress("soundness", 0, 2)))
    assert list_spans(build_timeline(make_job("running", 1, None), events, [], compute_time(7)))[-1] == (
        "stage",
        "soundness",
        1,
        7,
        "open",
    )
    assert list_spans(build_timeline(make_job("queued", None, None), [], [], compute_time(7))) == [
        ("wait", "in the queue", 0, 7, "open")
    ]


def test_llm_requests_outside_job_period_are_excluded() -> None:
    rows = [make_ledger_row(-5, 1), make_ledger_row(3, 1), make_ledger_row(20, 1)]
    timeline = build_timeline(
        make_job("succeeded", 1, 6), make_job_events((1, "started", {}), (6, "succeeded", {})), rows, compute_time(60)
    )
    assert [item[2:4] for item in list_spans(timeline) if item[0] == "call"] == [(2, 3)]


@pytest.mark.parametrize("outcome", ["failed", "cancelled"])
def test_cached_answer_takes_no_time_and_failed_request_states_reason(outcome: str) -> None:
    rows = [make_ledger_row(3, 9, cached=True), make_ledger_row(5, 1, outcome=outcome, error="no valid answer")]
    timeline = build_timeline(make_job("running", 1, None), make_job_events((1, "started", {})), rows, compute_time(7))
    calls = [(item[2], item[3], item[4]) for item in list_spans(timeline) if item[0] == "call"]
    assert calls == [(3, 3, "cached"), (4, 5, "failed")]
    assert timeline.spans[-1].detail.endswith("no valid answer")
