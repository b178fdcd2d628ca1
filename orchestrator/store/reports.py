"""Reports of evaluations, and the papers they cite as they were at the time. How an evaluation stands: see its job."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from assayer.models import EvaluationId, Paper, PaperId, Report
from orchestrator.jobs.report_figures import figures_of
from orchestrator.store.database import Database
from orchestrator.store.json_columns import from_json_column, json_without_nul, storable_text, to_json_column
from orchestrator.store.report_figures import FIGURE_COLUMNS, figure_values

__all__ = ["INSERT_PAPERS", "PgPapers", "PgReports", "paper_columns"]

INSERT_PAPERS = """
    INSERT INTO papers (digest, id, source, record)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::jsonb[])
    ON CONFLICT (digest) DO NOTHING
"""

_UPSERT_REPORT = f"""
    WITH kept AS ({INSERT_PAPERS}), written AS (
        INSERT INTO evaluations (id, idea_id, method, request, report, cited)
        SELECT $5, $6, $7, $8, $9, $1 WHERE NOT EXISTS (SELECT FROM erased_runs WHERE run_id = $5)
        ON CONFLICT (id) DO UPDATE
        SET request = excluded.request, report = excluded.report, cited = excluded.cited, finished_at = now()
        RETURNING id
    )
    INSERT INTO report_figures (run, {FIGURE_COLUMNS})
    SELECT id, $10, $11, $12, $13, $14, $15, $16, to_tsvector('simple', $17) FROM written
    ON CONFLICT (run) DO UPDATE SET
        idea = excluded.idea, score = excluded.score, certainty = excluded.certainty, fit = excluded.fit,
        complete = excluded.complete, shares = excluded.shares, figures = excluded.figures, words = excluded.words
"""  # noqa: S608 - put together from constants

_CITED_PAPERS = """
    SELECT papers.id, papers.record FROM evaluations, papers
    WHERE evaluations.id = $1 AND papers.digest = ANY(evaluations.cited) ORDER BY papers.id
"""

_LATEST_RECORDS = """
    SELECT DISTINCT ON (id) id, record FROM papers WHERE id = ANY($1) ORDER BY id, first_seen DESC, digest
"""


class PgReports:
    """A row is a finished report; that of a later execution takes its place."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, report: Report, papers: Sequence[Paper], request: Mapping[str, object]) -> None:
        """The report, its figures and the papers it cites, in one transaction. `request` is everything that determines
        the report, as JSON can hold it. That of a run whose job was erased is not kept."""
        determined = json_without_nul(json.dumps(request, sort_keys=True, allow_nan=False))
        names = (report.evaluation_id, report.idea.id, report.method)
        figures = figure_values(figures_of(report), f"{report.idea.title}\n{report.idea.text}")
        stored = (*paper_columns(papers), *names, determined, to_json_column(report))
        await self._database.execute(_UPSERT_REPORT, *stored, *figures)

    async def get(self, evaluation: EvaluationId) -> Report | None:
        """The last finished report."""
        row = await self._database.fetch_one("SELECT report FROM evaluations WHERE id = $1", evaluation)
        return (
            None if row is None else from_json_column(Report, row["report"], f"The report of evaluation {evaluation}")
        )

    async def cited(self, evaluation: EvaluationId) -> list[Paper]:
        """The papers of the last finished report, as they were then; by id."""
        rows = await self._database.fetch(_CITED_PAPERS, evaluation)
        return [from_json_column(Paper, row["record"], f"Paper {row['id']}") for row in rows]


class PgPapers:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, papers: Sequence[Paper]) -> None:
        """A changed record is kept beside the older ones of the same paper."""
        await self._database.execute(INSERT_PAPERS, *paper_columns(papers))

    async def get(self, ids: Sequence[PaperId]) -> dict[PaperId, Paper]:
        """The latest record of each known id; unknown ids are missing from the answer."""
        rows = await self._database.fetch(_LATEST_RECORDS, [storable_text(one) for one in ids])
        return {PaperId(row["id"]): from_json_column(Paper, row["record"], f"Paper {row['id']}") for row in rows}


def paper_columns(papers: Sequence[Paper]) -> tuple[list[str], list[str], list[str], list[str]]:
    """Digests, ids, sources and records. Sorted, so that two writers never wait for each other in a circle."""
    keyed: dict[str, tuple[Paper, str]] = {}
    for paper in papers:
        record = to_json_column(paper)
        keyed[hashlib.sha256(record.encode()).hexdigest()] = (paper, record)
    digests = sorted(keyed)
    kept = [keyed[digest] for digest in digests]
    return (
        digests,
        [storable_text(paper.id) for paper, _ in kept],
        [storable_text(paper.source) for paper, _ in kept],
        [record for _, record in kept],
    )
