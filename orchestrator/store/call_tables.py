"""A call's proposals as a table that the database searches, filters, sorts and paginates."""

import datetime as dt
from collections.abc import Sequence
from typing import Literal

import asyncpg
from pydantic import AwareDatetime, Field

from assayer.models import Frozen
from assayer_client.decisions import DecisionOutcome
from assayer_client.rankings import Band
from orchestrator.jobs.models import BatchId, JobId, JobState, Problem, TenantId
from orchestrator.jobs.outcome_wording import OUTCOMES, EvaluationOutcome
from orchestrator.jobs.report_figures import ReportFigures
from orchestrator.store.database import Store
from orchestrator.store.json_columns import replace_nul
from orchestrator.store.rows import PAGE, TablePage, from_row

_SORT_COLUMNS = {
    "row": '"row"',
    "title": "lower(subject)",
    "source": "lower(source_name)",
    "score": "score",
    "certainty": "certainty",
    "fit": "array_position(ARRAY['poor', 'partial', 'good'], fit)",
    "outcome": "array_position($6::text[], outcome)",
    "cost": "cost_usd",
    "seconds": "seconds",
    "rank": "rank",
    "people": "people",
    "decision": "array_position(ARRAY['decline', 'reserve', 'fund'], decision)",
}
_SORT_PATTERN = rf"^({'|'.join(_SORT_COLUMNS)}|part:[\w .-]{{1,60}})$"

PROPOSALS = """
    WITH ranking AS MATERIALIZED (
        SELECT rankings.job, shortlist_size FROM jobs JOIN rankings ON rankings.job = jobs.id
        WHERE tenant = $1 AND jobs.id = $3
    ), proposals AS (
        SELECT jobs.id, "row", state, subject, source_name, flags, cost_usd, problem, run, figures, score, certainty,
               fit, shares, words, finished_at, extract(epoch FROM finished_at - started_at)::float8 AS seconds,
               rank, low, high, band, shortlist_probability, coalesce(set_score::float8, scored.mean) AS people,
               coalesce(scored.reviews, 0) AS reviews, set_score IS NOT NULL AS overridden,
               decisions.outcome AS decision, decisions.amount, applicants.name AS applicant, institution,
               applicants.amount AS requested,
               CASE WHEN state <> 'succeeded' THEN state WHEN complete THEN 'full' WHEN score IS NOT NULL THEN 'part'
                    ELSE 'unscored' END AS outcome
        FROM jobs LEFT JOIN report_figures ON run = jobs.run_id AND state = 'succeeded'
        LEFT JOIN ranking_ideas
            ON ranking_ideas.job = (SELECT job FROM ranking) AND ranking_ideas.idea = report_figures.idea
        LEFT JOIN (
            SELECT opinions.evaluation, avg(opinions.score)::float8 AS mean, count(*) AS reviews
            FROM jobs JOIN opinions ON opinions.evaluation = jobs.id
            WHERE batch = $2 AND NOT EXISTS (
                SELECT FROM conflicts WHERE conflicts.evaluation = opinions.evaluation
                  AND conflicts.member = opinions.member AND cleared_reason IS NULL
            ) GROUP BY opinions.evaluation
        ) AS scored ON scored.evaluation = jobs.id
        LEFT JOIN (SELECT evaluation, score AS set_score FROM score_overrides) AS overriding
            ON overriding.evaluation = jobs.id
        LEFT JOIN decisions ON decisions.evaluation = jobs.id
        LEFT JOIN applicants ON applicants.evaluation = jobs.id
        WHERE tenant = $1 AND batch = $2 AND kind = 'evaluation'
    )
"""
"""SQL that defines `proposals`: the proposals in a tenant's ($1) batch ($2), with their ranks in a ranking ($3, or
'')."""
# Rows are sorted without their wide columns: figures and problems are read only for the rows of the page.
_SELECT_PAGE = f"""{PROPOSALS}, page AS (
    SELECT id, "row", state, subject, source_name, flags, cost_usd, seconds, finished_at, outcome, run,
           rank, low, high, band, shortlist_probability, people, reviews, overridden, decision, amount, applicant,
           institution, requested,
           count(*) OVER () AS matching,
           row_number() OVER (ORDER BY {{order}} NULLS LAST, "row", id) AS place
    FROM proposals
    WHERE ($4::text = '' OR words @@ websearch_to_tsquery('simple', $4) OR strpos(lower(subject), lower($4)) > 0
           OR strpos(lower(source_name), lower($4)) > 0 OR strpos(lower(applicant), lower($4)) > 0
           OR strpos(lower(institution), lower($4)) > 0)
      AND (cardinality($5::text[]) = 0 OR outcome = ANY($5))
      AND (cardinality($7::text[]) = 0 OR fit = ANY($7)) AND (NOT $8::boolean OR cardinality(flags) > 0)
      AND cardinality($6::text[]) > 0 AND $9::text IS NOT NULL
      AND ($11::float8 IS NULL OR score >= $11 / 100)
      AND ($12::float8 IS NULL OR score < $12 / 100 OR ($12 = 100 AND score = 1))
      AND ($15::text[] IS NULL OR run = ANY($15))
      AND (cardinality($16::text[]) = 0 OR coalesce(band, CASE WHEN rank IS NULL THEN 'unranked' END) = ANY($16))
      AND ($13::timestamptz IS NULL OR finished_at >= $13) AND ($14::timestamptz IS NULL OR finished_at < $14)
    ORDER BY place LIMIT {PAGE} OFFSET $10
)
    SELECT page.*, page.subject AS title, page.source_name AS source, problem, figures FROM page
    JOIN jobs USING (id) LEFT JOIN report_figures ON report_figures.run = page.run ORDER BY place
"""
_SELECT_ALL = f"""{PROPOSALS}
    SELECT proposals.*, subject AS title, source_name AS source, coalesce(columns, '{{}}') AS columns
    FROM proposals LEFT JOIN applicants ON applicants.evaluation = proposals.id ORDER BY "row", id
"""
_SELECT_BY_ID = f"""{PROPOSALS}
    SELECT proposals.*, subject AS title, source_name AS source FROM proposals WHERE id = ANY($4)
"""
_SELECT_COUNTS = f"""{PROPOSALS}
    SELECT outcome, count(*) AS proposals, count(*) FILTER (WHERE fit = 'poor') AS poorly_covered,
           count(certainty) AS certain
    FROM proposals GROUP BY outcome
"""
_UPSERT_VIEW = """
    INSERT INTO saved_views AS stored (tenant, name, query) VALUES ($1, $2, $3)
    ON CONFLICT (tenant, name) DO UPDATE SET query = $3 WHERE $4 OR stored.query = $3 RETURNING name
"""


