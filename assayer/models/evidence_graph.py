"""The graph behind a report: papers with what they hold, how they hang together, and how the graph came to be."""

from typing import Literal, NewType

from pydantic import Field

from assayer.models.assessment import Label
from assayer.models.base import Frozen

__all__ = [
    "EdgeBasis",
    "EdgeKey",
    "EdgeKind",
    "EvidenceEdge",
    "EvidenceNode",
    "GraphEdit",
    "GraphRecord",
    "GraphStep",
    "NodeKey",
    "NodeKind",
    "ReasonFound",
    "RecommendedReference",
]

NodeKey = NewType("NodeKey", str)
"""`N3`; `N0` is the idea. A key is never given twice in one graph, whatever was deleted."""
EdgeKey = NewType("EdgeKey", str)
"""`E5`, likewise."""

NodeKind = Literal["idea", "paper", "concept", "method", "claim"]
EdgeKind = Literal[
    "cites",
    "co_cited",
    "near",
    "derives",
    "shares_method",
    "uses",
    "concerns",
    "states",
    "supports",
    "contradicts",
]
"""The first three come from records and searches and from nowhere else; the others say what texts say."""
EdgeBasis = Literal["record", "quoted", "unverified", "stated"]
"""`record`: a list of references or a search says so. `quoted`: words of a paper, found in it. `unverified`: words that
were not found in it. `stated`: somebody's reading, without words of a paper."""


class EvidenceNode(Frozen):
    key: NodeKey
    kind: NodeKind
    name: str
    """Of a paper its title."""
    label: Label | None = None
    """Of a paper: which of the report's references it is."""
    note: str = ""
    step: int = Field(ge=0)
    """In which it came into the graph; the idea is there from step 0."""


class EvidenceEdge(Frozen):
    """Read as source, kind, target: the source cites the target, derives from it, uses it, supports it …"""

    key: EdgeKey
    source: NodeKey
    target: NodeKey
    kind: EdgeKind
    basis: EdgeBasis
    statement: str = ""
    """What it rests on, in a sentence."""
    quote: str = ""
    """Words of the paper in `label`, cut from it when the basis is `quoted`."""
    label: Label | None = None
    step: int = Field(ge=0)


class GraphEdit(Frozen):
    """A change that was proposed, and what became of it."""

    action: Literal["add", "delete", "revise"]
    subject: str
    """What it is about, in words that stand without the graph."""
    reason: str = ""
    """Why it was proposed."""
    refused: str | None = None
    """Why nothing came of it; None when it was applied."""


class GraphStep(Frozen):
    """One round of search, merging, editing and thinking."""

    number: int = Field(ge=1)
    queries: tuple[str, ...]
    found: int
    """Papers that its queries and walk brought up."""
    new: int
    """Of these, papers that came into the graph here."""
    edits: tuple[GraphEdit, ...]
    trace: str
    """The notebook's entry, with labels; empty where none was written."""
    lost: str | None = None
    """Why nothing was edited and written in this step; None where it was."""
    nodes: tuple[NodeKey, ...]
    """Of the graph at its end."""
    edges: tuple[EdgeKey, ...]


class ReasonFound(Frozen):
    """One way by which a paper was reached."""

    step: int
    kind: Literal["dense", "reference", "citing", "co-cited", "neighbour"]
    label: Label | None = None
    """The paper that led to it; None where words of a query did."""
    query: str | None = None
    """The query that it is nearest to, where words led to it."""


class RecommendedReference(Frozen):
    label: Label
    rank: int
    found: tuple[ReasonFound, ...]
    edges: tuple[EdgeKey, ...]
    """Of the final graph, that end at it."""


class GraphRecord(Frozen):
    nodes: tuple[EvidenceNode, ...]
    """All that were ever in it, in order of arrival; the last step says which remained."""
    edges: tuple[EvidenceEdge, ...]
    """Likewise, as they were last."""
    steps: tuple[GraphStep, ...]
    recommended: tuple[RecommendedReference, ...]
    """Best first."""
