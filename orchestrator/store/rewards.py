"""What became of the items of a job of rewards: stored as they come, by the holder of the job's lease alone."""

from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.jobs.models import JobId, Lease
from orchestrator.jobs.requests import NamedRewardItem
from orchestrator.jobs.results import RewardOutcome
from orchestrator.store.database import Connection, Database
from orchestrator.store.json_columns import from_json_column, to_json_column
from orchestrator.store.notifications import event_notification, notify

__all__ = ["AskedReward", "PgRewards", "RewardsPage"]

# The job's row is held until the outcomes are in: a lease that is lost meanwhile was not lost before.
_KEEP = """
    WITH held AS (SELECT id FROM jobs WHERE id = $1 AND lease = $2 FOR SHARE), kept AS (
        INSERT INTO rewards (job, item, came, outcome)
        SELECT held.id, given.item, given.came, given.outcome
        FROM held, unnest($3::integer[], $4::integer[], $5::jsonb[]) AS given (item, came, outcome)
        ON CONFLICT (job, item) DO NOTHING
    )
    SELECT id FROM held
"""

_OUTCOMES = "SELECT outcome FROM rewards WHERE job = $1 ORDER BY item"
_AFTER = "SELECT came, outcome FROM rewards WHERE job = $1 AND came > $2 ORDER BY came LIMIT $3"
_ASKED = "SELECT jsonb_array_length(request -> 'items') FROM jobs WHERE id = $1 AND kind = 'rewards'"

_ITEM = """
    SELECT jobs.request -> 'items' -> $2::integer AS item, rewards.outcome
    FROM jobs LEFT JOIN rewards ON rewards.job = jobs.id AND rewards.item = $2
    WHERE jobs.id = $1 AND jobs.kind = 'rewards' AND $2 < jsonb_array_length(jobs.request -> 'items')
"""


class AskedReward(NamedTuple):
    item: NamedRewardItem
    outcome: RewardOutcome | None
    """None: not judged so far."""


class RewardsPage(NamedTuple):
    outcomes: tuple[RewardOutcome, ...]
    last: int
    """Number of the last of them, in the order in which they came; where there are none, the number asked for."""


class PgRewards:
    """Does not check tenants: ask `PgJobs` first whether the job is the caller's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, lease: Lease, outcomes: Sequence[RewardOutcome], before: int) -> bool:
        """`before`: how many the job had already. Whether the lease still held; if not, nothing was stored."""
        places = [one.item for one in outcomes]
        numbers = [before + number for number in range(1, len(outcomes) + 1)]
        documents = [to_json_column(one) for one in outcomes]

        async def work(connection: Connection) -> bool:
            held = await connection.fetchval(_KEEP, lease.job, lease.token, places, numbers, documents)
            if held is not None:
                await notify(connection, [event_notification(lease.job)])
            return held is not None

        return await self._database.run(work)

    async def outcomes(self, job: JobId) -> tuple[RewardOutcome, ...]:
        """Those that are there, in the order of the items."""
        rows = await self._database.fetch(_OUTCOMES, job)
        return tuple(from_json_column(RewardOutcome, row["outcome"], f"A reward of job {job}") for row in rows)

    async def after(self, job: JobId, number: int, limit: int) -> RewardsPage:
        """In the order in which they came, from 1 without gaps."""
        rows = await self._database.fetch(_AFTER, job, number, limit)
        outcomes = (from_json_column(RewardOutcome, row["outcome"], f"A reward of job {job}") for row in rows)
        return RewardsPage(tuple(outcomes), rows[-1]["came"] if rows else number)

    async def asked(self, job: JobId) -> int:
        """How many items were sent in."""
        row = await self._database.fetch_one(_ASKED, job)
        return 0 if row is None else int(row[0])

    async def item(self, job: JobId, place: int) -> AskedReward | None:
        """With its words, as it was sent in. `place` from 0, in 32 bits; None where the job has no such item."""
        row = await self._database.fetch_one(_ITEM, job, place)
        if row is None:
            return None
        what = f"Item {place} of job {job}"
        outcome = None if row["outcome"] is None else from_json_column(RewardOutcome, row["outcome"], what)
        return AskedReward(from_json_column(NamedRewardItem, row["item"], what), outcome)
