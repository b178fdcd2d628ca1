"""The outcome of each item in a multi-item job, stored as it arrives. Only the holder of the job's lease can store
outcomes."""

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from assayer_client.item_jobs import ItemOutcome
from assayer_client.rewards import RewardOutcome
from orchestrator.jobs.models import JobId, Lease
from orchestrator.jobs.requests import NamedRewardItem
from orchestrator.store.database import Connection, Database
from orchestrator.store.json_columns import from_json_column, to_json_column
from orchestrator.store.notifications import make_event_notification, notify

Outcome = TypeVar("Outcome", bound=ItemOutcome)

# The job's row is locked until the outcomes are stored, so that the lease cannot be lost in between.
_INSERT_OUTCOMES = """
    WITH leased AS (SELECT id FROM jobs WHERE id = $1 AND lease = $2 FOR SHARE), inserted AS (
        INSERT INTO item_outcomes (job, item, came, outcome)
        SELECT leased.id, new_outcomes.item, new_outcomes.came, new_outcomes.outcome
        FROM leased, unnest($3::integer[], $4::integer[], $5::jsonb[]) AS new_outcomes (item, came, outcome)
        ON CONFLICT (job, item) DO NOTHING
    )
    SELECT id FROM leased
"""

_SELECT_OUTCOMES = "SELECT outcome FROM item_outcomes WHERE job = $1 ORDER BY item"
_SELECT_AFTER = "SELECT came, outcome FROM item_outcomes WHERE job = $1 AND came > $2 ORDER BY came LIMIT $3"
_COUNT_ITEMS = "SELECT jsonb_array_length(request -> 'items') FROM jobs WHERE id = $1"


class OutcomesPage(NamedTuple, Generic[Outcome]):
    outcomes: tuple[Outcome, ...]
    last: int
    """Number of the last outcome on the page, in order of arrival; for an empty page, the number that the caller
    passed."""


class PgItemOutcomes(Generic[Outcome]):
    """Item outcomes for one kind of job. Tenants are not checked: first use `PgJobs` to check that the job belongs to
    the caller."""

    def __init__(self, database: Database, outcome: type[Outcome]) -> None:
        self._database = database
        self._outcome = outcome

    async def store(self, lease: Lease, outcomes: Sequence[Outcome], stored_count: int) -> bool:
        """Store outcomes. Return False and store nothing if the lease is no longer valid. `stored_count` is the number
        of outcomes already stored for the job."""
        items = [outcome.item for outcome in outcomes]
        arrival_numbers = [stored_count + number for number in range(1, len(outcomes) + 1)]
        documents = [to_json_column(outcome) for outcome in outcomes]

        async def insert_outcomes(connection: Connection) -> bool:
            held_job = await connection.fetchval(
                _INSERT_OUTCOMES, lease.job, lease.token, items, arrival_numbers, documents
            )
            if held_job is not None:
                await notify(connection, [make_event_notification(lease.job)])
            return held_job is not None

        return await self._database.run(insert_outcomes)

    async def list_outcomes(self, job: JobId) -> tuple[Outcome, ...]:
        """Return the job's stored outcomes, in item order."""
        rows = await self._database.fetch(_SELECT_OUTCOMES, job)
        return tuple(from_json_column(self._outcome, row["outcome"], f"An outcome of job {job}") for row in rows)

    async def list_after(self, job: JobId, number: int, limit: int) -> OutcomesPage[Outcome]:
        """Return the outcomes that follow outcome `number`. They are numbered by arrival, from 1 without gaps."""
        rows = await self._database.fetch(_SELECT_AFTER, job, number, limit)
        outcomes = (from_json_column(self._outcome, row["outcome"], f"An outcome of job {job}") for row in rows)
        return OutcomesPage(tuple(outcomes), rows[-1]["came"] if rows else number)

    async def count_items(self, job: JobId) -> int:
        """Return the number of items in the job's request."""
        row = await self._database.fetch_one(_COUNT_ITEMS, job)
        return 0 if row is None else int(row[0])


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
