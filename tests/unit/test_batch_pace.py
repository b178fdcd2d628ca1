"""The pace of a batch under way."""

import datetime as dt

from assayer_client.batches import BatchSummary
from orchestrator.jobs.models import BatchId, JobState, TenantId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.services.batch_summaries import summarise_batch

BEGUN = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)


def told(counts: dict[JobState, int], finished_at: dt.datetime | None = None) -> BatchSummary:
    batch = BatchStatus(
        id=BatchId("bt_1"),
        tenant=TenantId("t"),
        name="",
        rows=40,
        created_at=BEGUN,
        counts=counts,
        erased=0,
        cost_usd=None,
        known_cost_usd=0.0,
        finished_at=finished_at,
    )
    return summarise_batch(batch, BEGUN + dt.timedelta(minutes=6))


def test_pace_is_estimated_after_five_successful_reports() -> None:
    for few in (told({"failed": 30, "queued": 7}), told({"succeeded": 4, "failed": 1, "queued": 32})):
        assert (few.ideas_per_hour, few.finish_expected_at) == (None, None)
    enough = told({"succeeded": 5, "failed": 5, "queued": 25})
    assert enough.ideas_per_hour == 50
    assert enough.finish_expected_at == BEGUN + dt.timedelta(minutes=36)


def test_finished_small_batch_reports_its_pace() -> None:
    assert told({"succeeded": 1}, BEGUN + dt.timedelta(minutes=3)).ideas_per_hour == 20
