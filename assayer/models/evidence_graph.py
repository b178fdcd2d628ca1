"""Evidence graph in a report: papers with their contents, the links between them, and the steps in which the graph was
built."""

from typing import Literal, NewType

from pydantic import Field

from assayer.models.base import Frozen
from assayer_client.points import Label

NodeKey = NewType("NodeKey", str)
"""Key of a node, such as `N3`; `N0` is the idea. A key is never reused within a graph, even after deletions."""
EdgeKey = NewType("EdgeKey", str)
"""Key of an edge, such as `E5`; like a node's key, it is never reused."""

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
"""Kinds of edges. The first three come only from records and searches. The others express what texts state."""
EdgeBasis = Literal["record", "quoted", "unverified", "stated"]
"""Basis of an edge. `record`: a reference list or a search. `quoted`: words found in the paper. `unverified`: quoted
words that were not found in the paper. `stated`: an interpretation without quoted words from a paper."""


class EvidenceNode(Frozen):
    key: NodeKey
    kind: NodeKind
    name: str
    """Name of the node; for a paper, its title."""
    label: Label | None = None
    """Label of the paper's reference in the report; None for other nodes."""
    note: str = ""
    step: int = Field(ge=0)
    """Step in which the node entered the graph; the idea enters in step 0."""


class EvidenceEdge(Frozen):
    """Edge in the graph, read in the order source, kind, target: the source cites the target, derives from it, uses it,
    supports it …"""

    key: EdgeKey
    source: NodeKey
    target: NodeKey
    kind: EdgeKind
    basis: EdgeBasis
    statement: str = ""
    """Sentence that states why the edge exists."""
    quote: str = ""
    """Words quoted from the paper that `label` names. They are verified only if the basis is `quoted`."""
    label: Label | None = None
    step: int = Field(ge=0)


class GraphEdit(Frozen):
    """Proposed change to the graph, and whether it was applied."""

    action: Literal["add", "delete", "revise"]
    subject: str
    """Description of what is edited that makes sense without seeing the graph."""
    reason: str = ""
    """Reason why the edit was proposed."""
    refusal_reason: str | None = None
    """Reason why the edit was refused; None if it was applied."""


class GraphStep(Frozen):
    """One round of search, merging, editing and notebook writing."""

    number: int = Field(ge=1)
    queries: tuple[str, ...]
    papers_found: int
    """Number of papers that the step's queries and its walk along citations returned."""
    papers_added: int
    """Number of these papers that entered the graph in this step."""
    edits: tuple[GraphEdit, ...]
    notebook_entry: str
    """Notebook entry with labels; empty if none was written."""
    failure_reason: str | None = None
    """Reason why the step made no edits and no notebook entry; None if it made them."""
    nodes: tuple[NodeKey, ...]
    """Nodes in the graph at the end of the step."""
    edges: tuple[EdgeKey, ...]


class SearchPath(Frozen):
    """Path along which a search reached a paper."""

    step: int
    kind: Literal["dense", "reference", "citing", "co-cited"]
    label: Label | None = None
    """Label of the paper that led to the reached paper; None if a query found it."""
    query: str | None = None
    """Query nearest to the paper, if a query found it."""


class RecommendedReference(Frozen):
    label: Label
    rank: int
    search_paths: tuple[SearchPath, ...]
    edges: tuple[EdgeKey, ...]
    """Edges in the final graph that end at the paper."""


class GraphRecord(Frozen):
    nodes: tuple[EvidenceNode, ...]
    """All nodes that were ever in the graph, in order of arrival; the last step lists those that remained."""
    edges: tuple[EvidenceEdge, ...]
    """All edges that were ever in the graph, as they last were."""
    steps: tuple[GraphStep, ...]
    recommended: tuple[RecommendedReference, ...]
    """Recommended references, best first."""
