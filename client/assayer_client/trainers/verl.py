"""Reward function for verl, which loads `compute_score` by its path:

reward.custom_reward_function.path=pkg://assayer_client.trainers.verl reward.custom_reward_function.name=compute_score
+reward.custom_reward_function.reward_kwargs.unjudged=0.0
"""

from collections.abc import Mapping
from typing import Any, TypedDict

from assayer_client.errors import InvalidRequest
from assayer_client.trainers.reward_sources import RewardQuery, RewardSource, get_default_reward_source


class VerlScore(TypedDict):
    score: float
    judged: float
    """1 if the judge reached a verdict, 0 if `score` is the substitute for a missing one. Logged as a metric."""


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    *,
    unjudged: float,
    judge: str | None = None,
    source: RewardSource | None = None,
    **_: Any,
) -> VerlScore:
    """Return the reward of one completion, judged against the abstract in `ground_truth` for the `question` in
    `extra_info`.

    verl does not support missing rewards, so a completion without a verdict gets the score `unjudged`; `judged`
    distinguishes the two cases in verl's metrics. By default, uses the service at ASSAYER_API_URL with the key in
    ASSAYER_API_KEY."""
    question = (extra_info or {}).get("question")
    if not isinstance(question, str):
        raise InvalidRequest(
            f"A row of {data_source} has no research question.", "Add the key `question` to its extra_info."
        )
    query = RewardQuery(question, solution_str, ground_truth)
    [value] = await (source or get_default_reward_source()).rewards([query], judge)
    return {"score": unjudged if value is None else value, "judged": float(value is not None)}
