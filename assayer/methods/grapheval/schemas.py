"""Question and answer schemas for the GraphEval tasks. Answers state the evidence before the statement."""

from typing import Annotated, Literal

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.models import Frozen

ViewpointLabel = Annotated[str, Field(pattern=r"^V\d+$", description="Label of one of the viewpoints given, e.g. V3.")]


class ViewpointsQuestion(Frozen):
    idea: str
    limit: int


class ExtractedViewpoint(Frozen):
    words: Annotated[str, TextRole.COPIED] = Field(
        min_length=1, description="5 to 60 consecutive words copied exactly from the idea: what the statement rests on."
    )
    statement: Annotated[str, TextRole.RESTATES] = Field(
        min_length=1, description="6 to 40 words, one sentence, readable without the idea: pronouns replaced."
    )


class ExtractedViewpoints(Frozen):
    viewpoints: list[ExtractedViewpoint] = Field(min_length=1, description="In the order of the idea.")


class LabelledViewpoint(Frozen):
    label: str
    text: str


class RelationsQuestion(Frozen):
    idea: str
    viewpoints: tuple[LabelledViewpoint, ...]


class Relation(Frozen):
    first: ViewpointLabel
    second: ViewpointLabel
    kind: Literal["supporting", "opposing"]


class Relations(Frozen):
    relations: list[Relation]
