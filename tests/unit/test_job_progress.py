"""Progress of a job: stages with their start, written into events."""

from assayer.models import EvaluationId
from assayer.ports import ProgressEvent
from orchestrator.execution.job_progress import JobProgress
from tests.unit.job_timelines import compute_time

RUN = EvaluationId("run")


def test_progress_records_stage_start_times_and_repeats_unsaved_changes() -> None:
    moments = iter([compute_time(1), compute_time(2), compute_time(3), compute_time(4)])
    progress = JobProgress(lambda: next(moments))
    for stage, done in (("soundness", 0), ("soundness", 1), ("contribution", 1)):
        progress.report(ProgressEvent(RUN, stage, done, 5))
    expected = {
        "stages": [
            {"stage": "soundness", "done": 1, "total": 5, "began": compute_time(1).isoformat()},
            {"stage": "contribution", "done": 1, "total": 5, "began": compute_time(3).isoformat()},
        ],
    }
    assert progress.take_changes() == expected
    assert progress.take_changes() is None
    progress.mark_unsaved()
    assert progress.take_changes() == expected
