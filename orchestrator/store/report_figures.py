"""Figures of reports, written with them."""

import json
from collections.abc import Sequence

from assayer.errors import StorageError
from assayer.models import EvaluationId, Report
from orchestrator.jobs.models import BatchId, TenantId
from orchestrator.jobs.report_figures import CERTAINTIES, ReportFigures, figures_of
from orchestrator.store.database import Database
from orchestrator.store.json_columns import from_json_column, storable_text, to_json_column

__all__ = ["FIGURE_COLUMNS", "PgReportFigures", "figure_values"]

FIGURE_COLUMNS = "idea, score, certainty, fit, complete, shares, figures, words"
_MOST_CHARS = 100_000
"""Of an idea that are searched: PostgreSQL's vectors of words end at a megabyte."""
_AT_ONCE = 50
_MOST = 250

_MISSING = """
    SELECT evaluations.id, evaluations.report FROM jobs
    JOIN evaluations ON evaluations.id = jobs.run_id LEFT JOIN report_figures ON report_figures.run = jobs.run_id
    WHERE jobs.tenant = $1 AND jobs.batch = $2 AND jobs.state = 'done'
      AND (report_figures.run IS NULL OR $4 AND jsonb_typeof(figures -> 'words') IS DISTINCT FROM 'array') LIMIT $3
"""
_WRITE = f"""
    INSERT INTO report_figures (run, {FIGURE_COLUMNS})
    SELECT id, $2, $3, $4, $5, $6, $7, $8, to_tsvector('simple', $9) FROM evaluations WHERE id = $1
    ON CONFLICT (run) DO UPDATE SET figures = excluded.figures
"""  # noqa: S608 - put together from constants
# Without the words, which only plots read.
_OF_RUNS = "SELECT run, figures - 'words' AS figures FROM report_figures WHERE run = ANY($1)"
_UNREADABLE = ReportFigures(
    idea="",
    score=None,
    reason="Its report was written by another version of assayer, and cannot be read.",
    certainty=None,
    fit=None,
    complete=False,
    parts=(),
    notices=(),
    words=(),
)


class PgReportFigures:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_runs(self, runs: Sequence[EvaluationId]) -> dict[EvaluationId, ReportFigures]:
        """Runs without figures are missing: they have no report, or one from before figures were kept."""
        if not runs:
            return {}
        rows = await self._database.fetch(_OF_RUNS, list(runs))
        return {row["run"]: from_json_column(ReportFigures, row["figures"], f"Figures of {row['run']}") for row in rows}

    async def fill(self, tenant: TenantId, batch: BatchId, *, words: bool = False) -> bool:
        """Writes what is missing in a batch, of reports that were stored before figures were: a few hundred at a time;
        with `words` also where they were not counted. False: there is more."""
        for _ in range(0, _MOST, _AT_ONCE):
            rows = await self._database.fetch(_MISSING, tenant, batch, _AT_ONCE, words)
            for row in rows:
                try:
                    report = from_json_column(Report, row["report"], f"The report of {row['id']}")
                    values = figure_values(figures_of(report), f"{report.idea.title}\n{report.idea.text}")
                except StorageError:
                    values = figure_values(_UNREADABLE, "")
                await self._database.execute(_WRITE, row["id"], *values)
            if len(rows) < _AT_ONCE:
                return True
        return False


def figure_values(figures: ReportFigures, text: str) -> tuple[object, ...]:
    """Of the columns, in their order; words as text. `text`: what is searched."""
    shares = {one.name: one.share for one in figures.parts if one.share is not None}
    return (
        figures.idea,
        figures.score,
        None if figures.certainty is None else CERTAINTIES.index(figures.certainty),
        figures.fit,
        figures.complete,
        json.dumps(shares),
        to_json_column(figures),
        storable_text(text[:_MOST_CHARS]),
    )
