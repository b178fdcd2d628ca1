"""Records for viewpoints, for the labelled ideas in a graph, and for the graph as a whole."""

import datetime as dt
import hashlib
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import Field, model_validator

from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays
from assayer.models import Frozen, IdeaId
from assayer.ports import Vectors


def count_days_since_1970(date: dt.date | None) -> int:
    """Return the date as days since 1970-01-01, or UNKNOWN if there is none."""
    return UNKNOWN if date is None else (date - dt.date(1970, 1, 1)).days


class Viewpoint(Frozen):
    """A single statement from an idea, such as a proposition, an argument or a fact."""

    text: str
    """The statement's text. It can be understood without the rest of the idea, unless `self_contained` is false."""
    words: str
    """The idea's words on which the statement is based, verbatim and on one line."""
    self_contained: bool = True
    """False if the statement cannot be understood on its own: it begins with a word, such as a pronoun, whose referent
    was not found."""


class RefusedViewpoint(Frozen):
    """A statement that was rejected, with the reason."""

    text: str
    reason: str


class Viewpoints(Frozen):
    """All statements from one idea, in the idea's order."""

    viewpoints: tuple[Viewpoint, ...]
    maker: str
    """Name of the extractor: `splitter v1`, or the task with its version and model."""
    refused: tuple[RefusedViewpoint, ...] = ()


class LabelledIdea(Frozen):
    """An idea whose outcome may be known, such as a decided submission or a rated proposal."""

    id: IdeaId
    """The idea's id in its source."""
    title: str
    text: str
    """The idea's text, without the title."""
    label: str | None
    date: dt.date | None
    """Date on which the idea became public, for cutoffs."""
    url: str = ""

    @property
    def day(self) -> int:
        """The date as days since 1970-01-01, or UNKNOWN if there is none."""
        return count_days_since_1970(self.date)

    @property
    def digest(self) -> str:
        """Hash of the words. Texts with the same words are the same idea, regardless of layout."""
        return hashlib.sha256(" ".join(f"{self.title} {self.text}".split()).encode()).hexdigest()[:32]


class GraphPlan(Frozen):
    """Properties shared by all viewpoints in a graph; they never change."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")
    embedder: str
    dimensions: int = Field(ge=1)
    maker: str
    """Name of the viewpoints' extractor: the splitter, or a task with its version and model."""
    classes: tuple[str, ...] = Field(min_length=2)
    ordered: bool
    """Whether the classes are ordered from worst to best."""
    intra: int = Field(default=5, ge=1)
    inter: int = Field(default=10, ge=1)
    relations: bool = False
    """Whether edges within an idea come from the language model's relations rather than from cosines."""

    @model_validator(mode="after")
    def _distinct(self) -> "GraphPlan":
        if len(set(self.classes)) != len(self.classes):
            raise ValueError("class names must be distinct")
        return self


class PreparedIdea(NamedTuple):
    """An idea that is ready to be added to a graph, with its viewpoints and their vectors."""

    idea: LabelledIdea
    viewpoints: Viewpoints
    vectors: Vectors
    """The viewpoints' unit vectors, one row per viewpoint."""
    relations: tuple[tuple[int, int], ...] = ()
    """Positions of related viewpoints, in pairs, for graphs with relations."""


class AdditionSummary(NamedTuple):
    """Counts of what was added to a graph."""

    ideas: int
    viewpoints: int
    edges: int
    """Number of undirected edges added."""
    known: int
    """Number of ideas that were already in the graph with the same words."""
    labelled: int
    """Number of known ideas that got their first label."""


@dataclass(frozen=True)
class GraphContents:
    """The contents of a whole graph at one point in time."""

    plan: GraphPlan
    version: str
    """Identifier for exactly these contents."""
    arrays: GraphArrays
    ideas: tuple[LabelledIdea, ...]
    viewpoints: tuple[Viewpoint, ...]
    """The viewpoints, in the order of the arrays' rows."""
