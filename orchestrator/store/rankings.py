"""Rankings beside their comparisons: what the judge was like, who stands where, which are of a call.

The database writes these rows itself, in the transaction of the verdict (v0033): a ranking of thousands rests on tens
of thousands of answers, and no page reads them to tell a rank.
"""

import asyncio
import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from assayer.models import Absent, Frozen, IdeaId
from assayer.models.base import Dollars
from assayer.models.ranking import Band, Comparison, ErasedRank, Judge, Ranking
from assayer.models.sender_references import reference_in
from orchestrator.jobs.models import BatchId, Job, JobId, JobState, Problem, TenantId
from orchestrator.jobs.submissions import Cursor
from orchestrator.store.database import Database
from orchestrator.store.job_sql import JOB_COLUMNS, job_of_row, referred_to
from orchestrator.store.json_columns import from_json_column, storable_text
from orchestrator.store.rows import from_row

__all__ = ["CallStandings", "PgRankings", "RankOfProposal", "RankingSummary", "UnrankedProposal"]

_RANKED_BEFORE = 3
_MOST_UNRANKED = 500

# Where there is a result, references are sought in it: unlike the request it does not hold the ideas' texts.
_LIST = f"""
    SELECT {JOB_COLUMNS} FROM jobs
    WHERE tenant = $1 AND kind = 'ranking' AND ($3::text IS NULL OR state = $3)
      AND ($2::text IS NULL OR id IN (SELECT job FROM ranking_calls WHERE batch = $2))
      AND ($7::text IS NULL OR EXISTS (
          SELECT FROM jsonb_array_elements(
              coalesce((SELECT ideas FROM rankings WHERE rankings.job = jobs.id), request -> 'ideas')
          ) AS one WHERE {referred_to("(one ->> 'source')", "$7", "true")}
      ))
      AND ($4::timestamptz IS NULL OR (created_at, id) < ($4, $5::text))
    ORDER BY created_at DESC, id DESC LIMIT $6
"""  # noqa: S608 - put together from constants
_SUMMARY = """
    SELECT head, size FROM jobs JOIN rankings ON rankings.job = jobs.id WHERE tenant = $1 AND jobs.id = $2
"""
# One row of arrays: a row for each idea takes several times as long to fetch.
_STANDINGS = """
    WITH proposals AS (
        SELECT DISTINCT ON (idea_id) idea_id AS idea, jobs.id, run_id AS run
        FROM jobs JOIN evaluations ON evaluations.id = run_id
        WHERE tenant = $1 AND batch = $2 AND kind = 'evaluation' AND state = 'done' ORDER BY idea_id, "row", jobs.id
    ), standing AS (
        SELECT ranked_ideas.*, proposals.id AS proposal, report_figures.score, figures ->> 'reason' AS unscored,
               report_figures.fit = 'poor' AS uncovered
        FROM jobs JOIN ranked_ideas ON ranked_ideas.job = jobs.id
        LEFT JOIN proposals USING (idea) LEFT JOIN report_figures ON report_figures.run = proposals.run
        WHERE tenant = $1 AND jobs.id = $3 ORDER BY rank
    )
    SELECT array_agg(rank) AS ranks, array_agg(low) AS lows, array_agg(high) AS highs, array_agg(strength) AS strengths,
           array_agg(strength_low) AS strength_lows, array_agg(strength_high) AS strength_highs,
           array_agg(chance_in) AS chances, array_agg(comparisons) AS comparisons, array_agg(alike) AS alike,
           array_agg(title) AS titles, array_agg(idea) AS ideas, array_agg(proposal) AS proposals,
           array_agg(score) AS scores, array_agg(unscored) AS unscored, array_agg(uncovered) AS uncovered
    FROM standing HAVING count(*) > 0
"""
_UNRANKED = """
    SELECT jobs.id, "row", subject AS title, state, problem, count(*) OVER ()::integer AS total
    FROM jobs LEFT JOIN evaluations ON evaluations.id = run_id AND state = 'done'
    WHERE tenant = $1 AND batch = $2 AND kind = 'evaluation'
      AND NOT EXISTS (SELECT FROM ranked_ideas WHERE ranked_ideas.job = $3 AND ranked_ideas.idea = evaluations.idea_id)
    ORDER BY "row", jobs.id LIMIT $4
"""
_OF_PROPOSAL = """
    SELECT ranking.id AS ranking, ranking.subject, ranking.created_at, size, rank, low, high, band
    FROM jobs JOIN evaluations ON evaluations.id = jobs.run_id
    JOIN ranking_calls ON ranking_calls.batch = jobs.batch JOIN jobs AS ranking ON ranking.id = ranking_calls.job
    JOIN ranked_ideas ON ranked_ideas.job = ranking.id AND ranked_ideas.idea = evaluations.idea_id
    JOIN rankings ON rankings.job = ranking.id
    WHERE jobs.tenant = $1 AND ranking.tenant = $1 AND jobs.id = $2 AND jobs.state = 'done'
    ORDER BY ranking.created_at DESC, ranking.id LIMIT $3
"""
_WHOLE = """
    SELECT head || jsonb_build_object('ideas', ideas) AS whole FROM jobs JOIN rankings ON rankings.job = jobs.id
    WHERE tenant = $1 AND jobs.id = $2
"""
_SOURCES = """
    SELECT one ->> 'id' AS idea, one ->> 'source' AS source
    FROM jobs JOIN rankings ON rankings.job = jobs.id CROSS JOIN jsonb_array_elements(ideas) AS one
    WHERE tenant = $1 AND jobs.id = $2
"""
_ANSWERS = """
    SELECT answer FROM jobs JOIN pair_verdicts ON pair_verdicts.job = jobs.id
    WHERE tenant = $1 AND jobs.id = $2 ORDER BY place
"""


