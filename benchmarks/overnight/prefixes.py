"""How much of what is sent to a language model is the beginning of an earlier call, which servers may keep.

Tokens are characters / 4, as the simulator counts them; of messages alone, the answer's schema not counted.
"""

import json
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

__all__ = ["Shares", "prompt_of", "shares"]

_CHARACTERS = 4
_LEAST_TOKENS, _STEP_TOKENS = 1_024, 128
"""OpenAI keeps beginnings of at least so many tokens, in steps of so many."""


class Shares(NamedTuple):
    """Of the prompt tokens of all calls."""

    tokens: int
    calls: int
    ever: float
    """The beginning of any earlier call, whatever their order."""
    in_steps: float
    """The same, where a server keeps beginnings as OpenAI says it does."""
    recent_as_asked: float
    """The beginning of one of the last few calls, in the order in which they were asked."""
    recent_sorted: float
    """The same, in the order of a batch's file."""


def prompt_of(body: dict[str, Any]) -> str:
    """The messages of a request, as a server reads them one after the other."""
    return "".join(json.dumps(message, ensure_ascii=False) for message in body["messages"])


def shares(prompts: Sequence[str], recent: int = 16) -> Shares:
    """`recent`: how many calls a small cache remembers."""
    in_order = sorted(prompts)
    # Of sorted texts, the neighbour before has the longest common beginning of all before.
    common = [_common(one, two) for one, two in pairwise(in_order)]
    whole = sum(len(prompt) // _CHARACTERS for prompt in prompts)
    return Shares(
        tokens=whole,
        calls=len(prompts),
        ever=sum(common) / whole,
        in_steps=sum(map(_stepped, common)) / whole,
        recent_as_asked=sum(_recent(prompts, recent)) / whole,
        recent_sorted=sum(_recent(in_order, recent)) / whole,
    )


def _common(one: str, two: str) -> int:
    """Tokens with which both begin."""
    shorter = min(len(one), len(two))
    differ_at = bisect_left(range(1, shorter + 1), True, key=lambda length: one[:length] != two[:length])
    return differ_at // _CHARACTERS


def _stepped(tokens: int) -> int:
    return tokens // _STEP_TOKENS * _STEP_TOKENS if tokens >= _LEAST_TOKENS else 0


def _recent(prompts: Iterable[str], most: int) -> Iterable[int]:
    last: deque[str] = deque(maxlen=most)
    for prompt in prompts:
        yield max((_common(prompt, one) for one in last), default=0)
        last.append(prompt)
