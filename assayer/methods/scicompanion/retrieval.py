"""Retrieve papers for one step: run its queries, follow citations, and merge the papers and the recorded citations
between them into the graph. Also choose the recommended references from all papers found."""

from collections.abc import Collection, Container, Mapping, Sequence
from typing import Literal, NamedTuple

from assayer.citing.labels import marker, paper_of, strip_citations
from assayer.literature.library import Library
from assayer.methods.scicompanion.base_graph import BY_CORPUS
from assayer.methods.scicompanion.graph import IDEA_NODE, NewEdge, StateGraph
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.walk import Found, Step, walk
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

    def with_found(self, found: Sequence[Found], step: int) -> "FoundPapers":
        papers, scores, reasons = dict(self.papers), dict(self.scores), dict(self.reasons)
        for rank, item in enumerate(found, start=1):
            papers.setdefault(item.paper.id, item.paper)
            scores[item.paper.id] = scores.get(item.paper.id, 0.0) + 1 / (_RANK_CONSTANT + rank)
            new = (_reason(why, step) for why in item.why)
            reasons[item.paper.id] = tuple(dict.fromkeys((*reasons.get(item.paper.id, ()), *new)))
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
    found: FoundPapers,
    library: Library,
    options: SciCompanionOptions,
    step: int,
) -> Retrieved:
    """Run the queries, follow citations, and merge the papers into the graph. Raises LiteratureError if the source
    fails."""
    brought = await walk(queries, library.admitted, options, exclude=graph.pruned)
    found = found.with_found(brought, step)
    new: list[PaperId] = []
    for item in brought:
        if len(new) >= options.papers_a_step:
            break
        known = len(graph.nodes)
        graph = graph.with_paper(item.paper.id, " ".join(item.paper.title.split()), step).graph
        new += [item.paper.id] if len(graph.nodes) > known else []
    graph = await _add_edges(graph, found, brought, library, step)
    return Retrieved(graph, found, len(brought), frozenset(new))


async def _add_edges(
    graph: StateGraph, found: FoundPapers, brought: Sequence[Found], library: Library, step: int
) -> StateGraph:
    """Return the graph with edges added: first from its papers' reference lists, then from the citations that were
    followed."""
    cited = await library.references(list(graph.papers), _REFERENCES) if graph.papers else {}
    edges = [_record_edge(graph, item, "cites", paper.id) for item, papers in cited.items() for paper in papers]
    edges += [_edge_of_step(graph, item.paper.id, why) for item in brought for why in item.why]
    years = publication_years(graph, found)
    for edge in edges:
        if edge is not None and not comes_too_early(edge, years):
            graph = graph.with_edge(edge, step).graph
    return graph


def _edge_of_step(graph: StateGraph, paper: PaperId, why: Step) -> NewEdge | None:
    if why.from_paper is None:
        return None
    if why.kind == "citing":
        return _record_edge(graph, paper, "cites", why.from_paper)
    return _record_edge(graph, why.from_paper, "cites" if why.kind == "reference" else "co_cited", paper)


def _record_edge(
    graph: StateGraph, source: PaperId, kind: Literal["cites", "co_cited"], target: PaperId
) -> NewEdge | None:
    if source not in graph.papers or target not in graph.papers:
        return None
    return NewEdge(graph.papers[source], graph.papers[target], kind, "record")


def publication_years(graph: StateGraph, found: FoundPapers) -> dict[NodeKey, int]:
    """Return the publication years of the dated papers in the graph."""
    return {
        graph.papers[item]: paper.publication_date.year
        for item, paper in found.papers.items()
        if item in graph.papers and paper.publication_date
    }


def comes_too_early(edge: NewEdge, years: Mapping[NodeKey, int]) -> bool:
    """Return whether a citation edge points to a paper published more than `_MAX_REPRINT_YEARS` years after the citing
    one. Such a record is wrong; a smaller gap may be due to a reprint."""
    source, target = years.get(edge.source), years.get(edge.target)
    return edge.kind == "cites" and source is not None and target is not None and target > source + _MAX_REPRINT_YEARS


def _reason(why: Step, step: int) -> SearchPath:
    label = None if why.from_paper is None else marker(why.from_paper)
    return SearchPath(
        step=step, kind=why.kind, label=label, query=None if why.query is None else strip_citations(why.query)
    )


def recommended_references(
    idea: Idea, graph: StateGraph, found: FoundPapers, limit: int, known: Collection[PaperId] = ()
) -> tuple[RecommendedReference, ...]:
    """Return the recommended references, best first, in three groups: papers that a quote or statement links to the
    idea or to its claims, methods and concepts; other papers in the graph; all others. In each group, papers found by
    several searches come first. Left out are deleted papers, papers in `known`, papers whose title occurs in the idea,
    and duplicate records."""
    text = f" {normalise_name(idea.own_words.text)} "
    titles: dict[str, PaperId] = {}
    left_out = graph.pruned | set(known)
    joined = _find_linked_papers(graph)

    def order(paper: PaperId) -> tuple[bool, bool, float]:
        return paper not in joined, paper not in graph.papers, -found.scores[paper]

    for paper in sorted(found.scores, key=order):
        title = normalise_name(found.papers[paper].title)
        if paper in left_out or (len(title.split()) >= _MIN_TITLE_WORDS and f" {title} " in text):
            continue
        titles.setdefault(title, paper)
    return tuple(
        RecommendedReference(
            label=marker(paper),
            rank=rank,
            search_paths=found.reasons[paper],
            edges=tuple(edge.key for edge in graph.edges_of(graph.papers[paper])) if paper in graph.papers else (),
        )
        for rank, paper in enumerate(list(titles.values())[:limit], start=1)
    )


def _find_linked_papers(graph: StateGraph) -> set[PaperId]:
    """Return the papers linked to the idea, directly or through one other node. Edges from records do not count;
    neither do edges from the corpus graph, because they were found by patterns."""
    stated = [edge for edge in graph.edges.values() if edge.basis != "record" and edge.statement != BY_CORPUS]
    near = {IDEA_NODE}
    near |= {end for item in stated if IDEA_NODE in (item.source, item.target) for end in (item.source, item.target)}
    ends = {end for item in stated if near & {item.source, item.target} for end in (item.source, item.target)}
    return {paper for paper, node in graph.papers.items() if node in ends}


def keep_known_reasons(recommended_reference: RecommendedReference, papers: Container[PaperId]) -> RecommendedReference:
    """Return the reference without the reasons that name an unknown paper, such as one outside the date window."""
    known = tuple(
        why for why in recommended_reference.search_paths if why.label is None or paper_of(why.label) in papers
    )
    return recommended_reference.model_copy(update={"search_paths": known})
