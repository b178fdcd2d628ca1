"""The panel of a call: its reviewers' opinions as a table that the database sorts, filters and paginates, and their
scores as columns, from which agreement is computed."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import asyncpg
from pydantic import Field

from assayer.models import Frozen
from assayer_client.reviewing import PanelProposal
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.models import ScoreOverride
from orchestrator.store.assignments import TITLE_FOR_REVIEWERS
from orchestrator.store.database import Store
from orchestrator.store.rows import PAGE, TablePage, from_row

_SORT_COLUMNS = {"row": "NULL::int", "mean": "mean", "spread": "spread", "score": "counts", "missing": "missing"}
_FILTERS = {
    "missing": "missing > 0",
    "apart": "spread >= 2",
    "overridden": "score IS NOT NULL",
    "excluded_opinions": "excluded_opinions > 0",
}
_LAST_ROW = 2**31 - 1
"""Sort value for proposals without a row number, so that they come last."""

# Every opinion has an assignment, because an assignment with an opinion never ends.
_ASSIGNMENTS = """
    jobs JOIN assignments ON assignments.evaluation = jobs.id
    LEFT JOIN opinions USING (evaluation, member)
    LEFT JOIN (
        SELECT evaluation, member FROM conflicts WHERE cleared_reason IS NULL
    ) AS open_conflicts USING (evaluation, member)
    WHERE jobs.tenant = $1 AND jobs.batch = $2
"""
_IS_COUNTED = "opinions.member IS NOT NULL AND open_conflicts.member IS NULL"
_PROPOSALS = f"""
    WITH by_proposal AS (
        SELECT evaluation, count(*) AS assigned_reviewers, count(*) FILTER (WHERE opinions.member IS NULL) AS missing,
               count(opinions.member) FILTER (WHERE open_conflicts.member IS NOT NULL) AS excluded_opinions,
               count(*) FILTER (WHERE {_IS_COUNTED}) AS counted,
               sum(opinions.score) FILTER (WHERE {_IS_COUNTED})::float8 AS total,
               max(opinions.score) FILTER (WHERE {_IS_COUNTED})
               - min(opinions.score) FILTER (WHERE {_IS_COUNTED}) AS apart
        FROM {_ASSIGNMENTS} GROUP BY evaluation
    ), proposals AS (
        SELECT jobs.id AS evaluation, "row", subject AS title, coalesce(assigned_reviewers, 0) AS assigned_reviewers,
               coalesce(missing, 0) AS missing, coalesce(excluded_opinions, 0) AS excluded_opinions,
               total / nullif(counted, 0) AS mean,
               CASE WHEN counted > 1 THEN apart END AS spread,
               coalesce(score_overrides.score::float8, total / nullif(counted, 0)) AS counts,
               score_overrides.score, reason, overridden_by_id, overridden_by, overridden_at
        FROM jobs LEFT JOIN by_proposal ON by_proposal.evaluation = jobs.id
        LEFT JOIN score_overrides ON score_overrides.evaluation = jobs.id
        WHERE jobs.tenant = $1 AND jobs.batch = $2 AND kind = 'evaluation' AND state <> 'cancelled'
          AND (by_proposal.evaluation IS NOT NULL OR score_overrides.evaluation IS NOT NULL)
    )
"""
_SELECT_PAGE = f"""{_PROPOSALS}
    SELECT *, count(*) OVER () AS matching FROM proposals WHERE {{only}}
    ORDER BY {{order}} DESC NULLS LAST, "row", evaluation LIMIT {PAGE} OFFSET $3
"""
_SELECT_ADJACENT = f"""{_PROPOSALS}, in_order AS (
        SELECT evaluation, lag(evaluation) OVER places AS previous, lead(evaluation) OVER places AS next
        FROM proposals WHERE {{only}} WINDOW places AS (ORDER BY {{order}} DESC NULLS LAST, "row", evaluation)
    )
    SELECT previous, next FROM in_order WHERE evaluation = $3
"""
_SELECT_AFTER = f"""{_PROPOSALS}
    SELECT * FROM proposals
    WHERE (coalesce("row", {_LAST_ROW}), evaluation) > (coalesce($3::int, {_LAST_ROW}), $4::text)
    ORDER BY coalesce("row", {_LAST_ROW}), evaluation LIMIT $5
