"""A reward function under watch: what it gave is logged beside the trainer's figures, and a silent judge stops all."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from assayer.errors import PartUnavailable
from assayer_client.trainers import TrlReward

__all__ = ["LENGTH_REWARDED", "LENGTH_UNREWARDED", "watched_reward"]

LENGTH_REWARDED, LENGTH_UNREWARDED = "length_rewarded", "length_unrewarded"
"""Mean tokens of completions with a reward above 0, and of the others judged. Left out of a step without one."""


def watched_reward(reward: TrlReward, most_steps_unjudged: int) -> TrlReward:
    """Raises PartUnavailable after so many steps in a row without a verdict, as nothing was learned in them."""
    silent = 0

    async def assayer_reward(
        prompts: Sequence[Any],
        completions: Sequence[Any],
        *,
        completion_ids: Sequence[Sequence[int]],
        log_metric: Callable[[str, float], None],
        **columns: Any,
    ) -> list[float | None]:
        nonlocal silent
        values = await reward(prompts, completions, log_metric=log_metric, **columns)
        silent = silent + 1 if all(value is None for value in values) else 0
        if silent >= most_steps_unjudged:
            raise PartUnavailable(
                f"The judge came to no verdict in {silent} steps, one after another.",
                "See why in the service's log; the training goes on from its last checkpoint when it is begun again.",
            )
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
