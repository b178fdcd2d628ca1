"""Jobs that have ended, for whoever traces them: each is given out once."""

import datetime as dt

from assayer.models import EvaluationId, LedgerRow
from orchestrator.jobs.events import JobEvent
from orchestrator.jobs.models import JobId
from orchestrator.store import job_rows
from orchestrator.store.database import Database
from orchestrator.store.events import PgEvents
from orchestrator.store.job_rows import JOB
from orchestrator.store.ledger import PgLedger
from orchestrator.tracing.spans import LATE, Ended

__all__ = ["PgTraces"]

_PAGE = 1_000

# The oldest first; what ended before that is not asked for any more. Materialized: within IN (…) the rows that are
# locked may be chosen again and again, and the limit holds for each time.
_CLAIM = f"""
    WITH ended AS MATERIALIZED (
        SELECT id AS ended FROM jobs
        WHERE finished_at > statement_timestamp() - interval '10 minutes'
          AND finished_at < statement_timestamp() - $2::interval AND NOT traced
        ORDER BY finished_at LIMIT $1 FOR UPDATE SKIP LOCKED
    )
    UPDATE jobs SET traced = true FROM ended WHERE jobs.id = ended RETURNING {JOB}, traceparent
"""  # noqa: S608 - put together from constants


class PgTraces:
    """Implements `orchestrator.tracing.exporting.Archive`."""

    def __init__(self, database: Database, settling: dt.timedelta = LATE) -> None:
        """`settling`: so long after their end jobs are given out."""
        self._database = database
        self._settling = settling
        self._events = PgEvents(database)
        self._ledger = PgLedger(database)

    async def claim(self, most: int) -> list[Ended]:
        rows = await self._database.fetch(_CLAIM, most, self._settling)
        jobs = [(job_rows.job(row), row["traceparent"]) for row in rows]
        return [Ended(job, parent, await self._told(job.id), await self._called(job.run_id)) for job, parent in jobs]

    async def _told(self, job: JobId) -> list[JobEvent]:
        events: list[JobEvent] = []
        while page := await self._events.after(job, events[-1].number if events else 0, _PAGE):
            events += page
        return events

    async def _called(self, run: EvaluationId | None) -> list[LedgerRow]:
        return [] if run is None else await self._ledger.rows(run)
