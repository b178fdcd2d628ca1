"""Process many items concurrently. Equal items are processed only once, and each result or problem is reported and
stored as it arrives."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from assayer.errors import AssayerError, ComponentUnavailable, ConfigurationError, Defect, NoFallback, StorageError
from assayer.run.journal import Journal
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from assayer_client.item_jobs import ItemOutcome
from orchestrator.execution.metrics import ITEM_SECONDS, ITEMS
from orchestrator.execution.ports import LeaseLost
from orchestrator.jobs.item_outcomes import copy_for_duplicate
from orchestrator.jobs.models import Lease, Problem
from orchestrator.jobs.retry_policy import build_error_problem
from orchestrator.store import PgItemOutcomes

_LOG = logging.getLogger(__name__)

Item = TypeVar("Item")
Made = TypeVar("Made")
Ended = TypeVar("Ended", bound=ItemOutcome)

KeepOutcomes: TypeAlias = Callable[[Sequence[Ended]], Awaitable[None]]
"""Callback that receives outcomes as they arrive, never concurrently. If it raises an exception, the work ends."""

_FATAL_ERRORS = (ConfigurationError, NoFallback, ComponentUnavailable, StorageError)
"""Errors that would affect every other item too. They end the work, which can be restarted."""


class Ending(NamedTuple, Generic[Made]):
    """Result of processing an item: the values from which its outcome is built."""

    item: int
    id: str
    made: Made | None
    problem: Problem | None
    seconds: float
    journal: Journal
    """Journal of this item only."""


@dataclass(frozen=True)
class ItemWork(Generic[Item, Made, Ended]):
    """Definition of how to process each item."""

    stage: str
    """Stage name shown in progress, for example `rewards`."""
    words: Callable[[Item], Hashable]
    """Function that returns everything that determines the result. Items with equal keys are processed once."""
    name: Callable[[Item], str]
    """Function that returns the caller's name for an item."""
    do: Callable[[Item, Run], Awaitable[Made]]
    """Function that processes an item. It raises AssayerError if there is no result; partial failures are marked as
    absent in the result."""
    outcome: Callable[[Ending[Made]], Ended]
    further_fatal_errors: tuple[type[AssayerError], ...] = ()
    """Errors, besides the usual ones, that affect all items."""
    without_result: tuple[str, str] = ("no-result", "The item could not be processed")
    """Type and title of the problem reported for a failed item."""


async def do_items_of_job(
    lease: Lease,
    items: Sequence[Item],
    work: ItemWork[Item, Made, Ended],
    run: Run,
    concurrency: int,
    outcomes: PgItemOutcomes[Ended],
) -> tuple[Ended, ...]:
    """Process a job's items and return all outcomes in item order. Items with stored outcomes are skipped; new outcomes
    are stored as they arrive. Raises LeaseLost if another process has taken over the job."""
    stored_outcomes = {outcome.item: outcome for outcome in await outcomes.list_outcomes(lease.job)}
    stored_count = len(stored_outcomes)

    async def keep(ended: Sequence[Ended]) -> None:
        nonlocal stored_count
        if not await outcomes.store(lease, ended, stored_count):
            raise LeaseLost
        stored_count += len(ended)

    await do_items(items, work, run, concurrency, keep, stored_outcomes)
    return await outcomes.list_outcomes(lease.job)


async def do_items(
    items: Sequence[Item],
    work: ItemWork[Item, Made, Ended],
    run: Run,
    concurrency: int,
    keep: KeepOutcomes[Ended],
    stored_outcomes: Mapping[int, Ended],
) -> None:
    """Process items concurrently, skipping those in `stored_outcomes` (outcomes keyed by item position). All items
    share the run's budget; each has its own journal, from which its outcome reports its usage. A failed item affects no
    other item; errors that would affect all items are raised."""
    batch = _Batch(items, work, run, asyncio.Semaphore(concurrency), asyncio.Queue())
    run.report_progress(work.stage, len(stored_outcomes), len(items))
    try:
        async with asyncio.TaskGroup() as group:
            keeping_task = group.create_task(_keep_all(batch, keep, len(stored_outcomes)))
            async with asyncio.TaskGroup() as item_tasks:
                for equal_places in batch.group_equal_items():
                    item_tasks.create_task(batch.do(equal_places, stored_outcomes))
            batch.ended.put_nowait(None)
            await keeping_task
    except BaseExceptionGroup as errors:
        raise _root_error(errors) from None


