"""What an evaluation did while no language model was asked: recorded, carried in events, and found in the gaps."""

from assayer.models import EvaluationId
from assayer.ports import ActivitySpan, ProgressEvent
from assayer.run.activities import Activities
from orchestrator.execution.job_progress import JobProgress
from orchestrator.jobs.pauses import Pause, pauses_of
from orchestrator.jobs.timeline import timeline_of
from tests.unit.test_jobs_timeline import _at, _events, _job, _row, _stage

RUN = EvaluationId("run")


def test_activities_of_one_kind_that_touch_are_one() -> None:
    activities = Activities()
    for start, end in ((0, 2), (1, 3), (3, 4), (9, 10)):
        activities.add("searching", _at(start), _at(end))
    activities.add("permits", _at(2), _at(2.5))
    activities.add("permits", _at(5), _at(5.01))
    assert [(one.what, one.start, one.end) for one in activities.spans()] == [
        ("searching", _at(0), _at(4)),
        ("permits", _at(2), _at(2.5)),
        ("searching", _at(9), _at(10)),
    ]


def test_many_activities_keep_a_bounded_number_of_spans_and_the_longest_ones() -> None:
    activities = Activities()
    for place in range(1_000):
        activities.add("searching", _at(10 * place), _at(10 * place + (5 if place == 500 else 1)))
    spans = activities.spans()
    assert len(spans) <= 60
    assert ActivitySpan("searching", _at(5_000), _at(5_005)) in spans


def test_progress_tells_when_each_stage_began_and_what_else_was_done() -> None:
    moments = iter([_at(1), _at(2), _at(3), _at(4)])
    progress = JobProgress(lambda: next(moments))
    for stage, done in (("soundness", 0), ("soundness", 1), ("contribution", 1)):
        span = ActivitySpan("loading", _at(0), _at(1))
        progress.report(ProgressEvent(RUN, stage, done, 5, (span,)))
    assert progress.take_changes() == {
        "stages": [
            {"stage": "soundness", "done": 1, "total": 5, "began": _at(1).isoformat()},
            {"stage": "contribution", "done": 1, "total": 5, "began": _at(3).isoformat()},
        ],
        "activities": [{"what": "loading", "start": _at(0).isoformat(), "end": _at(1).isoformat()}],
    }
    progress.mark_unsaved()
    again = progress.take_changes()
    assert again is not None
    assert len(again["activities"]) == 1
    progress.report(ProgressEvent(RUN, "contribution", 2, 5, (span, ActivitySpan("permits", _at(2), _at(3)))))
    news = progress.take_changes()
    assert news is not None
    assert [one["what"] for one in news["activities"]] == ["permits"]


def test_a_stage_begins_when_it_said_so_and_not_at_the_event_before_its_first_step() -> None:
    begun = {"stage": "soundness", "done": 1, "total": 5, "began": _at(11).isoformat()}
    events = _events(
        (2, "started", {}),
        (30, "progress", _stage("contribution", 1, 5)),
        (40, "progress", {"stages": [{"stage": "contribution", "done": 1, "total": 5}, begun]}),
        (50, "done", {}),
    )
    spans = timeline_of(_job("done", 2, 50), events, [_row(12, 1)], _at(60)).spans
    assert {one.name: one.start for one in spans if one.kind == "stage"} == {
        "contribution": _at(2),
        "soundness": _at(11),
    }


def test_gaps_between_calls_are_named_by_what_was_done_in_them() -> None:
    activities = [
        {"what": "loading", "start": _at(2).isoformat(), "end": _at(6).isoformat()},
        {"what": "searching", "start": _at(5).isoformat(), "end": _at(9).isoformat()},
        {"what": "permits", "start": _at(15).isoformat(), "end": _at(16).isoformat()},
    ]
    events = _events((2, "started", {}), (30, "progress", {"stages": [], "activities": activities}), (40, "done", {}))
    rows = [_row(12, 3), _row(14, 4), _row(30, 13), _row(31, 5, cached=True)]
    found = pauses_of(_job("done", 2, 40), events, rows, _at(60))
    assert found == [
        Pause(_at(2), _at(9), (("loading", 4.0), ("searching", 4.0))),
        Pause(_at(14), _at(17), (("permits", 1.0),)),
        Pause(_at(30), _at(40), ()),
    ]


def test_gaps_that_nobody_would_notice_are_left_out_and_nothing_has_run_without_a_start() -> None:
    events = _events((2, "started", {}), (4, "done", {}))
    rows = [_row(3, 1), _row(4, 0.8)]
    assert pauses_of(_job("done", 2, 4), events, rows, _at(60)) == []
    assert pauses_of(_job("queued", None, None), [], [], _at(60)) == []


def test_a_second_attempt_waits_in_the_queue_and_not_in_a_gap() -> None:
    events = _events(
        (2, "started", {}), (5, "retried", {"reason": "its worker died"}), (20, "started", {}), (24, "done", {})
    )
    found = pauses_of(_job("done", 2, 24), events, [], _at(60))
    assert [(one.start, one.end) for one in found] == [(_at(2), _at(5)), (_at(20), _at(24))]
