"""What the calls of this benchmark ask: prompts of an evaluation's usual length, no two alike."""

from typing import Literal

from pydantic import Field

from assayer.llm import Task
from assayer.models import Frozen
from assayer.prompts import Prompts

__all__ = ["JUDGING", "Statement", "Verdict", "a_statement"]

_SENTENCE = "Community composition follows the exudates of roots under water stress within days. "


class Statement(Frozen):
    number: int
    text: str


class Verdict(Frozen):
    stance: Literal["supports", "contradicts"]
    reason: str
    score: int = Field(ge=0, le=5)


JUDGING: Task[Statement, Verdict] = Task(
    name="benchmarks.judging",
    prompts=Prompts("benchmarks.gateway"),
    prompt="judging.v1.md",
    output=Verdict,
    max_tokens=500,
)


def a_statement(number: int, characters: int) -> Statement:
    return Statement(number=number, text=(_SENTENCE * (characters // len(_SENTENCE) + 1))[:characters])
