"""The one question of a ranking: which of two ideas is better, in each respect."""

from typing import Annotated, Literal

from pydantic import Field

from assayer.models import Frozen
from assayer.models.ranking import Dimension
from assayer.tasks import Prompts, Task

__all__ = ["COMPARISON", "Answer", "Entry", "Question"]

_Words = Annotated[str, Field(min_length=1, max_length=400)]


class Question(Frozen):
    dimensions: tuple[Dimension, ...]
    first: str
    second: str


class Entry(Frozen):
    respect: str
    in_a: _Words = Field(description="At most 25 words: the one or two elements of idea A's plan that weigh most.")
    in_b: _Words = Field(description="At most 25 words: the one or two elements of idea B's plan that weigh most.")
    reason: _Words = Field(description="At most 30 words: why one outweighs the other.")
    better: Literal["A", "B", "tie"]


class Answer(Frozen):
    entries: tuple[Entry, ...]


def _check(question: Question, answer: Answer) -> list[str]:
    wanted = [dimension.name for dimension in question.dimensions]
    given = [entry.respect for entry in answer.entries]
    return [] if given == wanted else [f"`entries` must hold {', '.join(wanted)}, each once and in this order."]


COMPARISON = Task(
    name="ranking.comparison",
    prompts=Prompts("assayer.ranking"),
    prompt="comparison.v1.md",
    output=Answer,
    tier="strong",
    max_tokens=2_000,
    check=_check,
)
