"""Evaluation reports, and figures extracted from them."""

import json
from collections.abc import Sequence

from assayer.models import EvaluationId, Report
from orchestrator.jobs.report_figures import CERTAINTIES, ReportFigures, compute_figures
from orchestrator.store.database import Store
from orchestrator.store.json_columns import from_json_column, replace_nul, to_json_column

_MAX_INDEXED_CHARS = 100_000
"""Maximum number of characters indexed for search per idea, because PostgreSQL limits text search vectors to a
megabyte."""

_UPSERT_REPORT = """
    WITH written AS (
        INSERT INTO evaluations (id, idea_id, report)
        SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM erased_runs WHERE run_id = $1)
        ON CONFLICT (id) DO UPDATE SET report = excluded.report
        RETURNING id
    )
    INSERT INTO report_figures (run, idea, score, certainty, fit, complete, shares, figures, words)
    SELECT id, $4, $5, $6, $7, $8, $9, $10, to_tsvector('simple', $11) FROM written
    ON CONFLICT (run) DO UPDATE SET
        idea = excluded.idea, score = excluded.score, certainty = excluded.certainty, fit = excluded.fit,
        complete = excluded.complete, shares = excluded.shares, figures = excluded.figures, words = excluded.words
"""


class PgReports(Store):
    """Finished reports, one per run. Storing a run's report again replaces the earlier one."""

    async def store(self, report: Report) -> None:
        """Store a report with its figures, unless its job was erased."""
        figures = _make_figure_columns(compute_figures(report), f"{report.idea.title}\n{report.idea.text}")
        report_columns = (report.evaluation_id, report.idea.id, to_json_column(report))
        await self._database.execute(_UPSERT_REPORT, *report_columns, *figures)

    async def get(self, evaluation: EvaluationId) -> Report | None:
        """Return a run's report; None if there is none."""
        row = await self._database.fetch_one("SELECT report FROM evaluations WHERE id = $1", evaluation)
        return (
            None if row is None else from_json_column(Report, row["report"], f"The report of evaluation {evaluation}")
        )

    async def get_figures(self, runs: Sequence[EvaluationId]) -> dict[EvaluationId, ReportFigures]:
        """Return the reports' figures by run, without word lists; runs without a report are omitted."""
        query = "SELECT run, figures - 'words' AS figures FROM report_figures WHERE run = ANY($1)"
        rows = await self._database.fetch(query, list(runs)) if runs else ()
        return {row["run"]: from_json_column(ReportFigures, row["figures"], f"Figures of {row['run']}") for row in rows}


def _make_figure_columns(figures: ReportFigures, text: str) -> tuple[object, ...]:
    shares = {part.name: part.share for part in figures.parts if part.share is not None}
    return (
        figures.idea,
        figures.score,
        None if figures.certainty is None else CERTAINTIES.index(figures.certainty),
        figures.fit,
        figures.complete,
        json.dumps(shares),
        to_json_column(figures),
        replace_nul(text[:_MAX_INDEXED_CHARS]),
    )
