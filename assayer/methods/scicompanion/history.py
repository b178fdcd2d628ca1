"""History of all nodes and edges that were ever in a run's graph, and its record for the report."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assayer.citing.labels import build_marker
from assayer.methods.scicompanion.graph import StateGraph
from assayer.models import (
    EdgeKey,
    EvidenceEdge,
    EvidenceNode,
    GraphRecord,
    GraphStep,
    NodeKey,
    PaperId,
    RecommendedReference,
)


class GraphHistory(NamedTuple):
    """Immutable history; adding a graph returns a new one."""

    nodes: Mapping[NodeKey, EvidenceNode] = {}
    edges: Mapping[EdgeKey, EvidenceEdge] = {}
    papers: Mapping[NodeKey, PaperId] = {}
    evidence: Mapping[EdgeKey, PaperId] = {}

    def add_graph(self, graph: StateGraph) -> "GraphHistory":
        """Return the history with this graph added: its nodes and edges replace their earlier versions."""
        return GraphHistory(
            {**self.nodes, **graph.nodes},
            {**self.edges, **graph.edges},
            {**graph.paper_of_node, **self.papers},
            {**self.evidence, **graph.evidence},
        )

    def build_record(self, steps: Sequence[GraphStep], recommendations: Sequence[RecommendedReference]) -> GraphRecord:
        """Return the record for the report, with papers as markers. Items that were added and deleted within a single
        step appear only among its edits."""
        kept_nodes = {key for step in steps for key in step.nodes}
        kept_edges = {key for step in steps for key in step.edges}
        return GraphRecord(
            nodes=tuple(
                node.model_copy(update={"label": build_marker(self.papers[key])}) if key in self.papers else node
                for key, node in self.nodes.items()
                if key in kept_nodes
            ),
            edges=tuple(
                edge.model_copy(update={"label": build_marker(self.evidence[key])}) if key in self.evidence else edge
                for key, edge in self.edges.items()
                if key in kept_edges
            ),
            steps=tuple(steps),
            recommended=tuple(recommendations),
        )
