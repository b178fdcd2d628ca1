"""Finished rankings: summaries, ranks, and a call's rankings.

Pages read ranks without the comparisons, because a ranking of thousands of ideas has tens of thousands of them."""

import asyncio
import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from assayer.models import Absent, Frozen, IdeaId
from assayer.models.sender_references import reference_in
from assayer_client.comparisons import Comparison
from assayer_client.rankings import Band, ErasedRank, Judge, Ranking
from assayer_client.resources import Dollars
from orchestrator.jobs.models import BatchId, Job, JobId, JobState, Problem, TenantId
from orchestrator.jobs.submissions import Cursor
from orchestrator.store.database import Store
from orchestrator.store.job_sql import JOB_COLUMNS, reference_matches
from orchestrator.store.json_columns import from_json_column, replace_nul
from orchestrator.store.ranking_rows import RANKED_IDEA
from orchestrator.store.rows import from_row

_MAX_PROPOSAL_RANKS = 3
_MAX_UNRANKED = 500

_SELECT_RANKINGS = f"""
    SELECT {JOB_COLUMNS} FROM jobs
    WHERE tenant = $1 AND kind = 'ranking' AND ($3::text IS NULL OR state = $3)
      AND ($2::text IS NULL OR id IN (SELECT job FROM ranking_calls WHERE batch = $2))
      AND ($7::text IS NULL OR EXISTS (
          SELECT FROM ranking_ideas WHERE ranking_ideas.job = jobs.id AND {reference_matches("source", "$7", "true")}
      ))
      AND ($4::timestamptz IS NULL OR (created_at, id) < ($4, $5::text))
    ORDER BY created_at DESC, id DESC LIMIT $6
"""
_SELECT_SHARES = """
    SELECT ranking_calls.job, proposals,
           (SELECT count(*) FROM ranking_ideas WHERE ranking_ideas.job = jobs.id) AS ideas
    FROM ranking_calls JOIN jobs ON jobs.id = ranking_calls.job WHERE tenant = $1 AND ranking_calls.batch = $2
"""
_SELECT_SUMMARY = """
    SELECT head, size FROM jobs JOIN rankings ON rankings.job = jobs.id WHERE tenant = $1 AND jobs.id = $2
"""
# Returned as one row of arrays, because a row per idea takes several times as long to fetch.
_SELECT_STANDINGS = """
    WITH proposals AS (
        SELECT DISTINCT ON (idea_id) idea_id AS idea, jobs.id, run_id AS run
        FROM jobs JOIN evaluations ON evaluations.id = run_id
        WHERE tenant = $1 AND batch = $2 AND kind = 'evaluation' AND state = 'succeeded'
        ORDER BY idea_id, "row", jobs.id
    ), standing AS (
        SELECT ranking_ideas.*, proposals.id AS proposal, report_figures.score, figures ->> 'reason' AS unscored,
               report_figures.fit = 'poor' AS uncovered,
               text_group IS NOT NULL AND count(*) OVER (PARTITION BY text_group) > 1 AS alike
        FROM jobs JOIN rankings ON rankings.job = jobs.id JOIN ranking_ideas ON ranking_ideas.job = jobs.id
        LEFT JOIN proposals USING (idea) LEFT JOIN report_figures ON report_figures.run = proposals.run
        WHERE tenant = $1 AND jobs.id = $3 ORDER BY rank
    )
    SELECT array_agg(rank) AS ranks, array_agg(low) AS lows, array_agg(high) AS highs, array_agg(strength) AS strengths,
           array_agg(strength_low) AS strength_lows, array_agg(strength_high) AS strength_highs,
           array_agg(shortlist_probability) AS chances, array_agg(comparisons) AS comparisons,
           array_agg(alike) AS alike,
           array_agg(title) AS titles, array_agg(idea) AS ideas, array_agg(proposal) AS proposals,
           array_agg(score) AS scores, array_agg(unscored) AS unscored, array_agg(uncovered) AS uncovered
    FROM standing HAVING count(*) > 0
"""
_SELECT_UNRANKED = """
    SELECT jobs.id, "row", subject AS title, state, problem, count(*) OVER ()::integer AS total
    FROM jobs LEFT JOIN evaluations ON evaluations.id = run_id AND state = 'succeeded'
    WHERE tenant = $1 AND batch = $2 AND kind = 'evaluation'
      AND NOT EXISTS (
          SELECT FROM ranking_ideas WHERE ranking_ideas.job = $3 AND ranking_ideas.idea = evaluations.idea_id
      )
    ORDER BY "row", jobs.id LIMIT $4
"""
_SELECT_PROPOSAL_RANKS = """
    SELECT ranking.id AS ranking, ranking.subject, ranking.created_at, size, rank, low, high, band
    FROM jobs JOIN evaluations ON evaluations.id = jobs.run_id
    JOIN ranking_calls ON ranking_calls.batch = jobs.batch JOIN jobs AS ranking ON ranking.id = ranking_calls.job
    JOIN ranking_ideas ON ranking_ideas.job = ranking.id AND ranking_ideas.idea = evaluations.idea_id
    JOIN rankings ON rankings.job = ranking.id
    WHERE jobs.tenant = $1 AND ranking.tenant = $1 AND jobs.id = $2 AND jobs.state = 'succeeded'
    ORDER BY ranking.created_at DESC, ranking.id LIMIT $3
"""
_SELECT_RANKING = f"""
    SELECT head || jsonb_build_object('ideas', (
        SELECT jsonb_agg(ranked ORDER BY rank) FROM (
            SELECT rank, {RANKED_IDEA} AS ranked FROM ranking_ideas WHERE job = jobs.id
        ) AS ideas
    )) AS whole
    FROM jobs JOIN rankings ON rankings.job = jobs.id WHERE tenant = $1 AND jobs.id = $2
"""
_SELECT_SOURCES = """
    SELECT idea, source FROM jobs JOIN rankings ON rankings.job = jobs.id JOIN ranking_ideas USING (job)
    WHERE tenant = $1 AND jobs.id = $2
"""
_SELECT_COMPARISONS = """
    SELECT answer FROM jobs JOIN rankings ON rankings.job = jobs.id JOIN ranking_pairs USING (job)
    WHERE tenant = $1 AND jobs.id = $2 ORDER BY place
"""


