"""A judge of rewards that asks a language model one question an item, and the jobs that are done with it.

As a program it is a worker that is killed: `python -m tests.contract.reward_jobs_stand DATABASE_URL LLM_URL`.
"""

import asyncio
import sys
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import SecretStr

from assayer.errors import InputError
from assayer.llm import Llm, Task, ask
from assayer.models import EvaluationId, Frozen
from assayer.models.reward import RewardItem
from assayer.prompts import Prompts
from assayer.run.accounting import sum_costs
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from assayer_client.rewards import Reward
from cluster.clock import SystemClock
from cluster.reward_jobs import RewardJobs
from cluster.reward_judge import RewardingJudge, RewardJudge, find_usable_judge
from cluster.run_request import RunRequest
from cluster.settings import Settings
from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.models import JobVerdict, Lease
from orchestrator.jobs.requests import RewardsRequest
from orchestrator.store import Database, DatabaseSettings, PgAnswerCache, PgLeases, PgRewards
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.llm.gateway import LlmGateway

BROKEN, UNUSABLE = "an idea that meets a defect", "an idea that cannot be used"


class JudgeAnswer(Frozen):
    verdict: Literal["match", "no_match"]


class _Question(Frozen):
    idea: str
    abstract: str


_TASK = Task[_Question, JudgeAnswer](
    name="test.reward", prompts=Prompts("tests.contract"), prompt="reward.v1.md", output=JudgeAnswer
)


@dataclass(frozen=True)
class _AskingJudge(RewardJudge):
    async def reward(self, item: RewardItem, judge: str | RewardingJudge | None, run: Run) -> Reward:
        if item.idea == BROKEN:
            raise ZeroDivisionError("of this test")
        if item.idea == UNUSABLE:
            raise InputError("It cannot be used.")
        answer = await ask(self.llm, _TASK, _Question(idea=item.idea, abstract=item.abstract), run)
        calls = run.journal.calls
        return Reward(
            value=1 if answer.verdict == "match" else 0,
            reason="It was asked.",
            judge=find_usable_judge(self.settings, judge).name,
            llm_requests=len(calls),
            prompt_tokens=sum(call.prompt_tokens for call in calls),
            cost_usd=sum_costs(call for call in calls if not call.cached),
        )


def build_settings(llm_url: str) -> Settings:
    llm = {"base_url": llm_url, "model": "judge", "api_key": "sk-test", "prices": {"judge": [10.0, 20.0]}}
    return Settings.model_validate({"llm": llm, "rewards": {"concurrency": 2}})


@dataclass
class LeasedJobs:
    """Worker that leases reward jobs and runs them."""

    database: Database
    settings: Settings
    llm: Llm

    def __post_init__(self) -> None:
        self.leases = PgLeases(self.database, self.settings.queue)
        judge = _AskingJudge(self.settings, self.llm, HashingEmbedder(), SystemClock())
        self.jobs = RewardJobs(self.settings, judge, PgRewards(self.database))

    async def take(self) -> Lease:
        (lease,) = await self.leases.acquire("worker", FreeSlots(1))
        return lease

    async def do(self, lease: Lease) -> bool:
        """Perform a job. Returns whether its lease was held until the end."""
        assert isinstance(lease.request, RewardsRequest)

        async def begun(run: EvaluationId, inputs: dict[str, Any]) -> None:
            assert await self.leases.record_run(lease, run, inputs)

        request = RunRequest(
            job=lease.job,
            limits=lease.request.limits,
            max_usd=lease.max_usd,
            paid_usd=lease.paid_usd,
            paid_prompt_tokens=lease.paid_prompt_tokens,
            on_start=begun,
        )
        result = await self.jobs.perform(lease, lease.request, NoProgress(), request)
        return await self.leases.finish(lease, JobVerdict(state="succeeded", result=result.model_dump(mode="json")))


async def _work_until_killed(database_url: str, llm_url: str) -> None:
    settings = build_settings(llm_url)
    assert settings.llm is not None
    async with (
        Database(DatabaseSettings(url=SecretStr(database_url))) as database,
        LlmGateway(settings.llm, PgAnswerCache(database), SystemClock()) as llm,
    ):
        stand = LeasedJobs(database, settings, llm)
        await stand.do(await stand.take())


if __name__ == "__main__":
    asyncio.run(_work_until_killed(*sys.argv[1:]))
