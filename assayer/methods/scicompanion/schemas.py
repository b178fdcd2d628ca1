"""Question and answer schemas for SciCompanion: queries, edits to the graph, a notebook entry, and the final verdicts.

Labels are valid throughout one evaluation: `N3` is a node, `N0` the idea, `P3` the paper at node N3, `E5` an edge, and
`A1` a node that an answer adds. If an answer refers to something that does not exist, the edit is refused, with a
reason, and the question is not asked again."""

import datetime as dt
from typing import Annotated, Literal

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.citing.evidence import Evidence
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.models import EdgeBasis, EdgeKind, FitLevel, Frozen, NodeKind

GraphQueryText = Annotated[
    str,
    Field(max_length=200, description="3 to 10 words. No operators, no quotation marks, no years."),
    TextRole.QUERY,
]
EndLabel = Annotated[str, Field(pattern=r"^[NA]\d+$", description="A node given, e.g. N3, or one added here, e.g. A1.")]
ChangedLabel = Annotated[str, Field(pattern=r"^[NE]\d+$", description="A node or an edge given, e.g. N3 or E5.")]
Reason = Annotated[str, Field(max_length=400, description="At most 25 words.")]
StatedKind = Literal["derives", "shares_method", "uses", "concerns", "states", "supports", "contradicts"]


class GraphPaper(Evidence):
    """A paper in the graph, as shown in prompts; `P3` is the paper at node `N3`."""

    new: bool
    """Whether the paper was added to the graph in this step."""


class ShownNode(Frozen):
    label: str
    kind: NodeKind
    name: str
    note: str


class ShownEdge(Frozen):
    label: str
    source: str
    target: str
    kind: EdgeKind
    basis: EdgeBasis
    paper: str
    """Label of the paper that the edge's words come from; empty if the edge has no words."""
    statement: str
    quote: str


class NotedEntry(Frozen):
    step: int
    text: str


class AskedQuery(Frozen):
    query: str
    brought: tuple[str, ...]
    """Labels of the papers in the graph that the query found."""


class StateQuestion(Frozen):
    """The idea, with the current graph and notebook."""

    title: str
    idea: str
    papers: tuple[GraphPaper, ...]
    nodes: tuple[ShownNode, ...]
    """Nodes other than papers; the idea's node comes first."""
    edges: tuple[ShownEdge, ...]
    notebook: tuple[NotedEntry, ...]
    refused: tuple[str, ...]
    """Edits that were refused in the previous step, with the reasons."""
    asked: tuple[AskedQuery, ...]
    """All queries so far."""
    step: int
    steps: int
    limit: int
    """Maximum number of queries per step."""
    edits: int
    """Maximum number of additions and revisions per step."""
    fit: FitLevel
    day: dt.date | None


class NextQueries(Frozen):
    queries: list[GraphQueryText] = Field(
        max_length=12, description="At most as many as the task asks for, the most promising first."
    )


class TraceAnswer(Frozen):
    trace: Annotated[str, TextRole.CITES] = Field(
        max_length=3_000,
        description="60 to 150 words; cites papers by label in square brackets, as [P3]. No other labels.",
    )


class AddedNode(Frozen):
    key: str = Field(pattern=r"^A\d+$", description="A1, A2, … in order; edges of this answer use it.")
    kind: Literal["concept", "method", "claim"]
    name: str = Field(
        max_length=300,
        description="A concept or method in 2 to 6 words as the field calls it; a claim as one sentence of at most 25 "
        "words.",
    )
    note: str = Field(max_length=400, description="At most 25 words: what it means here; empty if the name says all.")


class AddedEdge(Frozen):
    source: EndLabel
    kind: StatedKind
    target: EndLabel
    label: Annotated[str, Field(pattern=r"^P\d+$")] | None = Field(
        description="The paper whose words show it, e.g. P3; null if the idea's text or your reading of several does."
    )
    quote: Annotated[str, TextRole.COPIED] = Field(
        max_length=600,
        description="6 to 40 consecutive words copied exactly from its text as shown, not its title; empty if null.",
    )
    statement: str = Field(max_length=400, description="At most 25 words: what joins the two. No labels.")


class Removal(Frozen):
    label: ChangedLabel
    reason: Reason


class Revision(Frozen):
    label: ChangedLabel
    reason: Reason
    name: str | None = Field(max_length=300, description="Of a concept, method or claim; null to leave it.")
    text: str | None = Field(
        max_length=400, description="A node's new note or an edge's new statement, at most 25 words; null to leave it."
    )
    kind: StatedKind | None = Field(description="Of an edge; null to leave it.")


class GraphCompletion(Frozen):
    """Edits, in the order in which they are applied: additions, then revisions, then deletions; but an edge that is
    deleted and added anew is deleted first."""

    nodes: list[AddedNode] = Field(max_length=30, description="Concepts, methods and claims to add; may be empty.")
    edges: list[AddedEdge] = Field(max_length=40, description="Edges to add; may be empty.")
    revise: list[Revision] = Field(max_length=20, description="May be empty.")
    delete: list[Removal] = Field(max_length=30, description="May be empty.")


class StepAnswer(NextQueries, TraceAnswer, GraphCompletion):
    """Edits, trace and next queries at once, in this order."""


class DimensionQuestion(StateQuestion):
    """The final question about one dimension."""

    dimension: RubricDimension
