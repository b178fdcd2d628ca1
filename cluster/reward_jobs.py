"""Rewards as a job of many items, and what is done with each of them."""

from dataclasses import dataclass

from assayer.models.reward import Reward
from assayer.ports import Progress
from assayer.run.run import Run
from cluster.item_batch import Ending, ItemWork, do_items_of_job
from cluster.reward_judge import RewardingJudge, RewardJudge
from cluster.run_request import RunRequest
from cluster.settings import Settings
from orchestrator.execution.metrics import REWARD_SECONDS, REWARDS
from orchestrator.jobs.models import Lease
from orchestrator.jobs.requests import NamedRewardItem, RewardsRequest
from orchestrator.jobs.results import RewardOutcome, RewardsResult
from orchestrator.store import PgRewards

__all__ = ["RewardJobs", "reward_work"]


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
        work = reward_work(self.judge, judge, "own" if request.composition else judge.name)
        concurrency = self.settings.rewards.concurrency
        outcomes = await do_items_of_job(lease, request.items, work, run, concurrency, self.outcomes)
        return RewardsResult.of(judge.name, outcomes)


def reward_work(
    judging: RewardJudge, judge: RewardingJudge, label: str
) -> ItemWork[NamedRewardItem, Reward, RewardOutcome]:
    """`label`: the judge's name in the metrics."""

    async def do(named: NamedRewardItem, run: Run) -> Reward:
        return await judging.reward(named.item, judge, run)

    def outcome(ending: Ending[Reward]) -> RewardOutcome:
        made = RewardOutcome(
            item=ending.item, id=ending.id, reward=ending.made, problem=ending.problem, seconds=ending.seconds
        )
        REWARDS.labels(label, made.ended_as).inc()
        REWARD_SECONDS.labels(label).observe(made.seconds)
        return made

    return ItemWork(
        stage="rewards",
        words=lambda named: named.item,
        name=lambda named: named.id,
        do=do,
        outcome=outcome,
        without_result=("no-reward", "The item could not be judged"),
    )
