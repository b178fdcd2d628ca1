"""Reports of evaluations. How an evaluation stands is told by its job, and by nothing here."""

import json
from collections.abc import Mapping, Sequence

from assayer.models import EvaluationId, Paper, Report
from orchestrator.store.database import Database
from orchestrator.store.documents import document, read, without_nul
from orchestrator.store.papers import KEEP_PAPERS, columns

__all__ = ["PgEvaluations"]

_KEEP = f"""
    WITH kept AS ({KEEP_PAPERS})
    INSERT INTO evaluations (id, idea_id, method, request, report, cited) VALUES ($5, $6, $7, $8, $9, $1)
    ON CONFLICT (id) DO UPDATE
    SET request = excluded.request, report = excluded.report, cited = excluded.cited, finished_at = now()
"""  # noqa: S608 - put together from constants

_CITED = """
    SELECT papers.id, papers.record FROM evaluations, papers
    WHERE evaluations.id = $1 AND papers.digest = ANY(evaluations.cited) ORDER BY papers.id
"""


class PgEvaluations:
    """A row is a finished report; that of a later execution takes its place."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, report: Report, papers: Sequence[Paper], request: Mapping[str, object]) -> None:
        """The report and the papers it cites, in one transaction. `request` is everything that determines the report,
        as JSON can hold it."""
        determined = without_nul(json.dumps(request, sort_keys=True, allow_nan=False))
        names = (report.evaluation_id, report.idea.id, report.method)
        await self._database.execute(_KEEP, *columns(papers), *names, determined, document(report))

    async def get(self, evaluation: EvaluationId) -> Report | None:
        """The last finished report."""
        row = await self._database.fetch_one("SELECT report FROM evaluations WHERE id = $1", evaluation)
        return None if row is None else read(Report, row["report"], f"The report of evaluation {evaluation}")

    async def cited(self, evaluation: EvaluationId) -> list[Paper]:
        """The papers of the last finished report, as they were then; by id."""
        rows = await self._database.fetch(_CITED, evaluation)
        return [read(Paper, row["record"], f"Paper {row['id']}") for row in rows]
