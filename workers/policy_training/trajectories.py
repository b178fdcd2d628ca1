"""Trajectories of text that a policy wrote and text that was put between: only what it wrote is learned from.

A token that retrieval or a prompt put in is context, never a target: its place in the mask is 0, its label is ignored,
and no gradient comes from predicting it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

from assayer.errors import InputError

__all__ = [
    "IGNORED_LABEL",
    "RolloutBatch",
    "RolloutGroups",
    "TrajectorySegment",
    "TrajectoryTokens",
    "rollout_batch",
    "trajectory_tokens",
]

IGNORED_LABEL = -100
"""What losses of torch pass over."""


class TrajectorySegment(NamedTuple):
    ids: tuple[int, ...]
    generated: bool
    """By the policy that is trained; else injected: a prompt, retrieved text, a template's own tokens."""
    logprobs: tuple[float | None, ...] = ()
    """Of its tokens, where another engine than the one that trains sampled them; else empty."""


@dataclass(frozen=True)
class TrajectoryTokens:
    prompt: tuple[int, ...]
    """What came before the policy's first token."""
    completion: tuple[int, ...]
    """Everything after, to the policy's last token."""
    mask: tuple[int, ...]
    """1 for each of its tokens that the policy wrote, 0 for those injected."""
    logprobs: tuple[float | None, ...] = ()
    """Of each of its tokens, None for those injected; empty where no sampler told any."""

    @property
    def labels(self) -> tuple[int, ...]:
        """Of prompt and completion together, for a loss over labels."""
        own = (token if written else IGNORED_LABEL for token, written in zip(self.completion, self.mask, strict=True))
        return (IGNORED_LABEL,) * len(self.prompt) + tuple(own)


def trajectory_tokens(segments: Sequence[TrajectorySegment], most: int | None = None) -> TrajectoryTokens:
    """`most`: tokens of the completion, whose end is cut off. Raises InputError where the policy wrote nothing of it,
    as there would be nothing to learn from."""
    first = next((number for number, one in enumerate(segments) if one.generated and one.ids), None)
    if first is None:
        raise InputError("The policy wrote nothing in this trajectory.")
    completion = [token for one in segments[first:] for token in one.ids][:most]
    mask = [int(one.generated) for one in segments[first:] for _ in one.ids][:most]
    end = len(mask) - mask[::-1].index(1)
    prompt = tuple(token for one in segments[:first] for token in one.ids)
    told = any(one.logprobs for one in segments)
    logprobs = [value for one in segments[first:] for value in one.logprobs or (None,) * len(one.ids)]
    return TrajectoryTokens(prompt, tuple(completion[:end]), tuple(mask[:end]), tuple(logprobs[:end]) if told else ())


class RolloutGroups(NamedTuple):
    """Rollouts that are more than one text after one prompt."""

    walk: Callable[[Sequence[str], Any], dict[str, Any]]
    """As TRL calls a `rollout_func`."""
    rows: int
    """Of one rollout: prompts with what the policy wrote after them."""


class RolloutBatch(TypedDict):
    """What TRL's `rollout_func` returns; `env_mask` is 1 where a token was the policy's."""

    prompt_ids: list[list[int]]
    completion_ids: list[list[int]]
    env_mask: list[list[int]]
    logprobs: list[list[float | None]] | None
    """The sampler's, where it is another engine than the one that trains: what corrects for the difference."""


def rollout_batch(trajectories: Sequence[TrajectoryTokens]) -> RolloutBatch:
    told = any(one.logprobs for one in trajectories)
    return RolloutBatch(
        prompt_ids=[list(one.prompt) for one in trajectories],
        completion_ids=[list(one.completion) for one in trajectories],
        env_mask=[list(one.mask) for one in trajectories],
        logprobs=[list(one.logprobs or (None,) * len(one.completion)) for one in trajectories] if told else None,
    )
