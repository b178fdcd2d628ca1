"""Apply a model's answer to the graph, edit by edit, recording the outcome of each."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from assayer.citing.evidence import TITLE_ALONE, check_quote
from assayer.citing.labels import strip_citations
from assayer.methods.scicompanion.graph import NewEdge, StateGraph
from assayer.methods.scicompanion.schemas import AddedEdge, AddedNode, GraphCompletion, GraphPaper, Removal, Revision
from assayer.models import EdgeKey, EdgeKind, GraphEdit, NodeKey
from assayer.ports import Embedder
from assayer.text.cutting import keep_beginning

_SUBJECT_CHARS = 200
_NAME_CHARS = 80
"""Maximum number of characters shown for each end of an edge."""


class Edited(NamedTuple):
    graph: StateGraph
    edits: tuple[GraphEdit, ...]


async def apply_edits(
    graph: StateGraph,
    answer: GraphCompletion,
    papers: Sequence[GraphPaper],
    embedder: Embedder,
    min_similarity: float,
    max_edits: int,
    step: int,
) -> Edited:
    """Apply additions, revisions and deletions. After the first `max_edits`, further additions and revisions are
    refused. If an edge is both deleted and added again, with another quote for example, it is deleted first. Quotes are
    checked against `papers`, the papers that were shown for this answer."""
    same_node_by_number = await _match_nodes(graph, answer.nodes, embedder, min_similarity)
    editing = _Editing(graph, {paper.label: paper for paper in papers}, max_edits, step)
    for number, node in enumerate(answer.nodes):
        editing.add_node(node, same_node_by_number.get(number))
    for edge in answer.edges:
        editing.add_edge(edge, answer.delete)
    for revision in answer.revise:
        editing.revise(revision)
    for removal in answer.delete:
        if removal not in editing.replaced:
            editing.delete(removal)
    return Edited(editing.graph, tuple(editing.edits))


async def _match_nodes(
    graph: StateGraph, added_nodes: Sequence[AddedNode], embedder: Embedder, min_similarity: float
) -> Mapping[int, NodeKey]:
    """Match added nodes to existing ones: the node of the same kind whose name is nearest in meaning, if it is near
    enough."""
    known_nodes = [item for item in graph.nodes.values() if item.kind in ("concept", "method", "claim")]
    if not known_nodes or not added_nodes:
        return {}
    names = [*(item.name for item in known_nodes), *(item.name for item in added_nodes)]
    vectors = await embedder.embed(names, "passage")
    cosines = vectors[len(known_nodes) :] @ vectors[: len(known_nodes)].T
    same_node_by_number: dict[int, NodeKey] = {}
    for row, node in enumerate(added_nodes):
        candidates = [
            (float(cosines[row, column]), -column) for column, item in enumerate(known_nodes) if item.kind == node.kind
        ]
        best = max(candidates, default=(-1.0, 0))
        if best[0] >= min_similarity:
            same_node_by_number[row] = known_nodes[-best[1]].key
    return same_node_by_number


class _Editing:
    """Applies one answer. Labels of added nodes (`A1`) are valid only within it."""

    def __init__(self, graph: StateGraph, papers: Mapping[str, GraphPaper], max_edits: int, step: int) -> None:
        self.graph = graph
        self.edits: list[GraphEdit] = []
        self.replaced: list[Removal] = []
        """Deletions that were already carried out because the deleted item was added again."""
        self._added_nodes: dict[str, NodeKey] = {}
        self._papers, self._max_edits, self._step = papers, max_edits, step
        self._limit_message = f"too many: a step may add and revise {max_edits} times"

    def add_node(self, node: AddedNode, same_node: NodeKey | None) -> None:
        subject, refusal = f"{node.kind} “{strip_citations(node.name)}”", self._over_limit
        if refusal is None and node.key in self._added_nodes:
            refusal = f"{node.key} is given twice"
        if refusal is None:
            self.graph, refusal, key = self.graph.add_node(
                node.kind, strip_citations(node.name), strip_citations(node.note), self._step, same_node
            )
            self._added_nodes |= {} if key is None else {node.key: key}
        self._record_edit("add", subject, "", refusal)

    def add_edge(self, edge: AddedEdge, deletions: Sequence[Removal]) -> None:
        source, target = self._find_node_key(edge.source), self._find_node_key(edge.target)
        subject, refusal = f"{self._get_name(source)} {edge.kind} {self._get_name(target)}", self._over_limit
        if refusal is None and edge.label is not None and edge.label not in self._papers:
            refusal = f"{edge.label} is not a paper given"
        if refusal is None:
            self._delete_replaced(source, target, edge.kind, deletions)
            self.graph, refusal, _ = self.graph.add_edge(self._build_edge(edge, source, target), self._step)
        self._record_edit("add", subject, strip_citations(edge.statement), refusal)

    def _delete_replaced(self, source: NodeKey, target: NodeKey, kind: EdgeKind, deletions: Sequence[Removal]) -> None:
        for removal in deletions:
            edge = self.graph.edges.get(EdgeKey(removal.label))
            if edge is not None and (edge.source, edge.target, edge.kind) == (source, target, kind):
                self.delete(removal)
                self.replaced.append(removal)

    def revise(self, revision: Revision) -> None:
        refusal, subject = self._over_limit, self._describe_subject(revision.label)
        name = None if revision.name is None else strip_citations(revision.name)
        text = None if revision.text is None else strip_citations(revision.text)
        if refusal is None and revision.label.startswith("E"):
            self.graph, refusal, _ = self.graph.revise_edge(EdgeKey(revision.label), revision.kind, text)
        elif refusal is None:
            self.graph, refusal, _ = self.graph.revise_node(NodeKey(revision.label), name, text)
        self._record_edit("revise", subject, strip_citations(revision.reason), refusal)

    def delete(self, removal: Removal) -> None:
        subject = self._describe_subject(removal.label)
        if removal.label.startswith("E"):
            self.graph, refusal, _ = self.graph.delete_edge(EdgeKey(removal.label))
        else:
            self.graph, refusal, _ = self.graph.delete_node(NodeKey(removal.label))
        self._record_edit("delete", subject, strip_citations(removal.reason), refusal)

    @property
    def _over_limit(self) -> str | None:
        """Reason why further additions and revisions are refused; None below the limit."""
        return self._limit_message if len(self.edits) >= self._max_edits else None

    def _build_edge(self, edge: AddedEdge, source: NodeKey, target: NodeKey) -> NewEdge:
        paper = self._papers.get(edge.label or "")
        quote = None if paper is None else check_quote(edge.quote, paper)
        if paper is None or quote is None or quote.objection == TITLE_ALONE:
            return NewEdge(source, target, edge.kind, "stated", strip_citations(edge.statement))
        return NewEdge(
            source,
            target,
            edge.kind,
            "quoted" if quote.state == "verified" else "unverified",
            strip_citations(edge.statement),
            quote.words,
            paper.paper_id,
        )

    def _find_node_key(self, label: str) -> NodeKey:
        return self._added_nodes.get(label, NodeKey(label))

    def _get_name(self, key: NodeKey) -> str:
        node = self.graph.nodes.get(key)
        return key if node is None else f"“{_shorten(strip_citations(node.name), _NAME_CHARS)}”"

    def _describe_subject(self, label: str) -> str:
        edge = self.graph.edges.get(EdgeKey(label))
        if edge is not None:
            return f"{self._get_name(edge.source)} {edge.kind} {self._get_name(edge.target)}"
        node = self.graph.nodes.get(NodeKey(label))
        return label if node is None else f"{node.kind} “{strip_citations(node.name)}”"

    def _record_edit(
        self, action: Literal["add", "delete", "revise"], subject: str, reason: str, refusal: str | None
    ) -> None:
        self.edits.append(
            GraphEdit(action=action, subject=_shorten(subject, _SUBJECT_CHARS), reason=reason, refusal_reason=refusal)
        )


def _shorten(text: str, chars: int) -> str:
    """Truncate a text at a whole word, marking the cut."""
    return text if len(text) <= chars else f"{keep_beginning(text, chars)} …"
