"""What reviewers think of a call: a table that the database sorts, filters and cuts into pages; and the call's scores
as columns, of which agreement is counted."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import asyncpg
from pydantic import Field

from assayer.models import Frozen
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.models import ScoreOverride
from orchestrator.store.database import Database
from orchestrator.store.rows import from_row

__all__ = ["PANEL_PAGE", "PanelPage", "PanelProposal", "PanelScores", "PanelView", "PgPanels", "Place"]

PANEL_PAGE = 50

_ORDERS = {"row": "NULL::int", "mean": "mean", "spread": "spread", "score": "counts", "missing": "missing"}
_ONLY = {
    "missing": "missing > 0",
    "apart": "spread >= 2",
    "overridden": "score IS NOT NULL",
    "set_aside": "set_aside > 0",
}
_LAST = 2**31 - 1
"""In place of a row that is not known: they come last."""

# Opinions are of people to whom the proposal is assigned: an assignment with an opinion does not end.
_GIVEN = """
    jobs JOIN assignments ON assignments.evaluation = jobs.id
    LEFT JOIN opinions USING (evaluation, member)
    LEFT JOIN (SELECT evaluation, member FROM conflicts WHERE cleared IS NULL) AS barring USING (evaluation, member)
    WHERE jobs.tenant = $1 AND jobs.batch = $2
"""
_COUNTS = "opinions.member IS NOT NULL AND barring.member IS NULL"
_PROPOSALS = f"""
    WITH given AS (
        SELECT evaluation, count(*) AS assigned, count(*) FILTER (WHERE opinions.member IS NULL) AS missing,
               count(opinions.member) FILTER (WHERE barring.member IS NOT NULL) AS set_aside,
               count(*) FILTER (WHERE {_COUNTS}) AS counted,
               sum(opinions.score) FILTER (WHERE {_COUNTS})::float8 AS total,
               max(opinions.score) FILTER (WHERE {_COUNTS}) - min(opinions.score) FILTER (WHERE {_COUNTS}) AS apart
        FROM {_GIVEN} GROUP BY evaluation
    ), proposals AS (
        SELECT jobs.id AS evaluation, "row", subject AS title, coalesce(assigned, 0) AS assigned,
               coalesce(missing, 0) AS missing, coalesce(set_aside, 0) AS set_aside, total / nullif(counted, 0) AS mean,
               CASE WHEN counted > 1 THEN apart END AS spread,
               coalesce(score_overrides.score::float8, total / nullif(counted, 0)) AS counts,
               score_overrides.score, reason, by, name, at
        FROM jobs LEFT JOIN given ON given.evaluation = jobs.id
        LEFT JOIN score_overrides ON score_overrides.evaluation = jobs.id
        WHERE jobs.tenant = $1 AND jobs.batch = $2 AND kind = 'evaluation' AND state <> 'cancelled'
          AND (given.evaluation IS NOT NULL OR score_overrides.evaluation IS NOT NULL)
    )
"""  # noqa: S608 - put together from constants
_PAGE_OF = f"""{_PROPOSALS}
    SELECT *, count(*) OVER () AS matching FROM proposals WHERE {{only}}
    ORDER BY {{order}} DESC NULLS LAST, "row", evaluation LIMIT {PANEL_PAGE} OFFSET $3
"""  # noqa: S608 - likewise
_AFTER = f"""{_PROPOSALS}
    SELECT * FROM proposals WHERE (coalesce("row", {_LAST}), evaluation) > (coalesce($3::int, {_LAST}), $4::text)
    ORDER BY coalesce("row", {_LAST}), evaluation LIMIT $5
"""  # noqa: S608 - likewise
# One row of arrays, as for plots: a row for each opinion takes several times as long to fetch.
_SCORES = f"""
    SELECT count(*) AS assigned, count(opinions.member) AS given, count(revised_at) AS revised,
           count(opinions.member) FILTER (WHERE barring.member IS NOT NULL) AS set_aside,
           coalesce(array_agg(member) FILTER (WHERE {_COUNTS}), '{{}}') AS members,
           coalesce(array_agg(evaluation) FILTER (WHERE {_COUNTS}), '{{}}') AS proposals,
           coalesce(array_agg(blind_score) FILTER (WHERE {_COUNTS}), '{{}}') AS blind,
           coalesce(array_agg(opinions.score) FILTER (WHERE {_COUNTS}), '{{}}') AS standing
    FROM {_GIVEN}
"""  # noqa: S608 - likewise


class PanelView(Frozen):
    """Which proposals of a panel are shown, and which first: the parameters of its address."""

    sort: Literal["row", "mean", "spread", "score", "missing"] = "row"
    """All but rows from the highest; what has no such figure last."""
    only: tuple[Literal["missing", "apart", "overridden", "set_aside"], ...] = Field(default=(), max_length=4)
    """Only those with opinions to come, with scores two or more apart, with a score that was set, with opinions that do
    not count; of several, those with all of it."""
    page: int = Field(default=1, ge=1, le=1_000)


class Place(NamedTuple):
    """Where one proposal stands in the order of the rows."""

    row: int | None
    evaluation: str


class PanelProposal(Frozen):
    """A proposal to which somebody is assigned, or whose score an officer has set."""

    evaluation: JobId
    row: int | None
    title: str
    assigned: int
    set_aside: int
    """Of the opinions, those of people whose conflict of interest stands: they count in no figure."""
    mean: float | None
    """Of the reviewers' scores as they stand; None without any that counts."""
    spread: int | None
    """Between the highest and the lowest; None for fewer than two."""
    override: ScoreOverride | None
    score: float | None
    """What counts: the override, else the mean."""


class PanelPage(NamedTuple):
    proposals: list[PanelProposal]
    matching: int
    """On all pages."""


class PanelScores(NamedTuple):
    """Of a call, proposals that were cancelled since included."""

    assigned: int
    given: int
    revised: int
    set_aside: int
    members: list[str]
    """One entry, as in the three below, for each opinion that counts."""
    proposals: list[str]
    blind: list[int]
    standing: list[int]


class PgPanels:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, tenant: TenantId, batch: BatchId, view: PanelView) -> PanelPage:
        only = " AND ".join(_ONLY[one] for one in view.only) or "true"
        query = _PAGE_OF.format(only=only, order=_ORDERS[view.sort])
        rows = await self._database.fetch(query, tenant, batch, (view.page - 1) * PANEL_PAGE)
        return PanelPage(list(map(_proposal, rows)), rows[0]["matching"] if rows else 0)

    async def proposals(
        self, tenant: TenantId, batch: BatchId, *, after: Place | None = None, limit: int | None = None
    ) -> Sequence[PanelProposal]:
        """In the order of the rows, from the first that comes after a place; None: all."""
        row, evaluation = after or Place(-1, "")
        rows = await self._database.fetch(_AFTER, tenant, batch, row, evaluation, limit)
        return list(map(_proposal, rows))

    async def scores(self, tenant: TenantId, batch: BatchId) -> PanelScores:
        row = await self._database.fetch_one(_SCORES, tenant, batch)
        if row is None:
            raise AssertionError("an aggregate without groups has one row")
        return from_row(PanelScores, row)


def _proposal(row: asyncpg.Record) -> PanelProposal:
    override = None if row["score"] is None else from_row(ScoreOverride, row)
    return from_row(PanelProposal, row, override=override, score=row["counts"])
