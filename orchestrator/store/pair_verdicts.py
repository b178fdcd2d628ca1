"""What judges said of pairs of ideas, in comparisons that were asked for and in rankings."""

from collections.abc import Sequence

from pydantic import ConfigDict

from assayer.models import Frozen
from assayer.models.ranking import Comparison
from orchestrator.jobs.models import JobId, JobKind, TenantId
from orchestrator.store.database import Database
from orchestrator.store.json_columns import from_json_column

__all__ = ["PgPairVerdicts", "SourcedComparison"]

# Of the latest few that compared any of them.
_BETWEEN = """
    WITH judged AS (
        SELECT jobs.id, kind, subject, created_at, place, answer,
               dense_rank() OVER (PARTITION BY kind ORDER BY created_at DESC, jobs.id) AS latest
        FROM pair_verdicts JOIN jobs ON jobs.id = pair_verdicts.job
        WHERE tenant = $1 AND first = ANY($2) AND second = ANY($2)
    )
    SELECT id, kind, subject, answer FROM judged WHERE latest <= CASE kind WHEN 'ranking' THEN 3 ELSE 20 END
    ORDER BY created_at DESC, id, place
"""


class SourcedComparison(Frozen):
    """One answer of a judge, and where it was given."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    job: JobId
    """The comparison or the ranking."""
    kind: JobKind
    subject: str
    answer: Comparison


class PgPairVerdicts:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def between(self, tenant: TenantId, ideas: Sequence[str]) -> list[SourcedComparison]:
        """Of any two of these ideas, the latest first."""
        rows = await self._database.fetch(_BETWEEN, tenant, list(ideas))
        return [
            SourcedComparison(
                job=row["id"],
                kind=row["kind"],
                subject=row["subject"],
                answer=from_json_column(Comparison, row["answer"], f"A comparison of job {row['id']}"),
            )
            for row in rows
        ]
