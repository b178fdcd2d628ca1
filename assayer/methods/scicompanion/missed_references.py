"""What an idea missed: recommended references by one search along citations. No language model is asked."""

from typing import NamedTuple

from assayer.backends import Backends
from assayer.citing.labels import paper_of
from assayer.literature.library import Library
from assayer.methods.scicompanion.exploration import idea_queries
from assayer.methods.scicompanion.graph import GraphLimits, empty_graph
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.retrieval import FoundPapers, recommended_references, retrieve
from assayer.models import CorpusFit, Idea, Paper, ReasonFound
from assayer.run.run import Run

__all__ = ["MissedReference", "MissedReferences", "missed_references"]


class MissedReference(NamedTuple):
    paper: Paper
    """Marked where a source knows that it was retracted."""
    found: tuple[ReasonFound, ...]
    """Labels in it are markers."""


class MissedReferences(NamedTuple):
    idea: Idea
    fit: CorpusFit
    references: tuple[MissedReference, ...]
    """Best first; none that the idea names."""


async def missed_references(idea: Idea, backends: Backends, run: Run, options: SciCompanionOptions) -> MissedReferences:
    """Raises LiteratureError."""
    library = Library(backends.literature, backends.full_texts, run, idea)
    fit = await library.fit(idea.text)
    graph = empty_graph(idea.title, GraphLimits(nodes=options.nodes, edges=options.edges))
    queries = idea_queries(idea, options.queries)
    found = (await retrieve(queries, graph, FoundPapers(), library, options, step=1)).found
    recommended = recommended_references(idea, graph, found, options.recommended)
    papers = await library.with_retractions([found.papers[paper_of(one.label)] for one in recommended])
    return MissedReferences(
        idea, fit, tuple(MissedReference(paper, one.found) for paper, one in zip(papers, recommended, strict=True))
    )