class RankingSummary(Frozen):
    """A ranking without its ideas, as shown on pages."""

    dimension: str
    shortlist_size: int | None
    confidence: float
    judge: Judge
    has_starting_scores: bool
    stopped_early: Absent | None
    cost_usd: Dollars | Absent
    erased: tuple[ErasedRank, ...] = ()


class CallStandings(NamedTuple):
    """All ideas in a ranking as columns, best first."""

    ranks: list[int]
    lows: list[float]
    highs: list[float]
    strengths: list[float]
    strength_lows: list[float]
    strength_highs: list[float]
    chances: list[float | None]
    comparisons: list[int]
    alike: list[bool]
    """True for ideas whose text, as shown to the judge, was the same as another idea's."""
    titles: list[str]
    ideas: list[str]
    proposals: list[str | None]
    """Id of each idea's proposal in the call; None if the idea is not in the call or its proposal has been deleted."""
    scores: list[float | None]
    """Each idea's score from its report, 0 to 1; None if there is no score."""
    unscored: list[str | None]
    """Why an idea has no score; None if it has one."""
    uncovered: list[bool | None]
    """True if the corpus does not cover the idea's field; None if unknown."""


class UnrankedProposal(NamedTuple):
    """A call's proposal that is not in a ranking."""

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
    """Number of ranked ideas, including those erased later."""
    rank: int
    low: float
    high: float
    band: Band | None


