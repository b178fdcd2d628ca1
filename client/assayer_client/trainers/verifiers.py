"""Reward function for verifiers (v1), referenced by its import path or used in your own task:

rewards: {methodology: {fn: "assayer_client.trainers.verifiers:methodology"}}"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from assayer_client.trainers.reward_sources import RewardQuery, RewardSource, Unjudged, get_default_reward_source


class JudgedTask(Protocol):
    """Task data with the fields needed for judging, such as a `vf.TaskData`."""

    @property
    def question(self) -> str: ...
    @property
    def abstract(self) -> str: ...


class JudgedTrace(Protocol):
    """Trace of a rollout, such as a `vf.Trace`."""

    @property
    def last_reply(self) -> str: ...


def verifiers_reward(
    source: RewardSource, *, judge: str | None = None
) -> Callable[[JudgedTask, JudgedTrace], Awaitable[float]]:
    """Return a reward function for verifiers. If there is no verdict, it raises Unjudged; verifiers records this error
    on the rollout, which then has no reward, and continues with the other rollouts."""

    async def methodology(task: JudgedTask, trace: JudgedTrace) -> float:
        query = RewardQuery(task.question, trace.last_reply, task.abstract)
        [value] = await source.rewards([query], judge)
        if value is None:
            raise Unjudged("The judge reached no verdict on this idea.")
        return value

    return methodology


async def methodology(task: JudgedTask, trace: JudgedTrace) -> float:
    """Return the reward from the service at ASSAYER_API_URL, by the service's default judge. Raises Unjudged if there
    is no verdict."""
    return await verifiers_reward(get_default_reward_source())(task, trace)
