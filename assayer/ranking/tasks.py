"""The one question of a ranking: which of two ideas is better, in each respect."""

from dataclasses import replace
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, create_model

from assayer.models import Frozen
from assayer.models.ranking import Dimension
from assayer.tasks import Prompts, Task

__all__ = ["COMPARISON", "Answer", "Entry", "Question", "comparing"]

_Words = Annotated[str, Field(min_length=1, max_length=400)]


class Question(Frozen):
    dimensions: tuple[Dimension, ...]
    first: str
    second: str


class Entry(Frozen):
    label: str = Field(pattern=r"^D[1-9]\d?$", description="Label of the respect, as D1.")
    in_a: _Words = Field(description="At most 25 words: the one or two elements of idea A's plan that weigh most.")
    in_b: _Words = Field(description="At most 25 words: the one or two elements of idea B's plan that weigh most.")
    reason: _Words = Field(description="At most 30 words: why one outweighs the other.")
    better: Literal["A", "B", "tie"]


class Answer(Frozen):
    entries: tuple[Entry, ...]

    def of(self, number: int) -> Entry:
        """For the dimension that stands there in the question, counted from 1."""
        return next(entry for entry in self.entries if entry.label == f"D{number}")


def _check(question: Question, answer: Answer) -> list[str]:
    wanted = [f"D{number}" for number in range(1, len(question.dimensions) + 1)]
    given = sorted((entry.label for entry in answer.entries), key=lambda label: (len(label), label))
    return [] if given == wanted else [f"`entries` must hold one entry for each of {', '.join(wanted)}."]


COMPARISON = Task[Question, Answer](
    name="ranking.comparison",
    prompts=Prompts("assayer.ranking"),
    prompt="comparison.v2.md",
    output=Answer,
    tier="strong",
    max_tokens=2_000,
    check=_check,
)


@cache
def _answer_in(respects: int) -> type[Answer]:
    """The same answer with as many entries as there are respects."""
    described = Field(min_length=respects, max_length=respects, description="One for each respect, in order.")
    return create_model("Answer", __base__=Answer, entries=(tuple[Entry, ...], described))


def comparing(respects: int) -> Task[Question, Answer]:
    """One task under one name, its answer held to one entry a respect."""
    return replace(COMPARISON, output=_answer_in(respects))
