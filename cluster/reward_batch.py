"""Many items judged side by side: equal ones once, each to a reward or a problem, told as they come."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from assayer.errors import AssayerError, ConfigurationError, Defect, NoFallback, PartUnavailable, StorageError
from assayer.models.reward import Reward, RewardItem
from assayer.ports import ProgressEvent
from assayer.run.journal import Journal
from assayer.run.run import Run
from orchestrator.execution.metrics import REWARD_SECONDS, REWARDS
from orchestrator.jobs.models import Problem
from orchestrator.jobs.requests import NamedRewardItem
from orchestrator.jobs.results import RewardOutcome
from orchestrator.jobs.retry_policy import problem_of_error

__all__ = ["KeepOutcomes", "OneJudge", "judge_items"]

_LOG = logging.getLogger(__name__)

KeepOutcomes: TypeAlias = Callable[[Sequence[RewardOutcome]], Awaitable[None]]
"""Called with outcomes as they come, never twice at once. What it raises ends the work."""

_EVERYBODYS = (ConfigurationError, NoFallback, PartUnavailable, StorageError)
"""Errors that every other item would meet as well: the work ends with them, and may be begun again."""


OneJudge: TypeAlias = Callable[[RewardItem, Run], Awaitable[Reward]]
"""Raises AssayerError where it could not even begin; that it failed is told by a reward whose value is absent."""


async def judge_items(
    items: Sequence[NamedRewardItem],
    judge: OneJudge,
    label: str,
    run: Run,
    concurrency: int,
    keep: KeepOutcomes,
    known: Mapping[int, RewardOutcome],
) -> None:
    """`label`: the judge's name in the metrics. `known`: outcomes that are there already, by the items' places; these
    are not judged again. All items share the run's budget, and each has a journal of its own, from which its reward
    tells what it took. One item's failure is its own; errors that all items would meet are raised."""
    work = _Batch(items, judge, label, run, asyncio.Semaphore(concurrency), asyncio.Queue())
    run.report_progress("rewards", len(known), len(items))
    try:
        async with asyncio.TaskGroup() as group:
            keeping = group.create_task(_keep_all(work, keep, len(known)))
            async with asyncio.TaskGroup() as judging:
                for places in work.equal_items():
                    judging.create_task(work.judge(places, known))
            work.ended.put_nowait(None)
            await keeping
    except BaseExceptionGroup as errors:
        raise _first(errors) from None


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Of tasks that ended each other, the error that began it."""
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


async def _keep_all(work: "_Batch", keep: KeepOutcomes, done: int) -> None:
    """While some are being stored others come, and are stored together next."""
    while (first := await work.ended.get()) is not None:
        outcomes = list(first)
        last = False
        while not work.ended.empty() and not last:
            more = work.ended.get_nowait()
            last = more is None
            outcomes += more or ()
        await keep(outcomes)
        done += len(outcomes)
        work.run.report_progress("rewards", done, len(work.items))
        if last:
            return


class _Unwatched:
    """Of an item: the batch reports how many items there are."""

    def report(self, event: ProgressEvent) -> None:
        pass


@dataclass(frozen=True)
class _Batch:
    items: Sequence[NamedRewardItem]
    judged: OneJudge
    label: str
    run: Run
    slots: asyncio.Semaphore
    ended: "asyncio.Queue[Sequence[RewardOutcome] | None]"
    """Outcomes that are not stored yet; None after the last."""

    def equal_items(self) -> list[list[int]]:
        """Places of items with the same words, in the order of their first."""
        places: dict[RewardItem, list[int]] = {}
        for place, named in enumerate(self.items):
            places.setdefault(named.item, []).append(place)
        return list(places.values())

    async def judge(self, places: Sequence[int], known: Mapping[int, RewardOutcome]) -> None:
        first, *others = places
        outcome = known.get(first) or await self._outcome(first)
        found = [outcome, *(self._repeated(outcome, place) for place in others)]
        if new := [one for one in found if one.item not in known]:
            self.ended.put_nowait(new)

    async def _outcome(self, place: int) -> RewardOutcome:
        async with self.slots:
            clock = self.run.clock
            began = clock.monotonic()
            ended = await self._judged(self.items[place])
            seconds = round(clock.monotonic() - began, 3)
        outcome = RewardOutcome(
            item=place,
            id=self.items[place].id,
            reward=ended if isinstance(ended, Reward) else None,
            problem=ended if isinstance(ended, Problem) else None,
            seconds=seconds,
        )
        REWARDS.labels(self.label, outcome.ended_as).inc()
        REWARD_SECONDS.labels(self.label).observe(seconds)
        return outcome

    async def _judged(self, named: NamedRewardItem) -> Reward | Problem:
        run = replace(self.run, journal=Journal(), progress=_Unwatched())
        try:
            return await self.judged(named.item, run)
        except _EVERYBODYS:
            raise
        except AssayerError as error:
            return problem_of_error("no-reward", "The item could not be judged", error)
        except Exception as error:  # noqa: BLE001 - a defect of ours costs one item its reward, and no other
            _LOG.exception("an item of run %s", self.run.id)
            defect = Defect(f"assayer failed on this item: {type(error).__name__}: {error}.", "Please report it.")
            return problem_of_error("no-reward", "The item could not be judged", defect)

    def _repeated(self, first: RewardOutcome, place: int) -> RewardOutcome:
        free = {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
        reward = None if first.reward is None else first.reward.model_copy(update=free)
        named = {"item": place, "id": self.items[place].id, "same_as": first.item, "seconds": 0.0}
        return first.model_copy(update={**named, "reward": reward})
