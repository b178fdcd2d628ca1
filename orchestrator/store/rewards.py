"""Outcomes of jobs of rewards, and their items as they were sent in."""

from typing import NamedTuple

from orchestrator.jobs.models import JobId
from orchestrator.jobs.requests import NamedRewardItem
from orchestrator.jobs.results import RewardOutcome
from orchestrator.store.database import Database
from orchestrator.store.item_outcomes import PgItemOutcomes
from orchestrator.store.json_columns import from_json_column

__all__ = ["AskedReward", "PgRewards"]

_ITEM = """
    SELECT jobs.request -> 'items' -> $2::integer AS item, kept.outcome
    FROM jobs LEFT JOIN item_outcomes AS kept ON kept.job = jobs.id AND kept.item = $2
    WHERE jobs.id = $1 AND jobs.kind = 'rewards' AND $2 < jsonb_array_length(jobs.request -> 'items')
"""


class AskedReward(NamedTuple):
    item: NamedRewardItem
    outcome: RewardOutcome | None
    """None: not judged so far."""


class PgRewards(PgItemOutcomes[RewardOutcome]):
    def __init__(self, database: Database) -> None:
        super().__init__(database, RewardOutcome)

    async def item(self, job: JobId, place: int) -> AskedReward | None:
        """With its words, as it was sent in. `place` from 0, in 32 bits; None where the job has no such item."""
        row = await self._database.fetch_one(_ITEM, job, place)
        if row is None:
            return None
        what = f"Item {place} of job {job}"
        outcome = None if row["outcome"] is None else from_json_column(RewardOutcome, row["outcome"], what)
        return AskedReward(from_json_column(NamedRewardItem, row["item"], what), outcome)
