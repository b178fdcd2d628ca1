"""Job performer for reward jobs."""

from dataclasses import dataclass

from assayer.ports import Progress
from assayer.run.run import Run
from assayer_client.rewards import Reward, RewardOutcome, RewardsResult
from cluster.item_batch import Ending, ItemWork, do_items_of_job
from cluster.reward_judge import RewardingJudge, RewardJudge, find_usable_judge
from cluster.run_request import RunRequest
from cluster.settings import Settings
from orchestrator.execution.metrics import REWARD_SECONDS, REWARDS
from orchestrator.jobs.item_outcomes import classify_reward_outcome, summarise_rewards
from orchestrator.jobs.models import Lease
from orchestrator.jobs.requests import NamedRewardItem, RewardsRequest
from orchestrator.store import PgRewards


@dataclass(frozen=True)
class RewardJobs:
    """Job performer for reward jobs. Items are judged individually."""

    settings: Settings
    judge: RewardJudge
    outcomes: PgRewards

    async def perform(
        self, lease: Lease, request: RewardsRequest, progress: Progress, run_request: RunRequest
    ) -> RewardsResult:
        """Judge all of a job's items. A restarted job continues from the stored outcomes.

        Raises InputError or NoFallback if the judge cannot be used, ConfigurationError if a dollar budget is set and
        prices are unknown, StorageError, and LeaseLost if another process has taken over the job."""
        judge = find_usable_judge(self.settings, request.composition or request.judge)
        run = await self.judge.start_run(request.items, judge, progress, run_request)
        work = define_reward_work(self.judge, judge, "own" if request.composition else judge.name)
        concurrency = self.settings.rewards.concurrency
        outcomes = await do_items_of_job(lease, request.items, work, run, concurrency, self.outcomes)
        return summarise_rewards(judge.name, outcomes)


def define_reward_work(
    judging: RewardJudge, judge: RewardingJudge, label: str
) -> ItemWork[NamedRewardItem, Reward, RewardOutcome]:
    """Return the work definition for reward items; `label` is the judge's name in the metrics."""

    async def do(item: NamedRewardItem, run: Run) -> Reward:
        return await judging.reward(item.item, judge, run)

    def build_outcome(ending: Ending[Reward]) -> RewardOutcome:
        reward_outcome = RewardOutcome(
            item=ending.item, id=ending.id, reward=ending.made, problem=ending.problem, seconds=ending.seconds
        )
        REWARDS.labels(label, classify_reward_outcome(reward_outcome)).inc()
        REWARD_SECONDS.labels(label).observe(reward_outcome.seconds)
        return reward_outcome

    return ItemWork(
        stage="rewards",
        words=lambda named: named.item,
        name=lambda named: named.id,
        do=do,
        outcome=build_outcome,
        without_result=("no-reward", "The item could not be judged"),
    )
