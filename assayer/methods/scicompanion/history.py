"""All that was ever in the graph of one run, and the record of it that a report holds."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assayer.citing.labels import marker
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

__all__ = ["GraphHistory"]


class GraphHistory(NamedTuple):
    """A value: every graph that is added gives a new one."""

    nodes: Mapping[NodeKey, EvidenceNode] = {}
    edges: Mapping[EdgeKey, EvidenceEdge] = {}
    papers: Mapping[NodeKey, PaperId] = {}
    evidence: Mapping[EdgeKey, PaperId] = {}

    def with_graph(self, graph: StateGraph) -> "GraphHistory":
        """What it has now replaces what was known of the same nodes and edges."""
        return GraphHistory(
            {**self.nodes, **graph.nodes},
            {**self.edges, **graph.edges},
            {**graph.paper_of_node, **self.papers},
            {**self.evidence, **graph.evidence},
        )

    def record(self, steps: Sequence[GraphStep], recommended: Sequence[RecommendedReference]) -> GraphRecord:
        """Papers stand in it as markers. What was added and deleted within one step is in its edits only."""
        kept_nodes = {key for step in steps for key in step.nodes}
        kept_edges = {key for step in steps for key in step.edges}
        return GraphRecord(
            nodes=tuple(
                node.model_copy(update={"label": marker(self.papers[key])}) if key in self.papers else node
                for key, node in self.nodes.items()
                if key in kept_nodes
            ),
            edges=tuple(
                edge.model_copy(update={"label": marker(self.evidence[key])}) if key in self.evidence else edge
                for key, edge in self.edges.items()
                if key in kept_edges
            ),
            steps=tuple(steps),
            recommended=tuple(recommended),
        )
