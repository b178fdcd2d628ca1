"""Wrap a reward function to log additional metrics, and to stop the training if the judge gives no verdicts."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from assayer.errors import ComponentUnavailable
from assayer_client.trainers import TrlReward

LENGTH_REWARDED, LENGTH_UNREWARDED = "length_rewarded", "length_unrewarded"
"""Mean number of tokens in completions with a reward above 0, and in all other judged completions. Each is omitted for
a step that has no such completions."""

ACCURACY, STRUCTURE, SCORED = "accuracy", "structure", "scored"
"""Means of the parts of SciCompanion's reward over rewarded rollouts, and the share of rollouts that reached a
score."""


class SilentSteps:
    """Counts consecutive steps without any reward, in which nothing is learned."""

    def __init__(self, max_silent: int, reward_kind: str, hint: str) -> None:
        self._max_silent, self._problem, self._hint, self._silent_steps = max_silent, reward_kind, hint, 0

    def record_step(self, has_reward: bool) -> None:
        """Record whether a step had a reward. Raises ComponentUnavailable after the maximum number of consecutive steps
        without one."""
        self._silent_steps = 0 if has_reward else self._silent_steps + 1
        if self._silent_steps >= self._max_silent:
            raise ComponentUnavailable(f"{self._problem} in {self._silent_steps} steps in a row.", self._hint)


def watch_reward(reward: TrlReward, max_unjudged_steps: int) -> TrlReward:
    """Wrap a reward function to raise ComponentUnavailable after `max_unjudged_steps` consecutive steps without any
    verdict, and to log the completions' lengths."""
    silent_steps = SilentSteps(
        max_unjudged_steps,
        "The judge reached no verdict",
        "The service's log gives the reason. Run the command again to resume from the last checkpoint.",
    )

    async def compute_watched_rewards(
        prompts: Sequence[Any],
        completions: Sequence[Any],
        *,
        completion_ids: Sequence[Sequence[int]],
        log_metric: Callable[[str, float], None],
        **columns: Any,
    ) -> list[float | None]:
        values = await reward(prompts, completions, log_metric=log_metric, **columns)
        silent_steps.record_step(any(value is not None for value in values))
        for name, rewarded in ((LENGTH_REWARDED, True), (LENGTH_UNREWARDED, False)):
            lengths = [
                len(ids)
                for ids, value in zip(completion_ids, values, strict=True)
                if value is not None and math.isfinite(value) and (value > 0) == rewarded
            ]
            if lengths:
                log_metric(name, sum(lengths) / len(lengths))
        return values

    return compute_watched_rewards
