"""Rewards as a job: what is stored already stays, what comes is stored at once, and one budget holds for all items."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from assayer.models.reward import Reward, RewardItem
from assayer.ports import Progress
from assayer.run.run import Run
from cluster.reward_batch import judge_items
from cluster.reward_judge import RewardingJudge, RewardJudge
from cluster.run_request import RunRequest
from cluster.settings import Settings
from orchestrator.execution.ports import LeaseLost
from orchestrator.jobs.models import Lease
from orchestrator.jobs.requests import RewardsRequest
from orchestrator.jobs.results import RewardOutcome, RewardsResult
from orchestrator.store import PgRewards

__all__ = ["RewardJobs"]


@dataclass(frozen=True)
class RewardJobs:
    """Judges the items of one job after another, or of several at once."""

    settings: Settings
    judge: RewardJudge
    outcomes: PgRewards

    async def perform(
        self, lease: Lease, request: RewardsRequest, progress: Progress, run_request: RunRequest
    ) -> RewardsResult:
        """Raises InputError and NoFallback for a judge that cannot be asked, ConfigurationError where a budget in
        dollars has no prices, StorageError, and LeaseLost; begun again it goes on from what is stored."""
        judge = self.judge.chosen(request.composition or request.judge)
        self.judge.require_model(judge)
        run = self.judge.new_run(request.items, judge, progress, run_request)
        await run_request.begin(run.id, self.judge.result_inputs(request.items, judge))
        known = {one.item: one for one in await self.outcomes.outcomes(lease.job)}
        stored = len(known)

        async def keep(outcomes: Sequence[RewardOutcome]) -> None:
            nonlocal stored
            if not await self.outcomes.keep(lease, outcomes, stored):
                raise LeaseLost
            stored += len(outcomes)

        label = "own" if request.composition else judge.name
        concurrency = self.settings.rewards.concurrency
        await judge_items(request.items, partial(self._reward, judge), label, run, concurrency, keep, known)
        return RewardsResult.of(judge.name, await self.outcomes.outcomes(lease.job))

    async def _reward(self, judge: RewardingJudge, item: RewardItem, run: Run) -> Reward:
        return await self.judge.reward(item, judge, run)
