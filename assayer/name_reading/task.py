"""LLM task that finds names that the masking rules missed in an idea."""

from typing import Annotated

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.llm import Task
from assayer.models import Frozen
from assayer.prompts import Prompts


class NamesQuestion(Frozen):
    idea: str


class NamesAnswer(Frozen):
    people: list[Annotated[str, TextRole.COPIED]] = Field(description="Names copied from the text; may be empty.")


NAMES = Task[NamesQuestion, NamesAnswer](
    "blinding.names", Prompts("assayer.name_reading"), "names.v1.md", NamesAnswer, max_tokens=800
)
"""Task that asks for the names left in an idea."""
