"""The stage that each call has reached, derived from the numbers of its proposals and reviews."""

import datetime as dt
from collections.abc import Mapping

from orchestrator.jobs.models import BatchId, TenantId
from orchestrator.reviewing.stages import CallCounts, CallProgress, derive_progress
from orchestrator.store.assignments import READABLE
from orchestrator.store.database import Store
from orchestrator.store.rows import from_row

_SELECT_COUNTS = f"""
    SELECT jobs.batch, count(*) AS proposals, count(*) FILTER (WHERE jobs.state IN ('queued', 'running')) AS unfinished,
           count(*) FILTER (WHERE {READABLE}) AS readable,
           count(*) FILTER (WHERE {READABLE} AND by_proposal.reviews > 0) AS assigned,
           coalesce(sum(by_proposal.reviews) FILTER (WHERE {READABLE}), 0)::integer AS reviews,
           coalesce(sum(by_proposal.missing) FILTER (WHERE {READABLE}), 0)::integer AS missing,
           count(decisions.evaluation) AS decided
    FROM jobs LEFT JOIN (
        SELECT assignments.evaluation, count(*) AS reviews, count(*) FILTER (WHERE opinions.member IS NULL) AS missing
        FROM jobs JOIN assignments ON assignments.evaluation = jobs.id LEFT JOIN opinions USING (evaluation, member)
        WHERE jobs.batch = ANY($2) GROUP BY assignments.evaluation
    ) AS by_proposal ON by_proposal.evaluation = jobs.id
    LEFT JOIN decisions ON decisions.evaluation = jobs.id
    WHERE jobs.tenant = $1 AND jobs.batch = ANY($2) AND jobs.kind = 'evaluation' AND jobs.state <> 'cancelled'
    GROUP BY jobs.batch
"""
_SELECT_DATES = """
    SELECT batches.id, (terms ->> 'deadline')::date AS deadline, sign_offs.batch IS NOT NULL AS signed
    FROM batches LEFT JOIN call_terms ON call_terms.batch = batches.id
    LEFT JOIN sign_offs ON sign_offs.batch = batches.id
    WHERE tenant = $1 AND batches.id = ANY($2)
"""


class PgCallProgress(Store):
    async def get_progress(
        self, tenant: TenantId, due_dates: Mapping[BatchId, dt.date | None], today: dt.date
    ) -> dict[BatchId, CallProgress]:
        """Return the stage of each call in `due_dates`, which maps calls to the last day for reviews."""
        counts = {row["batch"]: row for row in await self._database.fetch(_SELECT_COUNTS, tenant, list(due_dates))}
        return {
            row["id"]: derive_progress(
                from_row(CallCounts, counts[row["id"]]) if row["id"] in counts else CallCounts(),
                is_signed_off=row["signed"],
                deadline=row["deadline"],
                due=due_dates[row["id"]],
                today=today,
            )
            for row in await self._database.fetch(_SELECT_DATES, tenant, list(due_dates))
        }
