"""Figures for all of a call's proposals, as columns for plots."""

import datetime as dt
import json
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from assayer.models import FitLevel
from assayer_client.rankings import Band
from orchestrator.jobs.models import BatchId, TenantId
from orchestrator.store.call_tables import PROPOSALS
from orchestrator.store.database import Store
from orchestrator.store.rows import from_row

_LABELLED_PROPOSALS = 50

# The result is one row of arrays, because a row for each proposal takes several times as long to fetch.
_SELECT_SERIES = f"""{PROPOSALS}
    SELECT count(*) AS proposals, coalesce(array_agg(score) FILTER (WHERE score IS NOT NULL), '{{}}') AS scores,
           coalesce(array_agg(finished_at) FILTER (WHERE finished_at IS NOT NULL), '{{}}') AS ended,
           coalesce(array_agg(cost_usd) FILTER (WHERE finished_at IS NOT NULL), '{{}}') AS costs,
           coalesce(array_agg(seconds) FILTER (WHERE finished_at IS NOT NULL), '{{}}') AS seconds,
           coalesce(array_agg(fit) FILTER (WHERE figures IS NOT NULL), '{{}}') AS fits
    FROM proposals
"""
_SELECT_WORDS = f"""{PROPOSALS}
    SELECT coalesce(array_agg(run), '{{}}') AS runs, coalesce(array_agg(fit), '{{}}') AS fits,
           coalesce(jsonb_agg(figures -> 'words'), '[]') AS words
    FROM (SELECT run, fit, figures FROM proposals WHERE figures IS NOT NULL ORDER BY run) AS reports
"""
_SELECT_RANKS = f"""{PROPOSALS}, ordered AS (
        SELECT id, subject, rank, low, high, band FROM proposals WHERE rank IS NOT NULL ORDER BY rank, "row", id
    )
    SELECT coalesce(array_agg(rank), '{{}}') AS ranks, coalesce(array_agg(low), '{{}}') AS lows,
           coalesce(array_agg(high), '{{}}') AS highs, coalesce(array_agg(band), '{{}}') AS bands,
           coalesce((array_agg(id))[:{_LABELLED_PROPOSALS}], '{{}}') AS ids,
           coalesce((array_agg(subject))[:{_LABELLED_PROPOSALS}], '{{}}') AS titles,
           (SELECT shortlist_size FROM ranking) AS shortlist_size
    FROM ordered
"""


class CallSeries(NamedTuple):
    proposals: int
    scores: list[float]
    """Scores, 0 to 1, of the proposals that have a score."""
    ended: list[dt.datetime]
    """End times of the proposals that have ended. `costs` and `seconds` list the same proposals in the same order."""
    costs: list[float | None]
    """Costs in US dollars; None if unknown."""
    seconds: list[float | None]
    fits: dict[FitLevel | None, int]
    """Number of reports by corpus fit; reports that do not state it are counted under None."""


class RankSeries(NamedTuple):
    """The ranks of a call's proposals in one ranking, best first. Proposals that the ranking does not contain are
    omitted."""

    ranks: list[int]
    lows: list[float]
    highs: list[float]
    bands: list[Band | None]
    ids: list[str]
    """Ids of the best 50 proposals; `titles` holds their titles."""
    titles: list[str]
    shortlist_size: int | None
    """The cutoff specified when the ranking was started."""


class WordSeries(NamedTuple):
    """The most frequent words and the corpus fit of each report in a call, as columns sorted by run id."""

    runs: list[str]
    fits: list[FitLevel | None]
    words: list[Sequence[str]]
    """Each proposal's words, the most frequent first."""


class PgCallSeries(Store):
    async def get_series(self, tenant: TenantId, batch: BatchId) -> CallSeries:
        (row,) = await self._database.fetch(_SELECT_SERIES, tenant, batch, "")
        fits: dict[FitLevel | None, int] = {"good": 0, "partial": 0, "poor": 0, None: 0} | Counter(row["fits"])
        return from_row(CallSeries, row, fits=fits)

    async def get_words(self, tenant: TenantId, batch: BatchId) -> WordSeries:
        (row,) = await self._database.fetch(_SELECT_WORDS, tenant, batch, "")
        return WordSeries(row["runs"], row["fits"], json.loads(row["words"]))

    async def get_ranks(self, tenant: TenantId, batch: BatchId, ranking: str) -> RankSeries:
        """Return the ranks of a call's proposals; empty if the ranking does not exist or contains none of them."""
        (ranks,) = await self._database.select(RankSeries, _SELECT_RANKS, tenant, batch, ranking)
        return ranks
