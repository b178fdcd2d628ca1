"""A reward for verifiers (v1), plugged in by its path or used in a task of one's own:

rewards: {methodology: {fn: "assayer_client.trainers.verifiers:methodology"}}
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from assayer_client.trainers.reward_sources import RewardQuery, RewardSource, Unjudged, rewards_of_environment

__all__ = ["JudgedTask", "JudgedTrace", "methodology", "verifiers_reward"]


class JudgedTask(Protocol):
    """Data of a task: a `vf.TaskData` with these fields."""

    @property
    def question(self) -> str: ...
    @property
    def abstract(self) -> str: ...


class JudgedTrace(Protocol):
    """A `vf.Trace`."""

    @property
    def last_reply(self) -> str: ...


def verifiers_reward(
    source: RewardSource, *, judge: str | None = None
) -> Callable[[JudgedTask, JudgedTrace], Awaitable[float]]:
    """Raises Unjudged where the judge came to no verdict: verifiers records it on the rollout, whose reward then is
    none, and goes on with the others."""

    async def methodology(task: JudgedTask, trace: JudgedTrace) -> float:
        asked = RewardQuery(task.question, trace.last_reply, task.abstract)
        [value] = await source.rewards([asked], judge)
        if value is None:
            raise Unjudged("The judge came to no verdict on this idea.")
        return value

    return methodology


async def methodology(task: JudgedTask, trace: JudgedTrace) -> float:
    """Of the service at ASSAYER_API_URL, by its own judge. Raises Unjudged."""
    return await verifiers_reward(rewards_of_environment())(task, trace)
