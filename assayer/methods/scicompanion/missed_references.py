"""Recommend references that an idea lacks, with a single search along citations and no language model."""

import datetime as dt
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from assayer.citing.labels import parse_marker
from assayer.literature.library import Library
from assayer.methods.scicompanion.exploration import build_idea_queries
from assayer.methods.scicompanion.graph import build_empty_graph
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.retrieval import FoundPapers, rank_recommended_references, retrieve
from assayer.methods.scicompanion.walk import StepKind
from assayer.models import Absent, CorpusFit, EvaluationId, FullText, Idea, Paper, PaperId, SearchPath, Window
from assayer.ports import Clock, Literature
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run


class WayFound(NamedTuple):
    """A way in which the search reached a paper."""

    kind: StepKind
    from_paper: Paper | None
    """The paper whose citations led to the result, or None if the search for the idea's words found it."""


class MissedReference(NamedTuple):
    paper: Paper
    """A paper that the idea does not cite, marked if a source reports it as retracted."""
    found: tuple[WayFound, ...]


class MissedReferences(NamedTuple):
    idea: Idea
    fit: CorpusFit
    references: tuple[MissedReference, ...]
    """The missed references, best first, without those that the idea names."""


class _NoFullTexts:
    async def get(self, papers: Sequence[Paper], window: Window) -> Mapping[PaperId, FullText | Absent]:
        return {paper.id: Absent(reason="full texts are not read for this") for paper in papers}


async def find_missed_references(
    idea: Idea,
    literature: Literature,
    cutoff: dt.date | None,
    clock: Clock,
    options: SciCompanionOptions,
    known_papers: Collection[PaperId] = (),
) -> MissedReferences:
    """Find missed references. The search may reach other papers through those in `known_papers`, but does not recommend
    these. Raises LiteratureError if the source fails."""
    run = Run(id=EvaluationId("references"), cutoff=cutoff, clock=clock, progress=NoProgress())
    library = Library(literature, _NoFullTexts(), run, idea)
    fit = await library.fit(idea.text)
    graph = build_empty_graph(idea.title, options.nodes, options.edges)
    queries = build_idea_queries(idea, options.queries)
    found_papers = (await retrieve(queries, graph, FoundPapers(), library, options, step=1)).found
    recommendations = rank_recommended_references(idea, graph, found_papers, options.recommended, known_papers)
    papers = await library.add_retractions([found_papers.papers[parse_marker(item.label)] for item in recommendations])
    intermediate = {
        parse_marker(reason.label) for item in recommendations for reason in item.search_paths if reason.label
    }
    papers_by_id = {paper.id: paper for paper in await library.papers(sorted(intermediate))}
    ways = (tuple(_list_ways_found(item.search_paths, papers_by_id)) for item in recommendations)
    return MissedReferences(idea, fit, tuple(MissedReference(*item) for item in zip(papers, ways, strict=True)))


def _list_ways_found(reasons: Sequence[SearchPath], papers_by_id: Mapping[PaperId, Paper]) -> Iterator[WayFound]:
    for reason in reasons:
        if reason.label is None:
            yield WayFound(reason.kind, None)
        elif parse_marker(reason.label) in papers_by_id:
            yield WayFound(reason.kind, papers_by_id[parse_marker(reason.label)])