class RankingSummary(Frozen):
    """Of all that a ranking says beside its ideas, what pages show."""

    dimension: str
    cut: int | None
    confidence: float
    judge: Judge
    seeded: bool
    stopped: Absent | None
    cost_usd: Dollars | Absent
    erased: tuple[ErasedRank, ...] = ()


class CallStandings(NamedTuple):
    """All ideas of a ranking, from the best, in columns."""

    ranks: list[int]
    lows: list[float]
    highs: list[float]
    strengths: list[float]
    strength_lows: list[float]
    strength_highs: list[float]
    chances: list[float | None]
    comparisons: list[int]
    alike: list[bool]
    """Whether the judge was shown the same text of another."""
    titles: list[str]
    ideas: list[str]
    proposals: list[str | None]
    """The proposal of the call that each is; None: it is none, or was deleted since."""
    scores: list[float | None]
    """Of their reports, 0 to 1; None: there is none."""
    unscored: list[str | None]
    """Why there is none."""
    uncovered: list[bool | None]
    """Whether the corpus does not cover its field; None: not known."""


class UnrankedProposal(NamedTuple):
    """A proposal of a call that a ranking does not hold."""

    id: JobId
    row: int | None
    title: str
    state: JobState
    problem: Problem | None


class RankOfProposal(NamedTuple):
    ranking: JobId
    subject: str
    created_at: dt.datetime
    size: int
    """How many were ranked, those included that were erased since."""
    rank: int
    low: float
    high: float
    band: Band | None


class PgRankings:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def listed(
        self,
        tenant: TenantId,
        *,
        batch: BatchId | None = None,
        reference: str | None = None,
        state: JobState | None = None,
        after: Cursor | None = None,
        limit: int = 50,
    ) -> list[Job]:
        """The newest first: all, those of two proposals of a call or more, whoever started them, or those with an idea
        that its sender calls so."""
        name = None if reference is None else storable_text(reference)
        rows = await self._database.fetch(_LIST, tenant, batch, state, *(after or (None, None)), limit, name)
        return [job_of_row(row) for row in rows]

    async def summary(self, tenant: TenantId, ranking: JobId) -> RankingSummary | None:
        """None: it is not done."""
        row = await self._database.fetch_one(_SUMMARY, tenant, ranking)
        return None if row is None else from_json_column(RankingSummary, row["head"], f"Ranking {ranking}")

    async def standings(self, tenant: TenantId, batch: BatchId, ranking: JobId) -> CallStandings | None:
        """With the proposals of a call that they are. None: it is not done."""
        row = await self._database.fetch_one(_STANDINGS, tenant, batch, ranking)
        return None if row is None else from_row(CallStandings, row)

    async def unranked(
        self, tenant: TenantId, batch: BatchId, ranking: JobId
    ) -> tuple[Sequence[UnrankedProposal], int]:
        """The first few hundred proposals of a call that a ranking does not hold, by their rows, and how many there
        are."""
        rows = await self._database.fetch(_UNRANKED, tenant, batch, ranking, _MOST_UNRANKED)
        found = [
            from_row(
                UnrankedProposal,
                row,
                problem=None
                if row["problem"] is None
                else from_json_column(Problem, row["problem"], f"The problem of job {row['id']}"),
            )
            for row in rows
        ]
        return found, rows[0]["total"] if rows else 0

    async def of_proposal(self, tenant: TenantId, proposal: JobId) -> list[RankOfProposal]:
        """Where it stands in the latest rankings of its call."""
        rows = await self._database.fetch(_OF_PROPOSAL, tenant, proposal, _RANKED_BEFORE)
        return [from_row(RankOfProposal, row) for row in rows]

    async def references(self, tenant: TenantId, ranking: JobId) -> dict[IdeaId, str]:
        """What senders call its ideas; empty where it is not done."""
        rows = await self._database.fetch(_SOURCES, tenant, ranking)
        return {IdeaId(row["idea"]): reference_in(row["source"] or "") for row in rows}

    async def whole(self, tenant: TenantId, ranking: JobId) -> Ranking | None:
        """All that it says, without the comparisons that it rests on. None: it is not done."""
        row = await self._database.fetch_one(_WHOLE, tenant, ranking)
        if row is None:
            return None
        # In a thread: thousands of ideas.
        return await asyncio.to_thread(from_json_column, Ranking, row["whole"], f"Ranking {ranking}")

    async def comparisons(self, tenant: TenantId, ranking: JobId) -> tuple[Comparison, ...]:
        """All that it rests on, in their order; none where it is not done."""
        rows = await self._database.fetch(_ANSWERS, tenant, ranking)
        what = f"A comparison of ranking {ranking}"
        return await asyncio.to_thread(lambda: tuple(from_json_column(Comparison, row["answer"], what) for row in rows))
