"""Reward function for TRL's trainers: `GRPOTrainer(reward_funcs=trl_reward(ServiceRewards()), ...)`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from assayer_client.errors import InvalidRequest
from assayer_client.trainers.reward_sources import RewardQuery, RewardSource

Completion = str | Sequence[Mapping[str, Any]]
"""Completion, as text or as the messages of a conversation."""


TrlReward = Callable[..., Awaitable[list[float | None]]]
"""Reward function that takes `prompts`, `completions` and the data set's columns, all lists of the same length."""


def trl_reward(
    source: RewardSource,
    *,
    judge: str | None = None,
    question: str = "question",
    abstract: str = "abstract",
    idea: Callable[[Completion], str] | None = None,
) -> TrlReward:
    """Return a TRL reward function. `question` and `abstract` name columns of the data set; `idea` extracts the idea
    from a completion; by default, the idea is its whole text. Without a verdict, the reward is None, which TRL excludes
    from the group's mean. The share of judged completions is logged as `judged`."""
    extract_idea = idea or extract_text

    async def assayer_reward(
        prompts: Sequence[Completion], completions: Sequence[Completion], **columns: Any
    ) -> list[float | None]:
        for name in (question, abstract):
            if name not in columns:
                raise InvalidRequest(
                    f"The data set has no column {name!r}.",
                    "Pass the names of the columns: trl_reward(question=…, abstract=…).",
                )
        rows = zip(columns[question], completions, columns[abstract], strict=True)
        values = await source.rewards(
            [
                RewardQuery(question_text, extract_idea(completion), abstract_text)
                for question_text, completion, abstract_text in rows
            ],
            judge,
        )
        if (log := columns.get("log_metric")) is not None:
            log("judged", sum(value is not None for value in values) / max(1, len(values)))
        return values

    return assayer_reward


def extract_text(completion: Completion) -> str:
    """Return a completion's text or, for a conversation, the text of its last message."""
    if isinstance(completion, str):
        return completion
    content = completion[-1]["content"] if completion else ""
    return content if isinstance(content, str) else "".join(str(part.get("text", "")) for part in content)
