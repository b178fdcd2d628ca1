"""Retrieve papers for one step: run its queries, follow citations, and merge the papers and the recorded citations
between them into the graph. Also choose the recommended references from all papers found."""

from collections.abc import Collection, Container, Mapping, Sequence
from typing import Literal, NamedTuple

from assayer.citing.labels import build_marker, parse_marker, strip_citations
from assayer.literature.library import Library
from assayer.methods.scicompanion.base_graph import BY_CORPUS
from assayer.methods.scicompanion.graph import IDEA_NODE, NewEdge, StateGraph
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.walk import Found, Step, walk_citations
from assayer.models import Idea, NodeKey, Paper, PaperId, RecommendedReference, SearchPath
from assayer.text.names import normalise_name

_REFERENCES = 200
"""Maximum number of references read per paper to link the graph's papers."""
_RANK_CONSTANT = 60
"""Constant k in reciprocal rank fusion, at its usual value. A higher k reduces the advantage of top ranks over lower
ranks when several steps find the same paper."""
_MAX_REPRINT_YEARS = 2
"""Maximum number of years between a work's first publication and a reprint whose date is on record."""
_MIN_TITLE_WORDS = 4
"""Minimum number of words in a title for it to be matched against the idea; a shorter one could occur there by
chance."""


class FoundPapers(NamedTuple):
    """Immutable collection of all papers found in a run; adding papers returns a new one."""

    papers: Mapping[PaperId, Paper] = {}
    scores: Mapping[PaperId, float] = {}
    reasons: Mapping[PaperId, tuple[SearchPath, ...]] = {}

    def add_found(self, found_papers: Sequence[Found], step: int) -> "FoundPapers":
        papers, scores, reasons = dict(self.papers), dict(self.scores), dict(self.reasons)
        for rank, item in enumerate(found_papers, start=1):
            papers.setdefault(item.paper.id, item.paper)
            scores[item.paper.id] = scores.get(item.paper.id, 0.0) + 1 / (_RANK_CONSTANT + rank)
            new_reasons = (_build_search_path(step_taken, step) for step_taken in item.why)
            reasons[item.paper.id] = tuple(dict.fromkeys((*reasons.get(item.paper.id, ()), *new_reasons)))
        return FoundPapers(papers, scores, reasons)


class Retrieved(NamedTuple):
    graph: StateGraph
    found: FoundPapers
    brought: int
    """Number of papers that this step reached."""
    new: frozenset[PaperId]
    """Papers added to the graph in this step."""


async def retrieve(
    queries: Sequence[str],
    graph: StateGraph,
    found_papers: FoundPapers,
    library: Library,
    options: SciCompanionOptions,
    step: int,
) -> Retrieved:
    """Run the queries, follow citations, and merge the papers into the graph. Raises LiteratureError if the source
    fails."""
    walk_results = await walk_citations(queries, library.admitted, options, exclude=graph.pruned)
    found_papers = found_papers.add_found(walk_results, step)
    new_papers: list[PaperId] = []
    for item in walk_results:
        if len(new_papers) >= options.papers_a_step:
            break
        node_count = len(graph.nodes)
        graph = graph.add_paper(item.paper.id, " ".join(item.paper.title.split()), step).graph
        new_papers += [item.paper.id] if len(graph.nodes) > node_count else []
    graph = await _add_edges(graph, found_papers, walk_results, library, step)
    return Retrieved(graph, found_papers, len(walk_results), frozenset(new_papers))


async def _add_edges(
    graph: StateGraph, found_papers: FoundPapers, walk_results: Sequence[Found], library: Library, step: int
) -> StateGraph:
    """Return the graph with edges added: first from its papers' reference lists, then from the citations that were
    followed."""
    references = await library.references(list(graph.papers), _REFERENCES) if graph.papers else {}
    edges = [
        _build_record_edge(graph, item, "cites", paper.id) for item, papers in references.items() for paper in papers
    ]
    edges += [_build_step_edge(graph, item.paper.id, step_taken) for item in walk_results for step_taken in item.why]
    years = map_publication_years(graph, found_papers)
    for edge in edges:
        if edge is not None and not is_too_early(edge, years):
            graph = graph.add_edge(edge, step).graph
    return graph


