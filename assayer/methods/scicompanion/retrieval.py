"""What a step's queries bring up: papers along citations, merged into the graph with the records that join them; and
which of all papers found are recommended.
"""

from collections.abc import Collection, Container, Mapping, Sequence
from typing import Literal, NamedTuple

from assayer.citing.labels import marker, paper_of, plain
from assayer.literature.library import Library
from assayer.methods.scicompanion.base_graph import BY_CORPUS
from assayer.methods.scicompanion.graph import IDEA_NODE, NewEdge, StateGraph
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.walk import Found, Step, WalkOptions, walk
from assayer.models import Idea, NodeKey, Paper, PaperId, ReasonFound, RecommendedReference
from assayer.text.names import normalised_name

__all__ = [
    "FoundPapers",
    "Retrieved",
    "comes_too_early",
    "publication_years",
    "recommended_references",
    "retrieve",
    "with_known_reasons",
]

_REFERENCES = 200
"""Of one paper, at most, when the papers of the graph are joined."""
_RANKS_EVEN = 60
"""How little first ranks count above later ones when several steps find a paper: reciprocal rank fusion's usual k."""
_REPRINTED = 2
"""Years that may lie between a work and the issue under which it is recorded."""
_SHORTEST_TITLE = 4
"""Words; a shorter title may stand in the idea by chance."""


class FoundPapers(NamedTuple):
    """All that was found in a run. A value: every step gives a new one."""

    papers: Mapping[PaperId, Paper] = {}
    scores: Mapping[PaperId, float] = {}
    reasons: Mapping[PaperId, tuple[ReasonFound, ...]] = {}

    def with_found(self, found: Sequence[Found], step: int) -> "FoundPapers":
        papers, scores, reasons = dict(self.papers), dict(self.scores), dict(self.reasons)
        for rank, one in enumerate(found, start=1):
            papers.setdefault(one.paper.id, one.paper)
            scores[one.paper.id] = scores.get(one.paper.id, 0.0) + 1 / (_RANKS_EVEN + rank)
            new = (_reason(why, step) for why in one.why)
            reasons[one.paper.id] = tuple(dict.fromkeys((*reasons.get(one.paper.id, ()), *new)))
        return FoundPapers(papers, scores, reasons)


class Retrieved(NamedTuple):
    graph: StateGraph
    found: FoundPapers
    brought: int
    """Papers that the walk came to."""
    new: frozenset[PaperId]
    """Papers that came into the graph."""


async def retrieve(
    queries: Sequence[str],
    graph: StateGraph,
    found: FoundPapers,
    library: Library,
    options: SciCompanionOptions,
    step: int,
) -> Retrieved:
    """Raises LiteratureError."""
    reach = WalkOptions(hops=options.hops if options.has("graph") else 0, seeds=options.seeds, limit=options.found)
    brought = await walk(queries, library.admitted, library.window, reach, exclude=graph.pruned)
    found = found.with_found(brought, step)
    new: list[PaperId] = []
    for one in brought:
        if len(new) >= options.papers_a_step:
            break
        known = len(graph.nodes)
        graph = graph.with_paper(one.paper.id, " ".join(one.paper.title.split()), step).graph
        new += [one.paper.id] if len(graph.nodes) > known else []
    if options.has("graph"):
        graph = await _joined(graph, found, brought, library, step)
    return Retrieved(graph, found, len(brought), frozenset(new))


async def _joined(
    graph: StateGraph, found: FoundPapers, brought: Sequence[Found], library: Library, step: int
) -> StateGraph:
    """With what lists of references say of the papers in the graph, then with the steps of the walk between them."""
    cited = await library.references(list(graph.papers), _REFERENCES) if graph.papers else {}
    edges = [_recorded(graph, one, "cites", paper.id) for one, papers in cited.items() for paper in papers]
    edges += [_walked(graph, one.paper.id, why) for one in brought for why in one.why]
    years = publication_years(graph, found)
    for edge in edges:
        if edge is not None and not comes_too_early(edge, years):
            graph = graph.with_edge(edge, step).graph
    return graph


