"""Apply an answer to the graph, edit by edit, and record the outcome of each edit."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from assayer.citing.evidence import TITLE_ALONE, check_quote
from assayer.citing.labels import plain
from assayer.methods.scicompanion.graph import NewEdge, StateGraph
from assayer.methods.scicompanion.schemas import AddedEdge, AddedNode, GraphCompletion, GraphPaper, Removal, Revision
from assayer.models import EdgeKey, EdgeKind, GraphEdit, NodeKey
from assayer.ports import Embedder
from assayer.text.cutting import first_words

_SUBJECT_CHARS = 200
_NAME_CHARS = 80
"""Maximum characters of each end of an edge."""


class Edited(NamedTuple):
    graph: StateGraph
    edits: tuple[GraphEdit, ...]


async def apply_edits(
    graph: StateGraph,
    answer: GraphCompletion,
    papers: Sequence[GraphPaper],
    embedder: Embedder,
    same_meaning: float,
    most: int,
    step: int,
) -> Edited:
    """Apply additions, revisions and deletions; additions and revisions beyond the first `most` are refused. An edge
    that is deleted and re-added, for example with another quote, is deleted first. Quotes are checked against `papers`,
    which were shown for this answer."""
    same = await _same_nodes(graph, answer.nodes, embedder, same_meaning)
    editing = _Editing(graph, {paper.label: paper for paper in papers}, most, step)
    for number, node in enumerate(answer.nodes):
        editing.add_node(node, same.get(number))
    for edge in answer.edges:
        editing.add_edge(edge, answer.delete)
    for revision in answer.revise:
        editing.revise(revision)
    for removal in answer.delete:
        if removal not in editing.replaced:
            editing.delete(removal)
    return Edited(editing.graph, tuple(editing.edits))


async def _same_nodes(
    graph: StateGraph, added: Sequence[AddedNode], embedder: Embedder, least: float
) -> Mapping[int, NodeKey]:
    """Return the existing node that each added node is the same as: the node of its kind whose name is nearest in
    meaning, if near enough."""
    known = [item for item in graph.nodes.values() if item.kind in ("concept", "method", "claim")]
    if not known or not added:
        return {}
    names = [*(item.name for item in known), *(item.name for item in added)]
    vectors = await embedder.embed(names, "passage")
    cosines = vectors[len(known) :] @ vectors[: len(known)].T
    same: dict[int, NodeKey] = {}
    for row, node in enumerate(added):
        near = [(float(cosines[row, place]), -place) for place, item in enumerate(known) if item.kind == node.kind]
        best = max(near, default=(-1.0, 0))
        if best[0] >= least:
            same[row] = known[-best[1]].key
    return same


class _Editing:
    """Applies one answer. Labels of added nodes (`A1`) are valid within that answer."""

    def __init__(self, graph: StateGraph, papers: Mapping[str, GraphPaper], most: int, step: int) -> None:
        self.graph = graph
        self.edits: list[GraphEdit] = []
        self.replaced: list[Removal] = []
        """Deletions already carried out because the deleted item was added again."""
        self._added: dict[str, NodeKey] = {}
        self._papers, self._most, self._step = papers, most, step
        self._too_many = f"too many: a step may add and revise {most} times"

    def add_node(self, node: AddedNode, same: NodeKey | None) -> None:
        subject, refused = f"{node.kind} “{plain(node.name)}”", self._over_limit
        if refused is None and node.key in self._added:
            refused = f"{node.key} is given twice"
        if refused is None:
            self.graph, refused, key = self.graph.with_node(
                node.kind, plain(node.name), plain(node.note), self._step, same
            )
            self._added |= {} if key is None else {node.key: key}
        self._note("add", subject, "", refused)

    def add_edge(self, edge: AddedEdge, deleted: Sequence[Removal]) -> None:
        source, target = self._node_key(edge.source), self._node_key(edge.target)
        subject, refused = f"{self._name(source)} {edge.kind} {self._name(target)}", self._over_limit
        if refused is None and edge.label is not None and edge.label not in self._papers:
            refused = f"{edge.label} is not a paper given"
        if refused is None:
            self._delete_replaced(source, target, edge.kind, deleted)
            self.graph, refused, _ = self.graph.with_edge(self._new_edge(edge, source, target), self._step)
        self._note("add", subject, plain(edge.statement), refused)

    def _delete_replaced(self, source: NodeKey, target: NodeKey, kind: EdgeKind, deleted: Sequence[Removal]) -> None:
        for removal in deleted:
            edge = self.graph.edges.get(EdgeKey(removal.label))
            if edge is not None and (edge.source, edge.target, edge.kind) == (source, target, kind):
                self.delete(removal)
                self.replaced.append(removal)

    def revise(self, revision: Revision) -> None:
        refused, subject = self._over_limit, self._subject(revision.label)
        name = None if revision.name is None else plain(revision.name)
        text = None if revision.text is None else plain(revision.text)
        if refused is None and revision.label.startswith("E"):
            self.graph, refused, _ = self.graph.with_revised_edge(EdgeKey(revision.label), revision.kind, text)
        elif refused is None:
            self.graph, refused, _ = self.graph.with_revised_node(NodeKey(revision.label), name, text)
        self._note("revise", subject, plain(revision.reason), refused)

    def delete(self, removal: Removal) -> None:
        subject = self._subject(removal.label)
        if removal.label.startswith("E"):
            self.graph, refused, _ = self.graph.without_edge(EdgeKey(removal.label))
        else:
            self.graph, refused, _ = self.graph.without_node(NodeKey(removal.label))
        self._note("delete", subject, plain(removal.reason), refused)

    @property
    def _over_limit(self) -> str | None:
        """Reason to refuse any further addition or revision, or None while the limit is not reached."""
        return self._too_many if len(self.edits) >= self._most else None

    def _new_edge(self, edge: AddedEdge, source: NodeKey, target: NodeKey) -> NewEdge:
        paper = self._papers.get(edge.label or "")
        quoted = None if paper is None else check_quote(edge.quote, paper)
        if paper is None or quoted is None or quoted.objection == TITLE_ALONE:
            return NewEdge(source, target, edge.kind, "stated", plain(edge.statement))
        return NewEdge(
            source,
            target,
            edge.kind,
            "quoted" if quoted.state == "verified" else "unverified",
            plain(edge.statement),
            quoted.words,
            paper.paper_id,
        )

    def _node_key(self, label: str) -> NodeKey:
        return self._added.get(label, NodeKey(label))

    def _name(self, key: NodeKey) -> str:
        node = self.graph.nodes.get(key)
        return key if node is None else f"“{_cut(plain(node.name), _NAME_CHARS)}”"

    def _subject(self, label: str) -> str:
        edge = self.graph.edges.get(EdgeKey(label))
        if edge is not None:
            return f"{self._name(edge.source)} {edge.kind} {self._name(edge.target)}"
        node = self.graph.nodes.get(NodeKey(label))
        return label if node is None else f"{node.kind} “{plain(node.name)}”"

    def _note(self, action: Literal["add", "delete", "revise"], subject: str, reason: str, refused: str | None) -> None:
        self.edits.append(
            GraphEdit(action=action, subject=_cut(subject, _SUBJECT_CHARS), reason=reason, refused=refused)
        )


def _cut(text: str, chars: int) -> str:
    """Cut a text at a whole word and mark the cut."""
    return text if len(text) <= chars else f"{first_words(text, chars)} …"
