"""Trajectories of text that a policy wrote and text that was put between: only what it wrote is learned from.

A token that retrieval or a prompt put in is context, never a target: its place in the mask is 0, its label is ignored,
and no gradient comes from predicting it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from assayer.errors import InputError

__all__ = [
    "IGNORED_LABEL",
    "RolloutBatch",
    "TrajectorySegment",
    "TrajectoryTokens",
    "rollout_batch",
    "trajectory_tokens",
    "walked_trajectories",
]

IGNORED_LABEL = -100
"""What losses of torch pass over."""


class TrajectorySegment(NamedTuple):
    ids: tuple[int, ...]
    generated: bool
    """By the policy that is trained; else injected: a prompt, retrieved text, a template's own tokens."""


@dataclass(frozen=True)
class TrajectoryTokens:
    prompt: tuple[int, ...]
    """What came before the policy's first token."""
    completion: tuple[int, ...]
    """Everything after, to the policy's last token."""
    mask: tuple[int, ...]
    """1 for each of its tokens that the policy wrote, 0 for those injected."""

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
    return TrajectoryTokens(prompt, tuple(completion[:end]), tuple(mask[:end]))


class RolloutBatch(TypedDict):
    """What TRL's `rollout_func` returns; `env_mask` is 1 where a token was the policy's."""

    prompt_ids: list[list[int]]
    completion_ids: list[list[int]]
    env_mask: list[list[int]]
    logprobs: None
    """Those of the sampler are needed only where it is another engine than the one that trains."""


def rollout_batch(trajectories: Sequence[TrajectoryTokens]) -> RolloutBatch:
    return RolloutBatch(
        prompt_ids=[list(one.prompt) for one in trajectories],
        completion_ids=[list(one.completion) for one in trajectories],
        env_mask=[list(one.mask) for one in trajectories],
        logprobs=None,
    )


def walked_trajectories(
    prompts: Sequence[Sequence[int]],
    steps: int,
    generate: Callable[[list[list[int]]], list[list[int]]],
    inject: Callable[[int, list[int]], Sequence[int] | None],
    most: int | None = None,
) -> list[TrajectoryTokens]:
    """`steps` times the policy writes (`generate`: contexts to continuations), and between two steps `inject` puts in
    what its last text (of that trajectory's number) found; None ends that trajectory."""
    walked = [[TrajectorySegment(tuple(prompt), False)] for prompt in prompts]
    going = list(range(len(walked)))
    for step in range(steps):
        written = generate([[token for one in walked[number] for token in one.ids] for number in going])
        for number, ids in zip(going, written, strict=True):
            walked[number].append(TrajectorySegment(tuple(ids), True))
        if step == steps - 1:
            break
        found = {number: inject(number, ids) for number, ids in zip(going, written, strict=True)}
        for number, put_in in found.items():
            if put_in is not None:
                walked[number].append(TrajectorySegment(tuple(put_in), False))
        going = [number for number in going if found[number] is not None]
        if not going:
            break
    return [trajectory_tokens(segments, most) for segments in walked]