def _walked(graph: StateGraph, paper: PaperId, why: Step) -> NewEdge | None:
    if why.from_paper is None:
        return None
    match why.kind:
        case "reference":
            return _recorded(graph, why.from_paper, "cites", paper)
        case "citing":
            return _recorded(graph, paper, "cites", why.from_paper)
        case "co-cited":
            return _recorded(graph, why.from_paper, "co_cited", paper)
        case "neighbour":
            return _recorded(graph, why.from_paper, "near", paper)
        case "dense":
            return None


def _recorded(
    graph: StateGraph, source: PaperId, kind: Literal["cites", "co_cited", "near"], target: PaperId
) -> NewEdge | None:
    if source not in graph.papers or target not in graph.papers:
        return None
    return NewEdge(graph.papers[source], graph.papers[target], kind, "record")


def publication_years(graph: StateGraph, found: FoundPapers) -> dict[NodeKey, int]:
    """Of the papers in the graph that have a date."""
    return {
        graph.papers[one]: paper.publication_date.year
        for one, paper in found.papers.items()
        if one in graph.papers and paper.publication_date
    }


def comes_too_early(edge: NewEdge, years: Mapping[NodeKey, int]) -> bool:
    """A record that a paper cites a later one is a mixed-up record, unless the later one is its reprint's year."""
    source, target = years.get(edge.source), years.get(edge.target)
    return edge.kind == "cites" and source is not None and target is not None and target > source + _REPRINTED


def _reason(why: Step, step: int) -> ReasonFound:
    label = None if why.from_paper is None else marker(why.from_paper)
    return ReasonFound(step=step, kind=why.kind, label=label, query=None if why.query is None else plain(why.query))


def recommended_references(
    idea: Idea, graph: StateGraph, found: FoundPapers, limit: int, known: Collection[PaperId] = ()
) -> tuple[RecommendedReference, ...]:
    """Those first that the graph joins to the idea or to its claims, methods and concepts by what texts say; then those
    that were shown; then the others; in each the papers that several searches agree on first. None that was deleted,
    none that is `known`, none whose title the idea has already, and no record twice."""
    text = f" {normalised_name(idea.own_words.text)} "
    titles: dict[str, PaperId] = {}
    left_out = graph.pruned | set(known)
    joined = _joined_papers(graph)

    def order(paper: PaperId) -> tuple[bool, bool, float]:
        return paper not in joined, paper not in graph.papers, -found.scores[paper]

    for paper in sorted(found.scores, key=order):
        title = normalised_name(found.papers[paper].title)
        if paper in left_out or (len(title.split()) >= _SHORTEST_TITLE and f" {title} " in text):
            continue
        titles.setdefault(title, paper)
    return tuple(
        RecommendedReference(
            label=marker(paper),
            rank=rank,
            found=found.reasons[paper],
            edges=tuple(one.key for one in graph.edges_of(graph.papers[paper])) if paper in graph.papers else (),
        )
        for rank, paper in enumerate(list(titles.values())[:limit], start=1)
    )


def _joined_papers(graph: StateGraph) -> set[PaperId]:
    """By at most two edges, none of them from records: paper and idea, or paper and what the idea has too. What the
    corpus's own graph says of a paper joins it to nothing: it was found by patterns."""
    said = [one for one in graph.edges.values() if one.basis != "record" and one.statement != BY_CORPUS]
    near = {IDEA_NODE}
    near |= {end for one in said if IDEA_NODE in (one.source, one.target) for end in (one.source, one.target)}
    ends = {end for one in said if near & {one.source, one.target} for end in (one.source, one.target)}
    return {paper for paper, node in graph.papers.items() if node in ends}


def with_known_reasons(one: RecommendedReference, papers: Container[PaperId]) -> RecommendedReference:
    """Without the reasons that name a paper of which nothing is known, such as one outside the window."""
    known = tuple(why for why in one.found if why.label is None or paper_of(why.label) in papers)
    return one.model_copy(update={"found": known})
