"""Progress of a job: stages with their start, written into events."""

from assayer.models import EvaluationId
from assayer.ports import ProgressEvent
from orchestrator.execution.job_progress import JobProgress
from orchestrator.jobs.timeline import timeline_of
from tests.unit.job_timelines import job_between, job_events, ledger_row, stage_progress, time_at

RUN = EvaluationId("run")


def test_progress_records_when_each_stage_began_and_repeats_what_was_not_saved() -> None:
    moments = iter([time_at(1), time_at(2), time_at(3), time_at(4)])
    progress = JobProgress(lambda: next(moments))
    for stage, done in (("soundness", 0), ("soundness", 1), ("contribution", 1)):
        progress.report(ProgressEvent(RUN, stage, done, 5))
    expected = {
        "stages": [
            {"stage": "soundness", "done": 1, "total": 5, "began": time_at(1).isoformat()},
            {"stage": "contribution", "done": 1, "total": 5, "began": time_at(3).isoformat()},
        ],
    }
    assert progress.take_changes() == expected
    assert progress.take_changes() is None
    progress.mark_unsaved()
    assert progress.take_changes() == expected


def test_a_stage_begins_when_it_said_so_and_not_at_the_event_before_its_first_step() -> None:
    begun = {"stage": "soundness", "done": 1, "total": 5, "began": time_at(11).isoformat()}
    events = job_events(
        (2, "started", {}),
        (30, "progress", stage_progress("contribution", 1, 5)),
        (40, "progress", {"stages": [{"stage": "contribution", "done": 1, "total": 5}, begun]}),
        (50, "succeeded", {}),
    )
    spans = timeline_of(job_between("succeeded", 2, 50), events, [ledger_row(12, 1)], time_at(60)).spans
    assert {span.name: span.start for span in spans if span.kind == "stage"} == {
        "contribution": time_at(2),
        "soundness": time_at(11),
    }
