"""Add to a state graph what the corpus graph knows about its papers.

It adds methods and concepts that papers share, which paper builds on which, and claims in the papers' own words. No
model is used."""

from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from assayer.methods.scicompanion.graph import NewEdge, StateGraph
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.models import EdgeKind, NamedContent, NodeKey, PaperContents, PaperId
from assayer.text.names import normalise_name
from assayer.text.sanitise import sanitise

_NAME_CHARS = 240
BY_CORPUS = "By the corpus's own graph."
"""Statement on every edge that comes from the corpus's own graph."""
_KINDS: Mapping[str, EdgeKind] = {"method": "uses", "concept": "concerns"}


class _SharedName(NamedTuple):
    """A method or concept, with the papers in the graph that name it."""

    first: NamedContent
    papers: Mapping[PaperId, NamedContent]

    def compute_weight(self) -> tuple[int, int]:
        """Return a sort key for how strongly the name connects papers. Names that one paper introduces and another
        builds on come first."""
        is_introduced = any(paper.introduced for paper in self.papers.values())
        is_built_on = any(paper.built_on for paper in self.papers.values())
        return -(is_introduced and is_built_on), -len(self.papers)


def add_contents(
    graph: StateGraph,
    contents: Mapping[PaperId, PaperContents],
    new_papers: Set[PaperId],
    options: SciCompanionOptions,
    step: int,
) -> StateGraph:
    """Add names and claims from the `contents` of the graph's papers; `new_papers` holds the papers added in this step.
    A name is added only if several papers share it. Names and claims that were deleted are not added again."""
    contents_in_graph = {item: contents[item] for item in graph.papers if item in contents}
    shared_names = [
        item for item in _collect_names(contents_in_graph) if len(item.papers) > 1 and new_papers & item.papers.keys()
    ]
    for name in sorted(shared_names, key=_SharedName.compute_weight)[: options.names]:
        graph = _add_name(graph, name, step)
    papers_with_claims = [item for item in contents_in_graph if item in new_papers and contents_in_graph[item].claims]
    for paper in papers_with_claims[: options.claims]:
        graph = _add_claim(graph, paper, contents_in_graph[paper].claims[0], step)
    for edge in _find_derivations(graph, contents_in_graph):
        graph = graph.add_edge(edge, step).graph
    return graph


def _collect_names(contents: Mapping[PaperId, PaperContents]) -> list[_SharedName]:
    """Collect the names, in order of first appearance."""
    papers_by_name: dict[tuple[str, str], dict[PaperId, NamedContent]] = {}
    for paper, content in contents.items():
        for named_content in content.named:
            papers_by_name.setdefault((named_content.kind, normalise_name(named_content.name)), {})[paper] = (
                named_content
            )
    return [_SharedName(next(iter(papers.values())), papers) for papers in papers_by_name.values()]


def _add_name(graph: StateGraph, name: _SharedName, step: int) -> StateGraph:
    kind = name.first.kind
    if graph.was_deleted(kind, name.first.name) or not _is_harmless(name.first.name):
        return graph
    graph, _, node = graph.add_node(kind, name.first.name, "", step)
    if node is not None:
        for paper, named_content in name.papers.items():
            graph = graph.add_edge(
                _build_quoting_edge(graph, paper, _KINDS[kind], node, named_content.sentence), step
            ).graph
    return graph


def _add_claim(graph: StateGraph, paper: PaperId, claim: str, step: int) -> StateGraph:
    if len(claim) > _NAME_CHARS or graph.was_deleted("claim", claim) or not _is_harmless(claim):
        return graph
    graph, _, node = graph.add_node("claim", claim, "", step)
    return (
        graph if node is None else graph.add_edge(_build_quoting_edge(graph, paper, "states", node, claim), step).graph
    )


def _find_derivations(graph: StateGraph, contents: Mapping[PaperId, PaperContents]) -> Iterator[NewEdge]:
    """Yield an edge for every paper that cites another paper and says that it builds on something introduced there."""
    cites = {(edge.source, edge.target) for edge in graph.edges.values() if edge.kind == "cites"}
    for name in _collect_names(contents):
        for paper, named_content in name.papers.items():
            for other_paper, theirs in name.papers.items():
                ends = graph.papers[paper], graph.papers[other_paper]
                if named_content.built_on and theirs.introduced and ends in cites:
                    yield _build_quoting_edge(graph, paper, "derives", ends[1], named_content.sentence)


def _build_quoting_edge(graph: StateGraph, paper: PaperId, kind: EdgeKind, target: NodeKey, sentence: str) -> NewEdge:
    """Return an edge that quotes the paper's own words. It has no quote if the words must not be shown in prompts."""
    if not _is_harmless(sentence):
        return NewEdge(graph.papers[paper], target, kind, "stated", BY_CORPUS)
    return NewEdge(graph.papers[paper], target, kind, "quoted", BY_CORPUS, sentence, paper)


def _is_harmless(text: str) -> bool:
    """Return whether a text contains neither hidden characters nor instructions to its reader."""
    clean_text, flags = sanitise(text)
    return clean_text == text and not flags
