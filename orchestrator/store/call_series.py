"""The figures of all proposals of a call, in columns: what plots are drawn from."""

import datetime as dt
import json
from collections.abc import Sequence
from typing import NamedTuple

from assayer.models.paper import FitLevel
from assayer.models.ranking import Band
from orchestrator.jobs.models import BatchId, TenantId
from orchestrator.store.call_tables import PROPOSALS
from orchestrator.store.database import Database

__all__ = ["CallSeries", "PgCallSeries", "RankSeries", "WordSeries"]

_NAMED = 50

# One row of arrays: a row for each proposal takes several times as long to fetch.
_COLUMNS = f"""{PROPOSALS}
    SELECT count(*) AS proposals, array_agg(score) FILTER (WHERE score IS NOT NULL) AS scores,
           coalesce(array_agg(finished_at) FILTER (WHERE finished_at IS NOT NULL), '{{}}') AS ended,
           coalesce(array_agg(cost_usd) FILTER (WHERE finished_at IS NOT NULL), '{{}}') AS costs,
           coalesce(array_agg(seconds) FILTER (WHERE finished_at IS NOT NULL), '{{}}') AS seconds,
           count(figures) AS reports, count(*) FILTER (WHERE fit = 'good') AS good,
           count(*) FILTER (WHERE fit = 'partial') AS partial, count(*) FILTER (WHERE fit = 'poor') AS poor
    FROM proposals
"""  # noqa: S608 - put together from constants
_WORDS = f"""{PROPOSALS}
    SELECT coalesce(array_agg(run), '{{}}') AS runs, coalesce(array_agg(fit), '{{}}') AS fits,
           coalesce(jsonb_agg(coalesce(nullif(figures -> 'words', 'null'), '[]')), '[]') AS words
    FROM (SELECT run, fit, figures FROM proposals WHERE figures IS NOT NULL ORDER BY run) AS reports
"""  # noqa: S608 - put together from constants
_RANKS = f"""{PROPOSALS}, ordered AS (
        SELECT id, subject, rank, low, high, band FROM proposals WHERE rank IS NOT NULL ORDER BY rank, "row", id
    )
    SELECT coalesce(array_agg(rank), '{{}}') AS ranks, coalesce(array_agg(low), '{{}}') AS lows,
           coalesce(array_agg(high), '{{}}') AS highs, coalesce(array_agg(band), '{{}}') AS bands,
           coalesce((array_agg(id))[:{_NAMED}], '{{}}') AS ids,
           coalesce((array_agg(subject))[:{_NAMED}], '{{}}') AS titles,
           (SELECT cut FROM ranking) AS cut
    FROM ordered
"""  # noqa: S608 - put together from constants


class CallSeries(NamedTuple):
    proposals: int
    scores: list[float]
    """0 to 1, of those that have one."""
    ended: list[dt.datetime]
    """Of those that have ended, as the two below."""
    costs: list[float | None]
    """US dollars; None: not known."""
    seconds: list[float | None]
    fits: dict[FitLevel | None, int]
    """How many reports say so of the corpus; None: they do not say."""


class RankSeries(NamedTuple):
    """Of the proposals of a call that a ranking holds, from the best."""

    ranks: list[int]
    lows: list[float]
    highs: list[float]
    bands: list[Band | None]
    ids: list[str]
    """Of the best fifty, and their titles below."""
    titles: list[str]
    cut: int | None
    """How many places the ranking was started with."""


class WordSeries(NamedTuple):
    """Of the proposals of a call that have a report, in the order of their runs."""

    runs: list[str]
    fits: list[FitLevel | None]
    words: list[Sequence[str]]
    """The most frequent first; none where they were not counted."""


class PgCallSeries:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_call(self, tenant: TenantId, batch: BatchId) -> CallSeries:
        row = await self._database.fetch_one(_COLUMNS, tenant, batch, "")
        if row is None:
            raise AssertionError("an aggregate without groups has one row")
        known: dict[FitLevel | None, int] = {"good": row["good"], "partial": row["partial"], "poor": row["poor"]}
        return CallSeries(
            row["proposals"],
            row["scores"] or [],
            row["ended"],
            row["costs"],
            row["seconds"],
            known | {None: row["reports"] - sum(known.values())},
        )

    async def words(self, tenant: TenantId, batch: BatchId) -> WordSeries:
        row = await self._database.fetch_one(_WORDS, tenant, batch, "")
        if row is None:
            raise AssertionError("an aggregate without groups has one row")
        return WordSeries(row["runs"], row["fits"], json.loads(row["words"]))

    async def ranks(self, tenant: TenantId, batch: BatchId, ranking: str) -> RankSeries:
        """Empty where the ranking holds none of them, or there is no such ranking."""
        row = await self._database.fetch_one(_RANKS, tenant, batch, ranking)
        if row is None:
            raise AssertionError("an aggregate without groups has one row")
        return RankSeries(row["ranks"], row["lows"], row["highs"], row["bands"], row["ids"], row["titles"], row["cut"])
