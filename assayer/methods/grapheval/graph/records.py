"""Viewpoints, the labelled ideas that a graph knows, and the graph as a whole."""

import datetime as dt
import hashlib
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import Field, model_validator

from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays
from assayer.models import Frozen, IdeaId
from assayer.ports import Vectors

__all__ = [
    "AdditionSummary",
    "GraphContents",
    "GraphPlan",
    "LabelledIdea",
    "PreparedIdea",
    "RefusedViewpoint",
    "Viewpoint",
    "Viewpoints",
]


class Viewpoint(Frozen):
    """One statement of an idea: an idea, an argument or a fact."""

    text: str
    """Readable without the rest of the idea, unless marked otherwise."""
    words: str
    """The words of the idea that it is based on, as they appear there, on one line."""
    self_contained: bool = True
    """False when it begins with a word whose referent could not be supplied."""


class RefusedViewpoint(Frozen):
    """A statement that is not used, and why."""

    text: str
    reason: str


class Viewpoints(Frozen):
    """All statements of one idea, in its order."""

    viewpoints: tuple[Viewpoint, ...]
    maker: str
    """`splitter v1`, or the task with its version and model."""
    refused: tuple[RefusedViewpoint, ...] = ()


class LabelledIdea(Frozen):
    """An idea whose outcome may be known: a decided submission, a rated proposal."""

    id: IdeaId
    """As its source names it."""
    title: str
    text: str
    """Without the title."""
    label: str | None
    date: dt.date | None
    """When it became known, for cutoffs."""
    url: str = ""

    @property
    def day(self) -> int:
        """Days since 1970-01-01, UNKNOWN without a date."""
        return UNKNOWN if self.date is None else (self.date - dt.date(1970, 1, 1)).days

    @property
    def digest(self) -> str:
        """Of the words: the same words are the same idea, however they are laid out."""
        return hashlib.sha256(" ".join(f"{self.title} {self.text}".split()).encode()).hexdigest()[:32]


class GraphPlan(Frozen):
    """What all viewpoints of a graph have in common; it never changes."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")
    embedder: str
    dimensions: int = Field(ge=1)
    maker: str
    """What split the ideas into viewpoints: the splitter, or a task with its version and model."""
    classes: tuple[str, ...] = Field(min_length=2)
    ordered: bool
    """Whether the classes stand from worst to best."""
    intra: int = Field(default=5, ge=1)
    inter: int = Field(default=10, ge=1)
    relations: bool = False
    """Edges inside an idea come from the language model's relations instead of from cosines."""

    @model_validator(mode="after")
    def _distinct(self) -> "GraphPlan":
        if len(set(self.classes)) != len(self.classes):
            raise ValueError("a class is named twice")
        return self


class PreparedIdea(NamedTuple):
    """An idea ready to be added to a graph: its viewpoints and their vectors."""

    idea: LabelledIdea
    viewpoints: Viewpoints
    vectors: Vectors
    """One unit row a viewpoint."""
    relations: tuple[tuple[int, int], ...] = ()
    """Places of related viewpoints, for graphs with relations."""


class AdditionSummary(NamedTuple):
    """How many ideas, viewpoints and edges were added."""

    ideas: int
    viewpoints: int
    edges: int
    """Undirected."""
    known: int
    """Ideas that were already there, with the same words."""
    labelled: int
    """Of these, how many had no label before."""


@dataclass(frozen=True)
class GraphContents:
    """A whole graph, read at one moment."""

    plan: GraphPlan
    version: str
    """Names exactly these contents."""
    arrays: GraphArrays
    ideas: tuple[LabelledIdea, ...]
    viewpoints: tuple[Viewpoint, ...]
    """In the order of the arrays' rows."""
