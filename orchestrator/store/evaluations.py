"""Evaluations and their reports."""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from typing import Literal

from assayer.errors import StorageError
from assayer.models import EvaluationId, Frozen, IdeaId, Paper, Report
from orchestrator.store.database import Database
from orchestrator.store.documents import document, plain, read, without_nul
from orchestrator.store.papers import KEEP_PAPERS, columns

__all__ = ["EvaluationState", "PgEvaluations", "StoredEvaluation"]

EvaluationState = Literal["running", "done", "failed"]

_START = """
    INSERT INTO evaluations (id, idea_id, method, state, request) VALUES ($1, $2, $3, 'running', $4)
    ON CONFLICT (id) DO UPDATE
    SET state = 'running', request = excluded.request, error = '', started_at = now(), finished_at = NULL
"""

_FINISH = f"""
    WITH kept AS ({KEEP_PAPERS})
    UPDATE evaluations SET state = 'done', report = $5, cited = $1, error = '', finished_at = now()
    WHERE id = $6
    RETURNING id
"""  # noqa: S608 - put together from constants

_FAIL = """
    UPDATE evaluations SET state = 'failed', error = $2, finished_at = now() WHERE id = $1 RETURNING id
"""

_CITED = """
    SELECT papers.id, papers.record FROM evaluations, papers
    WHERE evaluations.id = $1 AND papers.digest = ANY(evaluations.cited) ORDER BY papers.id
"""

_RECENT = """
    SELECT id, idea_id, method, state, error, started_at, finished_at FROM evaluations
    ORDER BY started_at DESC, id LIMIT $1
"""


class StoredEvaluation(Frozen):
    """One line of the list of evaluations."""

    id: EvaluationId
    idea_id: IdeaId
    method: str
    state: EvaluationState
    error: str
    started_at: dt.datetime
    finished_at: dt.datetime | None


class PgEvaluations:
    """An evaluation may be started, failed and finished again; the last finished report stays until a newer
    one takes its place."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start(self, evaluation: EvaluationId, idea: IdeaId, method: str, request: Mapping[str, object]) -> None:
        """`request` is everything that determines the report, as JSON can hold it."""
        fingerprint = without_nul(json.dumps(request, sort_keys=True, allow_nan=False))
        await self._database.execute(_START, evaluation, idea, method, fingerprint)

    async def finish(self, report: Report, papers: Sequence[Paper]) -> None:
        """Stores the report and the papers it cites in one transaction."""
        kept = columns(papers)
        row = await self._database.fetch_one(_FINISH, *kept, document(report), report.evaluation_id)
        _started(report.evaluation_id, row)

    async def fail(self, evaluation: EvaluationId, error: str) -> None:
        _started(evaluation, await self._database.fetch_one(_FAIL, evaluation, plain(error)))

    async def get(self, evaluation: EvaluationId) -> Report | None:
        """The last finished report."""
        row = await self._database.fetch_one("SELECT report FROM evaluations WHERE id = $1", evaluation)
        if row is None or row["report"] is None:
            return None
        return read(Report, row["report"], f"The report of evaluation {evaluation}")

    async def cited(self, evaluation: EvaluationId) -> list[Paper]:
        """The papers of the last finished report, as they were then; by id."""
        rows = await self._database.fetch(_CITED, evaluation)
        return [read(Paper, row["record"], f"Paper {row['id']}") for row in rows]

    async def recent(self, limit: int = 50) -> list[StoredEvaluation]:
        """The last started first."""
        return [StoredEvaluation(**dict(row)) for row in await self._database.fetch(_RECENT, limit)]


def _started(evaluation: EvaluationId, row: object) -> None:
    if row is None:
        raise StorageError(f"Evaluation {evaluation} was never started in this database; its outcome is not stored.")