def _build_step_edge(graph: StateGraph, paper: PaperId, step_taken: Step) -> NewEdge | None:
    if step_taken.from_paper is None:
        return None
    if step_taken.kind == "citing":
        return _build_record_edge(graph, paper, "cites", step_taken.from_paper)
    return _build_record_edge(
        graph, step_taken.from_paper, "cites" if step_taken.kind == "reference" else "co_cited", paper
    )


def _build_record_edge(
    graph: StateGraph, source: PaperId, kind: Literal["cites", "co_cited"], target: PaperId
) -> NewEdge | None:
    if source not in graph.papers or target not in graph.papers:
        return None
    return NewEdge(graph.papers[source], graph.papers[target], kind, "record")


def map_publication_years(graph: StateGraph, found_papers: FoundPapers) -> dict[NodeKey, int]:
    """Return the publication years of the dated papers in the graph."""
    return {
        graph.papers[item]: paper.publication_date.year
        for item, paper in found_papers.papers.items()
        if item in graph.papers and paper.publication_date
    }


def is_too_early(edge: NewEdge, years: Mapping[NodeKey, int]) -> bool:
    """Return whether a citation edge points to a paper published more than `_MAX_REPRINT_YEARS` years after the citing
    one. Such a record is wrong; a smaller gap may be due to a reprint."""
    source, target = years.get(edge.source), years.get(edge.target)
    return edge.kind == "cites" and source is not None and target is not None and target > source + _MAX_REPRINT_YEARS


def _build_search_path(step_taken: Step, step: int) -> SearchPath:
    label = None if step_taken.from_paper is None else build_marker(step_taken.from_paper)
    return SearchPath(
        step=step,
        kind=step_taken.kind,
        label=label,
        query=None if step_taken.query is None else strip_citations(step_taken.query),
    )


def rank_recommended_references(
    idea: Idea, graph: StateGraph, found_papers: FoundPapers, limit: int, known_papers: Collection[PaperId] = ()
) -> tuple[RecommendedReference, ...]:
    """Return the recommended references, best first, in three groups: papers that a quote or statement links to the
    idea or to its claims, methods and concepts; other papers in the graph; all others. In each group, papers found by
    several searches come first. Left out are deleted papers, papers in `known_papers`, papers whose title occurs in the
    idea, and duplicate records."""
    text = f" {normalise_name(idea.own_words.text)} "
    titles: dict[str, PaperId] = {}
    left_out = graph.pruned | set(known_papers)
    linked_papers = _find_linked_papers(graph)

    def compute_sort_key(paper: PaperId) -> tuple[bool, bool, float]:
        return paper not in linked_papers, paper not in graph.papers, -found_papers.scores[paper]

    for paper in sorted(found_papers.scores, key=compute_sort_key):
        title = normalise_name(found_papers.papers[paper].title)
        if paper in left_out or (len(title.split()) >= _MIN_TITLE_WORDS and f" {title} " in text):
            continue
        titles.setdefault(title, paper)
    return tuple(
        RecommendedReference(
            label=build_marker(paper),
            rank=rank,
            search_paths=found_papers.reasons[paper],
            edges=tuple(edge.key for edge in graph.list_edges(graph.papers[paper])) if paper in graph.papers else (),
        )
        for rank, paper in enumerate(list(titles.values())[:limit], start=1)
    )


def _find_linked_papers(graph: StateGraph) -> set[PaperId]:
    """Return the papers linked to the idea, directly or through one other node. Edges from records do not count;
    neither do edges from the corpus graph, because they were found by patterns."""
    stated_edges = [edge for edge in graph.edges.values() if edge.basis != "record" and edge.statement != BY_CORPUS]
    idea_neighbours = {IDEA_NODE}
    idea_neighbours |= {
        end for item in stated_edges if IDEA_NODE in (item.source, item.target) for end in (item.source, item.target)
    }
    ends = {
        end
        for item in stated_edges
        if idea_neighbours & {item.source, item.target}
        for end in (item.source, item.target)
    }
    return {paper for paper, node in graph.papers.items() if node in ends}


def keep_known_reasons(recommended_reference: RecommendedReference, papers: Container[PaperId]) -> RecommendedReference:
    """Return the reference without the reasons that name an unknown paper, such as one outside the date window."""
    known_reasons = tuple(
        reason
        for reason in recommended_reference.search_paths
        if reason.label is None or parse_marker(reason.label) in papers
    )
    return recommended_reference.model_copy(update={"search_paths": known_reasons})