def _root_error(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error in the (possibly nested) group: the error that caused the other tasks' cancellation."""
    first_error = errors.exceptions[0]
    return _root_error(first_error) if isinstance(first_error, BaseExceptionGroup) else first_error


async def _keep_all(batch: "_Batch[Item, Made, Ended]", keep: KeepOutcomes[Ended], done: int) -> None:
    """Store outcomes as they arrive. Those that arrive during a write are stored together in the next write."""
    while (first_outcomes := await batch.ended.get()) is not None:
        outcomes = list(first_outcomes)
        is_last = False
        while not batch.ended.empty() and not is_last:
            next_outcomes = batch.ended.get_nowait()
            is_last = next_outcomes is None
            outcomes += next_outcomes or ()
        await keep(outcomes)
        done += len(outcomes)
        batch.run.report_progress(batch.work.stage, done, len(batch.items))
        if is_last:
            return


@dataclass(frozen=True)
class _Batch(Generic[Item, Made, Ended]):
    items: Sequence[Item]
    work: ItemWork[Item, Made, Ended]
    run: Run
    slots: asyncio.Semaphore
    ended: "asyncio.Queue[Sequence[Ended] | None]"
    """Queue of outcomes not stored yet, with None after the last."""

    def group_equal_items(self) -> list[list[int]]:
        """Return the positions of items, grouped by equal keys. Groups are ordered by their first item."""
        places: dict[Hashable, list[int]] = {}
        for place, item in enumerate(self.items):
            places.setdefault(self.work.words(item), []).append(place)
        return list(places.values())

    async def do(self, places: Sequence[int], stored_outcomes: Mapping[int, Ended]) -> None:
        first_place, *other_places = places
        outcome = stored_outcomes.get(first_place) or await self._process_item(first_place)
        outcomes = [outcome, *(copy_for_duplicate(outcome, place, self._name(place)) for place in other_places)]
        if new_outcomes := [outcome for outcome in outcomes if outcome.item not in stored_outcomes]:
            self.ended.put_nowait(new_outcomes)

    def _name(self, place: int) -> str:
        return self.work.name(self.items[place])

    async def _process_item(self, place: int) -> Ended:
        async with self.slots:
            clock = self.run.clock
            began = clock.monotonic()
            run = replace(self.run, journal=Journal(), progress=NoProgress())
            result, problem = await self._try_item(self.items[place], run)
            seconds = round(clock.monotonic() - began, 3)
        ITEMS.labels(self.work.stage, "done" if problem is None else "problem").inc()
        ITEM_SECONDS.labels(self.work.stage).observe(seconds)
        return self.work.outcome(Ending(place, self._name(place), result, problem, seconds, run.journal))

    async def _try_item(self, item: Item, run: Run) -> tuple[Made | None, Problem | None]:
        try:
            return await self.work.do(item, run), None
        except AssayerError as error:
            if isinstance(error, (*_FATAL_ERRORS, *self.work.further_fatal_errors)):
                raise
            return None, build_error_problem(*self.work.without_result, error)
        except Exception as error:  # noqa: BLE001 - a bug in assayer fails this item only
            _LOG.exception("an item of run %s", self.run.id)
            message = f"An internal error occurred while processing this item: {type(error).__name__}: {error}."
            defect = Defect(message, "Please report it.")
            return None, build_error_problem(*self.work.without_result, defect)
