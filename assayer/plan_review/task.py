"""LLM task that finds flaws in a plan without consulting literature."""

from typing import Annotated

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.llm import Task
from assayer.models import Certainty, FlawAspect, Frozen
from assayer.prompts import Prompts

_PlanWords = Annotated[
    str,
    Field(min_length=1, description="8 to 40 consecutive words copied exactly from the plan."),
    TextRole.COPIED,
]


class DoubtedPlan(Frozen):
    idea: str


class FoundFlaw(Frozen):
    aspect: FlawAspect
    quote: _PlanWords
    text: str = Field(min_length=1, description="At most 50 words: what is wrong, and what cannot be concluded for it.")
    change: str = Field(description="At most 40 words: the least change that mends it; empty if none would.")
    certainty: Certainty


class LackingComparator(Frozen):
    text: str = Field(min_length=1, description="At most 25 words: what the plan should be compared with.")
    purpose: str = Field(description="At most 25 words: what the comparison would settle.")
    quote: _PlanWords
    query: Annotated[str, Field(min_length=1, description="One search query of 2 to 8 words."), TextRole.QUERY]


class FoundFlaws(Frozen):
    flaws: list[FoundFlaw] = Field(max_length=8, description="The most harmful first; empty if there are none.")
    comparators: list[LackingComparator] = Field(max_length=4, description="The most telling first; may be empty.")


FLAWS = Task[DoubtedPlan, FoundFlaws](
    "plan.flaws", Prompts("assayer.plan_review"), "flaws.v5.md", FoundFlaws, tier="strong"
)
