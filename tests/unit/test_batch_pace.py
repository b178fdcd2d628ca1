"""The pace of a batch under way."""

import datetime as dt

from assayer_client.batches import BatchSummary
from orchestrator.jobs.models import BatchId, JobState, TenantId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.services.batch_summaries import summarise_batch

STARTED_AT = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)


def make_batch_summary(counts: dict[JobState, int], finished_at: dt.datetime | None = None) -> BatchSummary:
    batch = BatchStatus(
        id=BatchId("bt_1"),
        tenant=TenantId("t"),
        name="",
        rows=40,
        created_at=STARTED_AT,
        counts=counts,
        erased=0,
        cost_usd=None,
        known_cost_usd=0.0,
        finished_at=finished_at,
    )
    return summarise_batch(batch, STARTED_AT + dt.timedelta(minutes=6))


def test_pace_is_estimated_after_five_successful_reports() -> None:
    for early_batch in (
        make_batch_summary({"failed": 30, "queued": 7}),
        make_batch_summary({"succeeded": 4, "failed": 1, "queued": 32}),
    ):
        assert (early_batch.ideas_per_hour, early_batch.finish_expected_at) == (None, None)
    later_batch = make_batch_summary({"succeeded": 5, "failed": 5, "queued": 25})
    assert later_batch.ideas_per_hour == 50
    assert later_batch.finish_expected_at == STARTED_AT + dt.timedelta(minutes=36)


def test_finished_small_batch_reports_its_pace() -> None:
    assert make_batch_summary({"succeeded": 1}, STARTED_AT + dt.timedelta(minutes=3)).ideas_per_hour == 20
