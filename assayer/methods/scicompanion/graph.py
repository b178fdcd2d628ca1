"""State graph: merges nodes and edges, and applies edits or refuses them with a reason. All functions are pure.

A graph is immutable: every change returns a new one. Nodes and edges stay in the order in which they were added, so the
same changes give the same graph. Papers come only from searches; naming a paper does not add it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from assayer.models import EdgeBasis, EdgeKey, EdgeKind, EvidenceEdge, EvidenceNode, NodeKey, NodeKind, PaperId
from assayer.text.names import normalise_name

IDEA_NODE = NodeKey("N0")
RECORDED_KINDS: frozenset[EdgeKind] = frozenset(("cites", "co_cited", "near"))
"""Kinds of edges that only records and searches can establish."""
_UNDIRECTED: frozenset[EdgeKind] = frozenset(("co_cited", "near", "shares_method"))
_WORKS: frozenset[NodeKind] = frozenset(("idea", "paper"))
_CONTENTS: frozenset[NodeKind] = frozenset(("concept", "method", "claim"))
KINDS_JOINED: Mapping[EdgeKind, tuple[frozenset[NodeKind], frozenset[NodeKind]]] = {
    "cites": (_WORKS, frozenset(("paper",))),
    "co_cited": (frozenset(("paper",)), frozenset(("paper",))),
    "near": (frozenset(("paper",)), frozenset(("paper",))),
    "derives": (_WORKS | _CONTENTS, frozenset(("paper", "concept", "method", "claim"))),
    "shares_method": (_WORKS, _WORKS),
    "uses": (_WORKS | {"method"}, frozenset(("method", "concept"))),
    "concerns": (_WORKS | {"method", "claim"}, frozenset(("concept",))),
    "states": (_WORKS, frozenset(("claim",))),
    "supports": (_WORKS | {"claim"}, frozenset(("claim",))),
    "contradicts": (_WORKS | {"claim"}, frozenset(("claim",))),
}
"""Kinds of nodes that an edge of each kind can start from and lead to."""


@dataclass(frozen=True)
class NewEdge:
    """An edge that has no key yet."""

    source: NodeKey
    target: NodeKey
    kind: EdgeKind
    basis: EdgeBasis = "stated"
    statement: str = ""
    quote: str = ""
    evidence: PaperId | None = None
    """The paper that the quoted words come from."""


class Changed(NamedTuple):
    """The graph after one change, or unchanged if the change was refused."""

    graph: "StateGraph"
    refused: str | None = None
    node: NodeKey | None = None
    """The node that was added, merged into or revised."""


@dataclass(frozen=True)
class StateGraph:
    nodes: Mapping[NodeKey, EvidenceNode]
    edges: Mapping[EdgeKey, EvidenceEdge]
    papers: dict[PaperId, NodeKey]
    """The node of each paper in the graph."""
    evidence: Mapping[EdgeKey, PaperId]
    """The paper that each edge's words come from."""
    pruned: frozenset[PaperId] = frozenset()
    """Deleted papers; they are not added again."""
    deleted_names: frozenset[tuple[NodeKind, str]] = frozenset()
    """Kinds and normalised names of all deleted nodes. The corpus graph cannot add them again, but an edit can."""
    most_nodes: int = 120
    most_edges: int = 300
    given_nodes: int = 0
    given_edges: int = 0

    @cached_property
    def _names(self) -> Mapping[tuple[NodeKind, str], NodeKey]:
        names: dict[tuple[NodeKind, str], NodeKey] = {}
        for node in self.nodes.values():
            names.setdefault((node.kind, normalise_name(node.name)), node.key)
        return names

    @cached_property
    def _keys_by_ends(self) -> Mapping[tuple[NodeKey, NodeKey, EdgeKind], EdgeKey]:
        return {_get_ends(edge): edge.key for edge in self.edges.values()}

    @cached_property
    def paper_of_node(self) -> Mapping[NodeKey, PaperId]:
        """Each node's first paper record."""
        return {node: paper for paper, node in reversed(self.papers.items())}

    def list_edges(self, node: NodeKey) -> tuple[EvidenceEdge, ...]:
        return tuple(edge for edge in self.edges.values() if node in (edge.source, edge.target))

    def was_deleted(self, kind: NodeKind, name: str) -> bool:
        return (kind, normalise_name(name)) in self.deleted_names

    # Additions from searches

    def add_paper(self, paper: PaperId, title: str, step: int) -> Changed:
        """Add a paper, unless it was deleted before. If the graph has a node with its id or title, it is merged into
        that node."""
        if paper in self.pruned:
            return Changed(self)
        known_node = self.papers.get(paper) or self._names.get(("paper", normalise_name(title)))
        if known_node is not None:
            return Changed(replace(self, papers={**self.papers, paper: known_node}), None, known_node)
        change = self._insert_node("paper", title, "", step)
        if change.node is None:
            return change
        return change._replace(graph=replace(change.graph, papers={**self.papers, paper: change.node}))

    # Proposed changes

    def add_node(self, kind: NodeKind, name: str, note: str, step: int, same_node: NodeKey | None = None) -> Changed:
        """Add a node, or merge it into an existing one of the same kind: the node with the same normalised name, or
        else `same_node`, a node judged to have the same meaning."""
        if kind not in _CONTENTS:
            return Changed(self, "papers come from searches only" if kind == "paper" else "there is one idea only")
        if not normalise_name(name):
            return Changed(self, "it has no name")
        known_node = self._names.get((kind, normalise_name(name)), same_node)
        if known_node is not None and known_node in self.nodes and self.nodes[known_node].kind == kind:
            node = self.nodes[known_node]
            return Changed(
                self if node.note or not note else self._replace_node(node.model_copy(update={"note": note})),
                None,
                known_node,
            )
        return self._insert_node(kind, name, note, step)

    def add_edge(self, new_edge: NewEdge, step: int) -> Changed:
        fault = self._find_fault(new_edge)
        if fault is not None:
            return Changed(self, fault)
        key = EdgeKey(f"E{self.given_edges + 1}")
        edge = EvidenceEdge(
            key=key,
            source=new_edge.source,
            target=new_edge.target,
            kind=new_edge.kind,
            basis=new_edge.basis,
            statement=new_edge.statement,
            quote=new_edge.quote,
            step=step,
        )
        evidence = self.evidence if new_edge.evidence is None else {**self.evidence, key: new_edge.evidence}
        graph = replace(self, edges={**self.edges, key: edge}, evidence=evidence, given_edges=self.given_edges + 1)
        return Changed(graph)

    def delete_node(self, key: NodeKey) -> Changed:
        """Return the graph without a node and its edges, or the reason why the node cannot be deleted. A deleted paper
        is not added again."""
        if key == IDEA_NODE:
            return Changed(self, "the idea itself cannot be deleted")
        if key not in self.nodes:
            return Changed(self, f"there is no node {key}")
        removed_papers = frozenset(paper for paper, node in self.papers.items() if node == key)
        edges = {item.key: item for item in self.edges.values() if key not in (item.source, item.target)}
        return Changed(
            replace(
                self,
                nodes={item: node for item, node in self.nodes.items() if item != key},
                edges=edges,
                papers={paper: node for paper, node in self.papers.items() if paper not in removed_papers},
                evidence={edge: paper for edge, paper in self.evidence.items() if edge in edges},
                pruned=self.pruned | removed_papers,
                deleted_names=self.deleted_names | {(self.nodes[key].kind, normalise_name(self.nodes[key].name))},
            )
        )

    def delete_edge(self, key: EdgeKey) -> Changed:
        if key not in self.edges:
            return Changed(self, f"there is no edge {key}")
        if self.edges[key].kind in RECORDED_KINDS:
            return Changed(self, "it is on record, and goes only with its papers")
        edges = {item: edge for item, edge in self.edges.items() if item != key}
        evidence = {item: paper for item, paper in self.evidence.items() if item != key}
        return Changed(replace(self, edges=edges, evidence=evidence))

    def revise_node(self, key: NodeKey, name: str | None, note: str | None) -> Changed:
        """Revise a node. The titles of papers and of the idea are fixed records; only the notes on them can be
        revised."""
        node = self.nodes.get(key)
        if node is None:
            return Changed(self, f"there is no node {key}")
        if name is not None and node.kind not in _CONTENTS:
            return Changed(self, "the title of a paper or of the idea is a record and stays as it is")
        if name is not None and not normalise_name(name):
            return Changed(self, "it would have no name")
        same_name_node = None if name is None else self._names.get((node.kind, normalise_name(name)))
        if same_name_node not in (None, key):
            return Changed(self, f"there is a {node.kind} of that name already: {same_name_node}")
        revised_node = node.model_copy(
            update={"name": node.name if name is None else name, "note": node.note if note is None else note}
        )
        if revised_node == node:
            return Changed(self, "nothing would change")
        return Changed(self._replace_node(revised_node), None, key)

    def revise_edge(self, key: EdgeKey, kind: EdgeKind | None, statement: str | None) -> Changed:
        """Revise an edge. Edges that come from records cannot be revised."""
        edge = self.edges.get(key)
        if edge is None:
            return Changed(self, f"there is no edge {key}")
        if edge.basis == "record":
            return Changed(self, "it is on record and cannot be changed")
        revised_edge = edge.model_copy(
            update={
                "kind": edge.kind if kind is None else kind,
                "statement": edge.statement if statement is None else statement,
            }
        )
        if revised_edge == edge:
            return Changed(self, "nothing would change")
        graph_without = replace(
            self, edges={item: other_edge for item, other_edge in self.edges.items() if item != key}
        )
        fault = graph_without._find_fault(
            NewEdge(revised_edge.source, revised_edge.target, revised_edge.kind, revised_edge.basis)
        )
        if fault is not None:
            return Changed(self, fault)
        return Changed(replace(self, edges={**self.edges, key: revised_edge}))

    # Helpers

    def _find_fault(self, new_edge: NewEdge) -> str | None:
        unknown = [key for key in (new_edge.source, new_edge.target) if key not in self.nodes]
        if unknown:
            return f"there is no node {unknown[0]}"
        source, target = self.nodes[new_edge.source].kind, self.nodes[new_edge.target].kind
        sources, targets = KINDS_JOINED[new_edge.kind]
        faults = {
            "a node cannot be joined to itself": new_edge.source == new_edge.target,
            f"only records and searches can say “{new_edge.kind}”": new_edge.kind in RECORDED_KINDS
            and new_edge.basis != "record",
            f"“{new_edge.kind}” cannot lead from {_describe_kind(source)} to {_describe_kind(target)}": source
            not in sources
            or target not in targets,
            f"it is there already: {self._keys_by_ends.get(_get_ends(new_edge))}": _get_ends(new_edge)
            in self._keys_by_ends,
            f"the graph is full: it holds {self.most_edges} edges": len(self.edges) >= self.most_edges,
        }
        return next((fault for fault, holds in faults.items() if holds), None)

    def _insert_node(self, kind: NodeKind, name: str, note: str, step: int) -> Changed:
        if len(self.nodes) >= self.most_nodes:
            return Changed(self, f"the graph is full: it holds {self.most_nodes} nodes")
        key = NodeKey(f"N{self.given_nodes + 1}")
        node = EvidenceNode(key=key, kind=kind, name=name, note=note, step=step)
        return Changed(replace(self, nodes={**self.nodes, key: node}, given_nodes=self.given_nodes + 1), None, key)

    def _replace_node(self, node: EvidenceNode) -> "StateGraph":
        return replace(self, nodes={**self.nodes, node.key: node})


def build_empty_graph(title: str, max_nodes: int = 120, max_edges: int = 300) -> StateGraph:
    """Return a graph that contains only the idea."""
    idea = EvidenceNode(key=IDEA_NODE, kind="idea", name=title, step=0)
    return StateGraph({IDEA_NODE: idea}, {}, {}, {}, most_nodes=max_nodes, most_edges=max_edges)


def _get_ends(edge: EvidenceEdge | NewEdge) -> tuple[NodeKey, NodeKey, EdgeKind]:
    """Return the key that equal edges share. If the kind has no direction, the order of the ends does not matter."""
    if edge.kind in _UNDIRECTED and edge.target < edge.source:
        return edge.target, edge.source, edge.kind
    return edge.source, edge.target, edge.kind


def _describe_kind(kind: NodeKind) -> str:
    return "the idea" if kind == "idea" else f"a {kind}"
