"""Rows of the results of a batch."""

import datetime as dt

from assayer.models import Report
from orchestrator.jobs.models import Job, JobId, JobState, Problem, TenantId
from orchestrator.jobs.submissions import BatchRow

NOW = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
BUDGET_PROBLEM = Problem(type="budget-exhausted", title="The budget is spent", detail="=It cost too much,\nby far.")


def make_batch_row(number: int, state: JobState, report: Report | None = None, title: str = "Corals") -> BatchRow:
    """Return a row with a finished evaluation; a failed one has spent its budget."""
    job = Job(
        id=JobId(f"ev_{number}"),
        tenant=TenantId("t"),
        batch=None,
        row=number,
        kind="evaluation",
        priority="batch",
        state=state,
        subject=title,
        attempt=1,
        run_id=None,
        problem=BUDGET_PROBLEM if state == "failed" else None,
        cost_usd=0.25 if report else None,
        created_at=NOW,
        started_at=None,
        finished_at=NOW,
    )
    return BatchRow(job, f"calls.csv:{number}", report)
