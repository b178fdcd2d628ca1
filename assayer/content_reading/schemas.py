"""Question and answer of the task that extracts a paper's names and claims."""

from typing import Annotated, Literal

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.models import ContentKind, Frozen


class ContentQuestion(Frozen):
    title: str
    abstract: str


class ReadName(Frozen):
    name: Annotated[str, TextRole.COPIED] = Field(description="One unbroken stretch of the abstract or the title.")
    kind: ContentKind = Field(
        description="method: can be applied, run or measured with, as data sets and measures too. concept: is studied."
    )
    role: Literal["introduced", "built_on", "other"] = Field(
        description="introduced: new with this paper. built_on: what is introduced is a changed or extended form of "
        "it, or has it as a main part, by the text's own words. In doubt other."
    )


class ContentAnswer(Frozen):
    names: list[ReadName] = Field(description="At most 16, usually five to ten, the most central first.")
    claims: list[Annotated[str, TextRole.COPIED]] = Field(
        description="At most 3 sentences of the abstract, copied exactly, that tell an outcome; may be empty."
    )
