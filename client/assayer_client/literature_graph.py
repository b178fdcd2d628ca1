"""What SciCompanion adds to a report: its graph of the literature, step by step, and the references it recommends."""

from typing import Literal

from assayer_client.resources import Resource


class EvidenceNode(Resource):
    key: str
    """`N3`; `N0` is the idea."""
    kind: Literal["idea", "paper", "concept", "method", "claim"]
    name: str
    label: str | None = None
    """Of a paper: which of the report's references it is."""
    note: str = ""
    step: int


class EvidenceEdge(Resource):
    """Read as source, kind, target."""

    key: str
    source: str
    target: str
    kind: Literal[
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
    basis: Literal["record", "quoted", "unverified", "stated"]
    statement: str = ""
    quote: str = ""
    label: str | None = None
    """The paper that the words are from."""
    step: int


class GraphEdit(Resource):
    """A change that was proposed, and what became of it."""

    action: Literal["add", "delete", "revise"]
    subject: str
    reason: str = ""
    refused: str | None = None
    """Why nothing came of it; None when it was applied."""


class GraphStep(Resource):
    number: int
    queries: tuple[str, ...]
    found: int
    new: int
    edits: tuple[GraphEdit, ...]
    trace: str
    lost: str | None = None
    """Why nothing was edited and written in this step."""
    nodes: tuple[str, ...]
    """Of the graph at its end."""
    edges: tuple[str, ...]


class ReasonFound(Resource):
    """One way by which a paper was reached."""

    step: int
    kind: Literal["dense", "reference", "citing", "co-cited", "neighbour"]
    label: str | None = None
    """The paper that led to it; None where words of a query did."""
    query: str | None = None
    """The query that it is nearest to, where words led to it."""


class RecommendedReference(Resource):
    label: str
    rank: int
    found: tuple[ReasonFound, ...]
    edges: tuple[str, ...]


class GraphRecord(Resource):
    """All nodes and edges that were ever in the graph; the last step says which remained."""

    nodes: tuple[EvidenceNode, ...]
    edges: tuple[EvidenceEdge, ...]
    steps: tuple[GraphStep, ...]
    recommended: tuple[RecommendedReference, ...]
    """Best first."""
