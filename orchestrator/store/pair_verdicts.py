"""What judges said of pairs of ideas, in comparisons that were asked for and in rankings."""

import json
from collections.abc import Sequence

from pydantic import ConfigDict

from assayer.models import Frozen
from assayer.models.ranking import Comparison
from orchestrator.jobs.models import JobId, JobKind, TenantId
from orchestrator.store.database import Database

__all__ = ["PgPairVerdicts", "SourcedComparison"]

# The latest few: a ranking of thousands holds tens of thousands of answers.
_BETWEEN = """
    WITH judged AS (
        (SELECT id, kind, batch, subject, created_at, result -> 'comparisons' AS answers FROM jobs
         WHERE tenant = $1 AND kind = 'ranking' AND state = 'done' ORDER BY created_at DESC LIMIT 3)
        UNION ALL
        (SELECT id, kind, batch, subject, created_at, result -> 'answers' FROM jobs
         WHERE tenant = $1 AND kind = 'comparison' AND state = 'done'
           AND result ->> 'first' = ANY($2) AND result ->> 'second' = ANY($2) ORDER BY created_at DESC LIMIT 20)
    )
    SELECT judged.id, kind, subject, answer FROM judged, jsonb_array_elements(answers) AS answer
    WHERE answer ->> 'first' = ANY($2) AND answer ->> 'second' = ANY($2) ORDER BY created_at DESC, judged.id
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
                answer=Comparison.model_validate(json.loads(row["answer"])),
            )
            for row in rows
        ]
