"""Reward jobs' outcomes, and their items as submitted."""

from typing import NamedTuple

from assayer_client.rewards import RewardOutcome
from orchestrator.jobs.models import JobId
from orchestrator.jobs.requests import NamedRewardItem
from orchestrator.store.database import Database
from orchestrator.store.item_outcomes import PgItemOutcomes

_SELECT_ITEM = """
    SELECT jobs.request -> 'items' -> $2::integer AS item, stored_outcome.outcome
    FROM jobs LEFT JOIN item_outcomes AS stored_outcome ON stored_outcome.job = jobs.id AND stored_outcome.item = $2
    WHERE jobs.id = $1 AND jobs.kind = 'rewards' AND $2 < jsonb_array_length(jobs.request -> 'items')
"""


class RequestedReward(NamedTuple):
    item: NamedRewardItem
    outcome: RewardOutcome | None
    """The item's outcome; None until it is judged."""


class PgRewards(PgItemOutcomes[RewardOutcome]):
    def __init__(self, database: Database) -> None:
        super().__init__(database, RewardOutcome)

    async def get_item(self, job: JobId, index: int) -> RequestedReward | None:
        """Return an item as submitted, with its outcome; None if the job has no such item. `index` counts from 0 and
        must fit in 32 bits."""
        return await self._database.select_one(RequestedReward, _SELECT_ITEM, job, index)
