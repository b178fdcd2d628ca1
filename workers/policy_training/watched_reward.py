"""A reward function under watch: what it gave is logged beside the trainer's figures, and a silent judge stops all."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from assayer.errors import PartUnavailable
from assayer_client.trainers import TrlReward

__all__ = ["ACCURACY", "LENGTH_REWARDED", "LENGTH_UNREWARDED", "SCORED", "STRUCTURE", "SilentSteps", "watched_reward"]

LENGTH_REWARDED, LENGTH_UNREWARDED = "length_rewarded", "length_unrewarded"
"""Mean tokens of completions with a reward above 0, and of the others judged. Left out of a step without one."""

ACCURACY, STRUCTURE, SCORED = "accuracy", "structure", "scored"
"""Means of the parts of SciCompanion's reward, over the rollouts that have one, and the share that came to a score."""


class SilentSteps:
    """Counts steps without a single reward, one after another: nothing is learned in them."""

    def __init__(self, most: int, what: str, hint: str) -> None:
        self._most, self._what, self._hint, self._silent = most, what, hint, 0

    def note(self, rewarded: bool) -> None:
        """Raises PartUnavailable after the last step that is put up with."""
        self._silent = 0 if rewarded else self._silent + 1
        if self._silent >= self._most:
            raise PartUnavailable(f"{self._what} in {self._silent} steps, one after another.", self._hint)


def watched_reward(reward: TrlReward, most_steps_unjudged: int) -> TrlReward:
    """Raises PartUnavailable after so many steps in a row without a verdict, as nothing was learned in them."""
    silent = SilentSteps(
        most_steps_unjudged,
        "The judge came to no verdict",
        "See why in the service's log; the training goes on from its last checkpoint when it is begun again.",
    )

    async def assayer_reward(
        prompts: Sequence[Any],
        completions: Sequence[Any],
        *,
        completion_ids: Sequence[Sequence[int]],
        log_metric: Callable[[str, float], None],
        **columns: Any,
    ) -> list[float | None]:
        values = await reward(prompts, completions, log_metric=log_metric, **columns)
        silent.note(any(value is not None for value in values))
        for name, rewarded in ((LENGTH_REWARDED, True), (LENGTH_UNREWARDED, False)):
            lengths = [
                len(ids)
                for ids, value in zip(completion_ids, values, strict=True)
                if value is not None and math.isfinite(value) and (value > 0) == rewarded
            ]
            if lengths:
                log_metric(name, sum(lengths) / len(lengths))
        return values

    return assayer_reward