class TableView(Frozen, defer_build=False):
    """A table's filters, sort order and page, taken from its URL parameters."""

    q: str = Field(default="", max_length=200)
    outcome: tuple[EvaluationOutcome, ...] = Field(default=(), max_length=len(OUTCOMES))
    """Outcomes to show; empty for all."""
    fit: tuple[Literal["good", "partial", "poor"], ...] = Field(default=(), max_length=3)
    flagged: bool = False
    score_from: float | None = Field(default=None, ge=0, le=100, allow_inf_nan=False)
    """Minimum score, from 0 to 100, of the proposals to show."""
    score_to: float | None = Field(default=None, ge=0, le=100, allow_inf_nan=False)
    """Exclusive upper limit for scores; 100 also includes a score of 100."""
    ended_from: AwareDatetime | None = None
    """Earliest end time of the proposals to show."""
    ended_to: AwareDatetime | None = None
    """Exclusive upper limit for end times."""
    field: str = Field(default="", max_length=200)
    """Field of research whose proposals are shown; empty for all."""
    sort: str = Field(default="row", pattern=_SORT_PATTERN)
    """Column to sort by, or `part:` followed by the name of a part score."""
    down: bool = False
    """True to sort in descending order."""
    page: int = Field(default=1, ge=1, le=10_000)
    hide: tuple[str, ...] = Field(default=(), max_length=40)
    """Columns to hide."""
    show: tuple[Literal["cost", "seconds"], ...] = Field(default=(), max_length=2)
    """Optional columns to show."""
    ranking: str = Field(default="", pattern=r"^[A-Za-z0-9_-]{0,64}$")
    band: tuple[Band | Literal["unranked"], ...] = Field(default=(), max_length=4)
    """Bands to show, at the ranking's own cutoff; `unranked` stands for proposals that the ranking does not contain."""


class ProposalRank(Frozen):
    rank: int
    low: float
    high: float
    band: Band | None
    shortlist_probability: float | None