class PgRankings(Store):
    async def list_rankings(
        self,
        tenant: TenantId,
        *,
        batch: BatchId | None = None,
        reference: str | None = None,
        state: JobState | None = None,
        after: Cursor | None = None,
        limit: int = 50,
    ) -> list[Job]:
        """Return rankings, newest first, optionally filtered. `batch` selects rankings with at least two of that call's
        proposals, regardless of who started them; `reference` selects those with an idea that has this reference."""
        name = None if reference is None else replace_nul(reference)
        return await self._database.select(
            Job, _SELECT_RANKINGS, tenant, batch, state, *(after or (None, None)), limit, name
        )

    async def list_shared_rankings(self, tenant: TenantId, batch: BatchId) -> dict[JobId, tuple[int, int]]:
        """Return a call's rankings that also contain ideas from elsewhere. For each, return the number of its ideas
        that are proposals in the call, and the number of all its ideas."""
        rows = await self._database.fetch(_SELECT_SHARES, tenant, batch)
        return {row["job"]: (row["proposals"], row["ideas"]) for row in rows if row["proposals"] < row["ideas"]}

    async def get_summary(self, tenant: TenantId, ranking: JobId) -> RankingSummary | None:
        """Return a ranking's summary; None if the ranking has not finished."""
        row = await self._database.fetch_one(_SELECT_SUMMARY, tenant, ranking)
        return None if row is None else from_json_column(RankingSummary, row["head"], f"Ranking {ranking}")

    async def get_standings(self, tenant: TenantId, batch: BatchId, ranking: JobId) -> CallStandings | None:
        """Return all ideas in a ranking, with the corresponding proposals in a call; None if the ranking has not
        finished."""
        return await self._database.select_one(CallStandings, _SELECT_STANDINGS, tenant, batch, ranking)

    async def list_unranked(
        self, tenant: TenantId, batch: BatchId, ranking: JobId
    ) -> tuple[Sequence[UnrankedProposal], int]:
        """Return the proposals in a call that are not in a ranking, and their total number. The list is in row order
        and contains at most 500."""
        rows = await self._database.fetch(_SELECT_UNRANKED, tenant, batch, ranking, _MAX_UNRANKED)
        return [from_row(UnrankedProposal, row) for row in rows], rows[0]["total"] if rows else 0

    async def list_proposal_ranks(self, tenant: TenantId, proposal: JobId) -> list[RankOfProposal]:
        """Return a proposal's ranks in the latest three rankings of its call."""
        return await self._database.select(
            RankOfProposal, _SELECT_PROPOSAL_RANKS, tenant, proposal, _MAX_PROPOSAL_RANKS
        )

    async def get_references(self, tenant: TenantId, ranking: JobId) -> dict[IdeaId, str]:
        """Return the senders' references for a ranking's ideas; empty if the ranking has not finished."""
        rows = await self._database.fetch(_SELECT_SOURCES, tenant, ranking)
        return {IdeaId(row["idea"]): reference_in(row["source"] or "") for row in rows}

    async def get_ranking(self, tenant: TenantId, ranking: JobId) -> Ranking | None:
        """Return a ranking without its comparisons; None if it has not finished."""
        row = await self._database.fetch_one(_SELECT_RANKING, tenant, ranking)
        if row is None:
            return None
        # Parsed in a thread, because there may be thousands of ideas.
        return await asyncio.to_thread(from_json_column, Ranking, row["whole"], f"Ranking {ranking}")

    async def list_comparisons(self, tenant: TenantId, ranking: JobId) -> tuple[Comparison, ...]:
        """Return the comparisons on which a ranking is based, in order; empty if it has not finished."""
        rows = await self._database.fetch(_SELECT_COMPARISONS, tenant, ranking)
        label = f"A comparison of ranking {ranking}"
        return await asyncio.to_thread(
            lambda: tuple(from_json_column(Comparison, row["answer"], label) for row in rows)
        )
