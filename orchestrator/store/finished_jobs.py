"""Recently finished jobs, for exporting traces. Each job is returned only once."""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from assayer.models import LedgerRow
from orchestrator.jobs.models import Job, JobEvent
from orchestrator.store.database import Database, Store
from orchestrator.store.job_events import PgEvents
from orchestrator.store.job_sql import JOB_COLUMNS
from orchestrator.store.ledger import PgLedger
from orchestrator.store.rows import from_row

SETTLING_TIME = dt.timedelta(seconds=2)
"""Delay after which all model requests made by a finished job are in the ledger. Requests interrupted by a cancellation
are recorded shortly after it."""

# Oldest first; jobs that ended more than 10 minutes ago are ignored. MATERIALIZED, because PostgreSQL may evaluate a
# subquery within IN (…) repeatedly, each time with its own limit.
_CLAIM_JOBS = f"""
    WITH ended AS MATERIALIZED (
        SELECT id AS ended FROM jobs
        WHERE finished_at > statement_timestamp() - interval '10 minutes'
          AND finished_at < statement_timestamp() - $2::interval AND NOT traced
        ORDER BY finished_at LIMIT $1 FOR UPDATE SKIP LOCKED
    )
    UPDATE jobs SET traced = true FROM ended WHERE jobs.id = ended RETURNING {JOB_COLUMNS}, traceparent
"""


class FinishedJob(NamedTuple):
    """A finished job with its verdict, events and model requests."""

    job: Job
    traceparent: str | None
    """Trace context of the request (W3C Trace Context)."""
    events: Sequence[JobEvent]
    ledger_rows: Sequence[LedgerRow]
    """Ledger rows for all of the job's runs."""


class PgFinishedJobs(Store):
    def __init__(self, database: Database, settling_time: dt.timedelta = SETTLING_TIME) -> None:
        """Create the store. `settling_time` is how long after its end a job becomes available to `claim`."""
        super().__init__(database)
        self._settling_time = settling_time
        self._events = PgEvents(database)
        self._ledger = PgLedger(database)

    async def claim(self, limit: int) -> list[FinishedJob]:
        """Claim up to `limit` recently finished jobs that have not been claimed yet."""
        rows = await self._database.fetch(_CLAIM_JOBS, limit, self._settling_time)
        jobs = [(from_row(Job, row), row["traceparent"]) for row in rows]
        return [
            FinishedJob(
                job, trace_context, await self._events.list_all(job.id), await self._ledger.list_job_rows(job.id)
            )
            for job, trace_context in jobs
        ]
