"""Drawing of a report's graph: the idea on top, papers on the left, their contents on the right, edges between them.

Positions depend only on the record, so the same report gives the same drawing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from assayer.models import EdgeKey, EvidenceEdge, EvidenceNode, GraphRecord, GraphStep, Label, NodeKey

_ROW_HEIGHT = 24
"""Height of a row for one node, in drawing pixels."""
_TOP = 74
"""Vertical position at which the columns begin, below the idea."""
_LEFT, _RIGHT, _MIDDLE = 296, 464, 380
"""Horizontal positions of the columns and of the idea, out of 760."""
_MAX_NAME_CHARS = 42
"""Maximum number of characters in a drawn name."""
_CURVE_RANGE = (26.0, 74.0)
"""Minimum and maximum outward curve of an edge within a column."""


@dataclass(frozen=True)
class DrawnNode:
    node: EvidenceNode
    x: int
    y: float
    text: str
    frames: str
    """CSS classes for the frames (one per step) in which the node is present: `in-1 in-3`."""
    anchor: str
    """Anchor of the item's details on the page."""

    @property
    def side(self) -> Literal["left", "right", "middle"]:
        return "left" if self.x == _LEFT else "right" if self.x == _RIGHT else "middle"


@dataclass(frozen=True)
class DrawnEdge:
    edge: EvidenceEdge
    path: str
    frames: str
    source: str
    target: str
    """Names of the nodes at both ends, as shown in the drawing."""

    @property
    def style(self) -> Literal["record", "plus", "minus", "stated"]:
        if self.edge.basis == "record":
            return "record"
        return "plus" if self.edge.kind == "supports" else "minus" if self.edge.kind == "contradicts" else "stated"


@dataclass(frozen=True)
class GraphDrawing:
    height: int
    nodes: tuple[DrawnNode, ...]
    """All nodes that were ever in the graph."""
    edges: tuple[DrawnEdge, ...]
    remained: frozenset[EdgeKey]
    """Edges of the final graph."""

    @cached_property
    def stated(self) -> tuple[DrawnEdge, ...]:
        """Edges whose basis is not a record, including deleted edges."""
        return tuple(edge for edge in self.edges if edge.edge.basis != "record")


def draw_graph(graph: GraphRecord) -> GraphDrawing | None:
    """Return the drawing of a graph; None if the graph contains only the idea."""
    papers = [node for node in graph.nodes if node.kind == "paper"]
    if not papers and len(graph.nodes) < 2:
        return None
    rows = {paper.key: float(row) for row, paper in enumerate(papers)}
    rows |= _assign_content_rows(graph, rows)
    height = _TOP + _ROW_HEIGHT * (max(rows.values(), default=0) + 1)
    nodes = tuple(_draw_node(node, rows, graph.steps) for node in graph.nodes)
    drawn_by_key = {node.node.key: node for node in nodes}
    edges = tuple(_draw_edge(edge, drawn_by_key, graph.steps, height) for edge in graph.edges)
    return GraphDrawing(round(height), nodes, edges, frozenset(graph.steps[-1].edges if graph.steps else ()))


def _assign_content_rows(graph: GraphRecord, rows: Mapping[NodeKey, float]) -> dict[NodeKey, float]:
    """Return the row of each concept, method and claim. They are sorted by the mean row of the papers that they are
    linked to, and spread evenly over the height of the paper column."""
    contents = [node.key for node in graph.nodes if node.kind not in ("idea", "paper")]
    rows_by_content: dict[NodeKey, list[float]] = {key: [] for key in contents}
    for edge in graph.edges:
        for end, other_end in ((edge.source, edge.target), (edge.target, edge.source)):
            if end in rows_by_content and other_end in rows:
                rows_by_content[end].append(rows[other_end])
    middles = {
        key: sum(neighbour_rows) / len(neighbour_rows) if neighbour_rows else -1.0
        for key, neighbour_rows in rows_by_content.items()
    }
    ordered_keys = sorted(contents, key=lambda key: middles[key])
    spacing = max(1.0, len(rows) / max(1, len(ordered_keys)))
    return {key: place * spacing for place, key in enumerate(ordered_keys)}


def _draw_node(node: EvidenceNode, rows: Mapping[NodeKey, float], steps: Sequence[GraphStep]) -> DrawnNode:
    frames = " ".join(f"in-{step.number}" for step in steps if node.key in step.nodes)
    if node.kind == "idea":
        return DrawnNode(node, _MIDDLE, 30, _shorten(node.name, 2 * _MAX_NAME_CHARS), frames, "idea")
    x = _LEFT if node.kind == "paper" else _RIGHT
    anchor = f"ref-{node.label}" if node.kind == "paper" else f"node-{node.key}"
    name = f"{node.label}  {node.name}" if node.label else node.name
    return DrawnNode(
        node, x, round(_TOP + _ROW_HEIGHT * rows[node.key], 1), _shorten(name, _MAX_NAME_CHARS), frames, anchor
    )


def _draw_edge(
    edge: EvidenceEdge, nodes: Mapping[NodeKey, DrawnNode], steps: Sequence[GraphStep], height: float
) -> DrawnEdge:
    source, target = nodes[edge.source], nodes[edge.target]
    if source.x == target.x:
        narrow, wide = _CURVE_RANGE
        reach = narrow + (wide - narrow) * abs(source.y - target.y) / height
        bend = source.x + (reach if source.x == _LEFT else -reach)
        path = f"M{source.x} {source.y} C{bend:.1f} {source.y} {bend:.1f} {target.y} {target.x} {target.y}"
    else:
        path = f"M{source.x} {source.y} L{target.x} {target.y}"
    frames = " ".join(f"in-{step.number}" for step in steps if edge.key in step.edges)
    return DrawnEdge(edge, path, frames, _format_node_name(source.node), _format_node_name(target.node))


def _format_node_name(node: EvidenceNode) -> str:
    label: Label | None = node.label
    return (
        "the idea"
        if node.kind == "idea"
        else f"[{label}]"
        if label
        else f"“{_shorten(node.name, 2 * _MAX_NAME_CHARS)}”"
    )


def _shorten(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars - 1].rstrip()}…"