"""
# Returned as one row of arrays: a row per opinion takes several times as long to fetch.
_SELECT_SCORES = f"""
    SELECT count(*) AS assigned_opinions, count(opinions.member) AS submitted_opinions,
           count(revised_at) AS revised_opinions,
           count(opinions.member) FILTER (WHERE open_conflicts.member IS NOT NULL) AS excluded_opinions,
           coalesce(array_agg(member) FILTER (WHERE {_IS_COUNTED}), '{{}}') AS members,
           coalesce(array_agg(evaluation) FILTER (WHERE {_IS_COUNTED}), '{{}}') AS proposals,
           coalesce(array_agg(blind_score) FILTER (WHERE {_IS_COUNTED}), '{{}}') AS blind,
           coalesce(array_agg(opinions.score) FILTER (WHERE {_IS_COUNTED}), '{{}}') AS current
    FROM {_ASSIGNMENTS}
"""


class PanelView(Frozen, defer_build=False):
    """Filters and sort order for a panel's proposals, taken from the page's URL parameters."""

    sort: Literal["row", "mean", "spread", "score", "missing"] = "row"
    """Column to sort by, in descending order except for `row`; proposals without a value come last."""
    only: tuple[Literal["missing", "apart", "overridden", "excluded_opinions"], ...] = Field(default=(), max_length=4)
    """Filters, all of which must match: `missing` for missing opinions, `apart` for scores two or more points apart,
    `overridden` for an overridden score, `excluded_opinions` for opinions that do not count."""
    page: int = Field(default=1, ge=1, le=1_000)


class PanelCursor(NamedTuple):
    """A proposal's position in row order."""

    row: int | None
    evaluation: str


class PanelScores(NamedTuple):
    """All scores given in a call, including those for proposals that have since been cancelled."""

    assigned_opinions: int
    submitted_opinions: int
    revised_opinions: int
    excluded_opinions: int
    members: list[str]
    """The reviewer who gave each opinion that counts; the three lists below are in the same order."""
    proposals: list[str]
    blind: list[int]
    current: list[int]


class AdjacentProposals(NamedTuple):
    """The previous and next proposals in a panel's table; None at either end."""

    previous: JobId | None
    next: JobId | None


class PgPanels(Store):
    async def get_page(self, tenant: TenantId, batch: BatchId, view: PanelView) -> TablePage[PanelProposal]:
        rows = await self._database.fetch(_apply_view(_SELECT_PAGE, view), tenant, batch, (view.page - 1) * PAGE)
        return TablePage.from_records(rows, list(map(_to_panel_proposal, rows)))

    async def get_adjacent(
        self, tenant: TenantId, batch: BatchId, view: PanelView, proposal: JobId
    ) -> AdjacentProposals:
        """Return the proposals before and after `proposal` in the view; both are None if the view does not contain
        it."""
        query = _apply_view(_SELECT_ADJACENT, view)
        adjacent = await self._database.select_one(AdjacentProposals, query, tenant, batch, proposal)
        return adjacent or AdjacentProposals(None, None)

    async def list_proposals(
        self, tenant: TenantId, batch: BatchId, *, after: PanelCursor | None = None, limit: int | None = None
    ) -> Sequence[PanelProposal]:
        """Return up to `limit` proposals in row order, beginning after the position `after` or with the first
        proposal."""
        row, evaluation = after or PanelCursor(-1, "")
        rows = await self._database.fetch(_SELECT_AFTER, tenant, batch, row, evaluation, limit)
        return list(map(_to_panel_proposal, rows))

    async def get_masked_titles(self, tenant: TenantId, batch: BatchId) -> dict[JobId, str]:
        """Return the titles of a call's proposals as reviewers see them: masked in blind mode."""
        query = f"SELECT id, {TITLE_FOR_REVIEWERS} AS title FROM jobs WHERE tenant = $1 AND batch = $2"
        return {row["id"]: row["title"] for row in await self._database.fetch(query, tenant, batch)}

    async def get_scores(self, tenant: TenantId, batch: BatchId) -> PanelScores:
        (scores,) = await self._database.select(PanelScores, _SELECT_SCORES, tenant, batch)
        return scores


def _apply_view(query: str, view: PanelView) -> str:
    """Return the query with the view's filters and sort order inserted."""
    return query.format(
        only=" AND ".join(_FILTERS[item] for item in view.only) or "true", order=_SORT_COLUMNS[view.sort]
    )


def _to_panel_proposal(row: asyncpg.Record) -> PanelProposal:
    override = None if row["score"] is None else from_row(ScoreOverride, row)
    return from_row(PanelProposal, row, override=override, score=row["counts"])
