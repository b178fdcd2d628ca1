"""Rewards as a job: what is stored already stays, what comes is stored at once, and one budget holds for all items."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from assayer import __version__
from assayer.methods.debate.composition import Composition
from assayer.models.reward import Reward, RewardItem
from assayer.ports import Progress
from assayer.run.run import Run
from cluster.clock import SystemClock
from cluster.reward_batch import judge_items
from cluster.reward_judge import RewardJudge
from cluster.run_request import ResultInputs, RunRequest, result_inputs, run_id
from cluster.settings import Settings
from orchestrator.execution.ports import LeaseLost
from orchestrator.jobs.models import Lease
from orchestrator.jobs.requests import NamedRewardItem, RewardsRequest
from orchestrator.jobs.results import RewardOutcome, RewardsResult
from orchestrator.store import PgRewards
from workers.llm.gateway import LlmGateway

__all__ = ["RewardJobs"]


@dataclass(frozen=True)
class RewardJobs:
    """Judges the items of one job after another, or of several at once."""

    settings: Settings
    judge: RewardJudge
    outcomes: PgRewards
    clock: SystemClock

    async def perform(
        self, lease: Lease, request: RewardsRequest, progress: Progress, run_request: RunRequest
    ) -> RewardsResult:
        """Raises InputError and NoFallback for a judge that cannot be asked, ConfigurationError where a budget in
        dollars has no prices, StorageError, and LeaseLost; begun again it goes on from what is stored."""
        judge = self.judge.chosen(request.composition or request.judge)
        self.judge.require_model(judge)
        run = Run(
            id=run_id("rw", inputs := self._inputs(request.items, judge), run_request.job),
            cutoff=None,
            clock=self.clock,
            progress=progress,
            budget=run_request.budget(self.settings.rewards),
            answers_of=run_request.answers_of,
        )
        if run.budget.max_usd is not None and isinstance(self.judge.llm, LlmGateway):
            self.judge.llm.require_prices()
        await run_request.begin(run.id, inputs)
        known = {one.item: one for one in await self.outcomes.outcomes(lease.job)}
        stored = len(known)

        async def keep(outcomes: Sequence[RewardOutcome]) -> None:
            nonlocal stored
            if not await self.outcomes.keep(lease, outcomes, stored):
                raise LeaseLost
            stored += len(outcomes)

        label = "own" if request.composition else judge.name
        concurrency = self.settings.rewards.concurrency
        try:
            await judge_items(request.items, partial(self._reward, judge), label, run, concurrency, keep, known)
        except BaseExceptionGroup as errors:
            raise _first(errors) from None
        return RewardsResult.of(judge.name, await self.outcomes.outcomes(lease.job))

    async def _reward(self, judge: Composition, item: RewardItem, run: Run) -> Reward:
        return await self.judge.reward(item, judge, run)

    def _inputs(self, items: Sequence[NamedRewardItem], judge: Composition) -> ResultInputs:
        """Everything that determines the rewards; the words of the items by their digest."""
        words = hashlib.sha256()
        for named in items:
            words.update(named.item.model_dump_json().encode())
        llm = self.settings.llm
        return result_inputs(
            {
                "assayer": __version__,
                "items": [len(items), words.hexdigest()],
                "judge": judge.model_dump(),
                "options": self.settings.debate.model_dump(mode="json"),
                "models": self.judge.llm.models,
                "llm": llm.result_inputs if llm else None,
                "embedder": self.judge.embedder.name,
            }
        )


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Of tasks that ended each other, the error that began it."""
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