class TableRow(Frozen):
    id: JobId
    row: int | None
    state: JobState
    outcome: EvaluationOutcome
    title: str
    source: str
    flags: tuple[str, ...]
    figures: ReportFigures | None
    """Figures from the report; None if there is no report."""
    problem: Problem | None
    cost_usd: float | None
    seconds: float | None
    finished_at: dt.datetime | None
    rank: ProposalRank | None
    people: float | None
    """Final score from 1 to 5: set by an officer, otherwise the mean of the reviews that count."""
    reviews: int
    """Number of reviews that count."""
    overridden: bool
    """True if an officer set the score."""
    decision: DecisionOutcome | None
    amount: float | None
    """Amount awarded, in the call's currency."""
    applicant: str | None
    institution: str | None
    requested: float | None
    """Amount that the applicant asked for."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Columns of the proposal's spreadsheet row that are not part of its text. Filled only by `list_rows`."""


class CallOutcomes(Frozen):
    counts: dict[EvaluationOutcome, int]
    """Number of proposals by outcome; outcomes without proposals are omitted."""
    poorly_covered: int
    """Number of proposals whose field the corpus covers poorly."""
    certain: int
    """Number of proposals whose report states how certain its overall score is."""


class PgCallTables(Store):
    async def get_page(
        self, tenant: TenantId, batch: BatchId, view: TableView, runs_in_field: Sequence[str] | None = None
    ) -> TablePage[TableRow]:
        """Return one page of the table. `runs_in_field` holds the run ids of the proposals in the view's field of
        research; None for all fields."""
        part_name = view.sort.removeprefix("part:") if view.sort.startswith("part:") else ""
        order = "(shares ->> $9)::float8" if part_name else _SORT_COLUMNS[view.sort]
        query = _SELECT_PAGE.format(order=order + (" DESC" if view.down else ""))
        rows = await self._database.fetch(
            query,
            tenant,
            batch,
            view.ranking,
            replace_nul(view.q.strip()),
            list(view.outcome),
            list(OUTCOMES),
            list(view.fit),
            view.flagged,
            part_name,
            (view.page - 1) * PAGE,
            view.score_from,
            view.score_to,
            view.ended_from,
            view.ended_to,
            runs_in_field,
            list(view.band) if view.ranking else [],
        )
        return TablePage.from_records(rows, list(map(_to_table_row, rows)))

    async def list_rows(self, tenant: TenantId, batch: BatchId, ranking: str = "") -> Sequence[TableRow]:
        """Return all rows, in row order."""
        return [_to_table_row(row) for row in await self._database.fetch(_SELECT_ALL, tenant, batch, ranking)]

    async def get_rows(
        self, tenant: TenantId, batch: BatchId, proposals: Sequence[str], ranking: str
    ) -> dict[JobId, TableRow]:
        """Return the rows of these proposals by id."""
        rows = map(_to_table_row, await self._database.fetch(_SELECT_BY_ID, tenant, batch, ranking, list(proposals)))
        return {row.id: row for row in rows}

    async def count_outcomes(self, tenant: TenantId, batch: BatchId) -> CallOutcomes:
        rows = await self._database.fetch(_SELECT_COUNTS, tenant, batch, "")
        count_by_outcome = {row["outcome"]: row["proposals"] for row in rows}
        counts = {outcome: count_by_outcome[outcome] for outcome in OUTCOMES if outcome in count_by_outcome}
        return CallOutcomes(
            counts=counts,
            poorly_covered=sum(row["poorly_covered"] for row in rows),
            certain=sum(row["certain"] for row in rows),
        )

    async def count_by_outcome(self, tenant: TenantId, batch: BatchId) -> dict[EvaluationOutcome, int]:
        """Return the number of proposals by outcome; outcomes without proposals are omitted."""
        return (await self.count_outcomes(tenant, batch)).counts

    async def list_views(self, tenant: TenantId) -> dict[str, str]:
        """Return the saved views: URL parameters by name."""
        rows = await self._database.fetch("SELECT name, query FROM saved_views WHERE tenant = $1 ORDER BY name", tenant)
        return {row["name"]: row["query"] for row in rows}

    async def save_view(self, tenant: TenantId, name: str, query: str, *, replace: bool = False) -> bool:
        """Save a view. Return False if a different view has this name and `replace` is False."""
        row = await self._database.fetch_one(_UPSERT_VIEW, tenant, replace_nul(name), query, replace)
        return row is not None


def _to_table_row(row: asyncpg.Record) -> TableRow:
    return from_row(TableRow, row, rank=None if row["rank"] is None else from_row(ProposalRank, row))
