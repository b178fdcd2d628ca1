"""Summaries of batches: their progress, and when they are expected to finish."""

import datetime as dt

from assayer_client.batches import BatchLinks, BatchSummary
from orchestrator.jobs.submissions import BatchStatus, compute_ideas_per_hour, count_unfinished

_MIN_FINISHED = 5
"""Minimum number of finished evaluations needed to estimate a running batch's rate."""


def build_batch_path(batch: str) -> str:
    return f"/v1/batches/{batch}"


def build_batch_links(batch: str) -> BatchLinks:
    path = build_batch_path(batch)
    return BatchLinks(
        batch=path,
        rows=f"{path}/rows",
        evaluations=f"{path}/evaluations",
        events=f"{path}/events",
        results=f"{path}/results",
    )


def summarise_batch(batch: BatchStatus, now: dt.datetime) -> BatchSummary:
    finished_at = batch.finished_at
    speed = compute_ideas_per_hour(
        batch.counts, batch.created_at, finished_at or now, 1 if finished_at else _MIN_FINISHED
    )
    unfinished = count_unfinished(batch.counts)
    return BatchSummary(
        **batch.model_dump(exclude={"tenant", "submitted_by", "rejected", "counts", "archived_at"}),
        rejected=len(batch.rejected),
        states=batch.counts,
        ideas_per_hour=speed,
        finish_expected_at=now + dt.timedelta(hours=unfinished / speed) if speed and unfinished else None,
        links=build_batch_links(batch.id),
    )


def parse_tags(text: str) -> tuple[str, ...]:
    """Return the distinct tags in a comma-separated string, in order."""
    return tuple(dict.fromkeys(tag for part in text.split(",") if (tag := " ".join(part.split()))))
