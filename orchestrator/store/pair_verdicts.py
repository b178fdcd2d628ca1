"""Judges' verdicts on pairs of ideas, from requested comparisons and from rankings."""

from collections.abc import Sequence

from assayer.models import Frozen
from assayer_client.comparisons import Comparison
from orchestrator.jobs.models import JobId, JobKind, TenantId
from orchestrator.store.database import Store

# Covers only the latest 3 rankings and 20 comparisons in which any of the ideas were compared.
_SELECT_COMPARISONS = """
    WITH judged AS (
        SELECT jobs.id, kind, subject, created_at, place, answer,
               dense_rank() OVER (PARTITION BY kind ORDER BY created_at DESC, jobs.id) AS latest
        FROM ranking_pairs JOIN jobs ON jobs.id = ranking_pairs.job
        WHERE tenant = $1 AND NOT known AND first = ANY($2) AND second = ANY($2)
    )
    SELECT id AS job, kind, subject, answer FROM judged WHERE latest <= CASE kind WHEN 'ranking' THEN 3 ELSE 20 END
    ORDER BY created_at DESC, id, place
"""


class SourcedComparison(Frozen):
    """A judge's answer, and the job that it belongs to."""

    job: JobId
    """Id of the comparison or ranking."""
    kind: JobKind
    subject: str
    answer: Comparison


class PgPairVerdicts(Store):
    async def list_comparisons(self, tenant: TenantId, ideas: Sequence[str]) -> list[SourcedComparison]:
        """Return the comparisons between any two of these ideas, latest first."""
        return await self._database.select(SourcedComparison, _SELECT_COMPARISONS, tenant, list(ideas))
