"""The graph of a report as a drawing: the idea above, papers on the left, what they hold on the right, edges between.

Where everything stands is computed here, from the record alone: the same report gives the same drawing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from assayer.models import EdgeKey, EvidenceEdge, EvidenceNode, GraphRecord, GraphStep, Label, NodeKey

__all__ = ["DrawnNode", "GraphDrawing", "Tie", "graph_drawing"]

_ROW = 24
"""Height of a node, in pixels of the drawing."""
_TOP = 74
"""Where the columns begin, below the idea."""
_LEFT, _RIGHT, _MIDDLE = 296, 464, 380
"""Where the columns stand and the idea, of 760."""
_LONGEST = 42
"""Characters of a name."""
_BULGE = (26.0, 74.0)
"""How far an edge within a column reaches out, the shortest and the longest."""


@dataclass(frozen=True)
class DrawnNode:
    node: EvidenceNode
    x: int
    y: float
    text: str
    frames: str
    """Classes of the frames in which it is there: `in-1 in-3`."""
    anchor: str
    """Where more is said of it on the page."""

    @property
    def side(self) -> Literal["left", "right", "middle"]:
        return "left" if self.x == _LEFT else "right" if self.x == _RIGHT else "middle"


@dataclass(frozen=True)
class Tie:
    """An edge as drawn."""

    edge: EvidenceEdge
    path: str
    frames: str
    source: str
    target: str
    """Names of its ends, as the drawing has them."""

    @property
    def mood(self) -> Literal["record", "plus", "minus", "stated"]:
        if self.edge.basis == "record":
            return "record"
        return "plus" if self.edge.kind == "supports" else "minus" if self.edge.kind == "contradicts" else "stated"


@dataclass(frozen=True)
class GraphDrawing:
    height: int
    nodes: tuple[DrawnNode, ...]
    """All that were ever there."""
    ties: tuple[Tie, ...]
    steps: tuple[GraphStep, ...]

    @cached_property
    def told(self) -> tuple[Tie, ...]:
        """Edges that say more than a record does, deleted ones too."""
        return tuple(one for one in self.ties if one.edge.basis != "record")

    @cached_property
    def remained(self) -> frozenset[EdgeKey]:
        return frozenset(self.steps[-1].edges if self.steps else ())


def graph_drawing(graph: GraphRecord) -> GraphDrawing | None:
    """None for a graph of the idea alone."""
    papers = [one for one in graph.nodes if one.kind == "paper"]
    if not papers and len(graph.nodes) < 2:
        return None
    rows = {one.key: float(row) for row, one in enumerate(papers)}
    rows |= _contents_by_neighbours(graph, rows)
    height = _TOP + _ROW * (max(rows.values(), default=0) + 1)
    nodes = tuple(_drawn_node(one, rows, graph.steps) for one in graph.nodes)
    by_key = {one.node.key: one for one in nodes}
    ties = tuple(_tie(one, by_key, graph.steps, height) for one in graph.edges)
    return GraphDrawing(round(height), nodes, ties, graph.steps)


def _contents_by_neighbours(graph: GraphRecord, rows: Mapping[NodeKey, float]) -> dict[NodeKey, float]:
    """Concepts, methods and claims near the middle of the papers they are joined to, each on a row of its own, spread
    over the height of the papers."""
    contents = [one.key for one in graph.nodes if one.kind not in ("idea", "paper")]
    joined: dict[NodeKey, list[float]] = {key: [] for key in contents}
    for edge in graph.edges:
        for end, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if end in joined and other in rows:
                joined[end].append(rows[other])
    middles = {key: sum(found) / len(found) if found else -1.0 for key, found in joined.items()}
    ordered = sorted(contents, key=lambda key: middles[key])
    apart = max(1.0, len(rows) / max(1, len(ordered)))
    return {key: place * apart for place, key in enumerate(ordered)}


def _drawn_node(node: EvidenceNode, rows: Mapping[NodeKey, float], steps: Sequence[GraphStep]) -> DrawnNode:
    there = " ".join(f"in-{one.number}" for one in steps if node.key in one.nodes)
    if node.kind == "idea":
        return DrawnNode(node, _MIDDLE, 30, _short(node.name, 2 * _LONGEST), there, "idea")
    x = _LEFT if node.kind == "paper" else _RIGHT
    anchor = f"ref-{node.label}" if node.kind == "paper" else f"node-{node.key}"
    name = f"{node.label}  {node.name}" if node.label else node.name
    return DrawnNode(node, x, round(_TOP + _ROW * rows[node.key], 1), _short(name, _LONGEST), there, anchor)


def _tie(edge: EvidenceEdge, nodes: Mapping[NodeKey, DrawnNode], steps: Sequence[GraphStep], height: float) -> Tie:
    one, other = nodes[edge.source], nodes[edge.target]
    if one.x == other.x:
        least, most = _BULGE
        reach = least + (most - least) * abs(one.y - other.y) / height
        bend = one.x + (reach if one.x == _LEFT else -reach)
        path = f"M{one.x} {one.y} C{bend:.1f} {one.y} {bend:.1f} {other.y} {other.x} {other.y}"
    else:
        path = f"M{one.x} {one.y} L{other.x} {other.y}"
    there = " ".join(f"in-{step.number}" for step in steps if edge.key in step.edges)
    return Tie(edge, path, there, _called(one.node), _called(other.node))


def _called(node: EvidenceNode) -> str:
    label: Label | None = node.label
    return "the idea" if node.kind == "idea" else f"[{label}]" if label else f"“{_short(node.name, 2 * _LONGEST)}”"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
