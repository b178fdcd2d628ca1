"""Question and answer of reading a paper's names and claims."""

from typing import Annotated, Literal

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.models import ContentKind, Frozen

__all__ = ["ContentAnswer", "ContentQuestion", "ReadName"]


class ContentQuestion(Frozen):
    title: str
    abstract: str


class ReadName(Frozen):
    name: Annotated[str, TextRole.COPIED] = Field(description="As the title or the abstract writes it.")
    kind: ContentKind
    role: Literal["introduced", "built_on", "other"] = Field(
        description="introduced: the paper proposes it. built_on: the paper extends or adapts it. Else other."
    )


class ContentAnswer(Frozen):
    names: list[ReadName] = Field(description="At most 16, those that the paper is about first.")
    claims: list[Annotated[str, TextRole.COPIED]] = Field(
        description="At most 3 sentences of the abstract, copied exactly, that say what was shown or found."
    )
