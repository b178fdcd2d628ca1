"""Reword a plan to sound better without adding content. A language model rewords it, and a second request checks that
the content is unchanged."""

from typing import Annotated, NamedTuple

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.llm import Llm, Task, ask
from assayer.models import Frozen
from assayer.prompts import Prompts
from assayer.run.run import Run

_PROMPTS = Prompts("assayer.bias_test")


class PersuasiveQuestion(Frozen):
    plan: str


class PersuasiveAnswer(Frozen):
    idea: Annotated[str, TextRole.COPIED] = Field(
        min_length=1, description="The whole reworded plan, 100 to 3000 words, with its headings."
    )


class SameContentQuestion(Frozen):
    plan: str
    reworded: str


class SameContentAnswer(Frozen):
    added: Annotated[str, TextRole.RESTATES] = Field(description="At most 25 words; empty if nothing was added.")
    lost: Annotated[str, TextRole.RESTATES] = Field(description="At most 25 words; empty if nothing was lost.")
    same_content: bool


class PersuasiveCopy(NamedTuple):
    text: str
    objection: str
    """Content that the copy added or lost; empty if it has the same content as the plan."""


PERSUASIVE = Task[PersuasiveQuestion, PersuasiveAnswer](
    "bias_test.persuasive", _PROMPTS, "persuasive.v1.md", PersuasiveAnswer, tier="strong", max_tokens=6_000
)
PERSUASIVE_CHECK = Task[SameContentQuestion, SameContentAnswer](
    "bias_test.persuasive_check", _PROMPTS, "persuasive_check.v1.md", SameContentAnswer, tier="strong", max_tokens=800
)


async def reword_persuasively(plan: str, llm: Llm, run: Run) -> PersuasiveCopy:
    """Reword the plan to sound better, and report whether its content changed. Raises the same errors as
    `assayer.llm.ask`."""
    text = (await ask(llm, PERSUASIVE, PersuasiveQuestion(plan=plan), run)).idea
    check = await ask(llm, PERSUASIVE_CHECK, SameContentQuestion(plan=plan, reworded=text), run)
    if check.same_content:
        return PersuasiveCopy(text, "")
    changes = [
        f"{name}: {change.rstrip('.')}" for name, change in (("added", check.added), ("lost", check.lost)) if change
    ]
    return PersuasiveCopy(text, "; ".join(changes) or "the content is not the same")
