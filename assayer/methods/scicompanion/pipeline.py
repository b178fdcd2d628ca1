"""SciCompanion: an idea held against a graph of the literature that grows step by step beside a notebook.

After "SciCompanion: Graph-Grounded Reasoning for Structured Evaluation of Scientific Arguments", sections 2.2 to 2.4
and Algorithm 1. What the paper leaves open, and what stands in its place here: docs/quality/scicompanion.md.
"""

from collections.abc import Iterator, Sequence

from assayer.backends import Backends
from assayer.citing.labels import paper_of
from assayer.literature.library import Library
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.scicompanion.dimensions import venue_dimensions
from assayer.methods.scicompanion.evaluation import Evaluated, judge_dimensions, unjudged
from assayer.methods.scicompanion.exploration import Exploration
from assayer.methods.scicompanion.graph import GraphLimits, empty_graph
from assayer.methods.scicompanion.history import GraphHistory
from assayer.methods.scicompanion.options import METHOD, SciCompanionOptions
from assayer.methods.scicompanion.prompt_state import CompanionState
from assayer.methods.scicompanion.retrieval import recommended_references, with_known_reasons
from assayer.models import EvidenceEdge, FitLevel, Idea, ModuleDepth, Notice
from assayer.reports.assembly import EvaluationResult, Findings, assemble_report
from assayer.run.accounting import Started
from assayer.run.run import Run
from assayer.run.structured_concurrency import measured

__all__ = ["evaluate", "explored"]


async def evaluate(idea: Idea, backends: Backends, run: Run, options: SciCompanionOptions) -> EvaluationResult:
    """Without a language model the graph of one search, its recommendations, and no score. Raises InputError for a file
    of dimensions that cannot be used, LiteratureError, and what makes going on pointless."""
    dimensions = venue_dimensions(options.dimensions)
    started = Started.now(run.clock)
    library = Library(backends.literature, backends.full_texts, run, idea)
    run.report_progress(METHOD, 0, options.steps + 1)
    fit = await library.fit(idea.text)
    state, exploring = await measured(explored(idea, backends, library, run, options, fit.level))
    evaluated, judging = await measured(_judged(state, backends, run, options, dimensions))
    run.report_progress(METHOD, options.steps + 1, options.steps + 1)
    best = recommended_references(idea, state.graph, state.found, options.recommended)
    on_the_way = {paper_of(why.label) for one in best for why in one.found if why.label} - state.found.papers.keys()
    papers = {**state.found.papers, **{one.id: one for one in await library.papers(sorted(on_the_way))}}
    recommended = [with_known_reasons(one, papers) for one in best]
    findings = Findings(
        summary=evaluated.summary,
        parts=(evaluated.part,),
        depth=(ModuleDepth(module="graph", levels=exploring), ModuleDepth(module="evaluation", levels=judging)),
        corpus_fit=fit,
        papers=papers,
        notices=(*_left_out(options), *_notices(state)),
        graph=state.history.record(state.steps, recommended),
    )
    return await assemble_report(METHOD, idea, backends, run, started, findings, library)


async def explored(
    idea: Idea, backends: Backends, library: Library, run: Run, options: SciCompanionOptions, fit: FitLevel
) -> CompanionState:
    """Graph and notebook after the last step. Raises LiteratureError and what makes going on pointless."""
    text = idea.text[: options.idea_chars]
    run.unread_characters = len(idea.text) - len(text)
    graph = empty_graph(idea.title, GraphLimits(nodes=options.nodes, edges=options.edges))
    state = CompanionState(idea, text, fit, graph, history=GraphHistory().with_graph(graph))
    return await Exploration(backends, library, run, options).explore(state)


async def _judged(
    state: CompanionState,
    backends: Backends,
    run: Run,
    options: SciCompanionOptions,
    dimensions: Sequence[RubricDimension],
) -> Evaluated:
    if not backends.llm.models:
        return unjudged(dimensions)
    return await judge_dimensions(backends.llm, run, state, options, dimensions)


def _left_out(options: SciCompanionOptions) -> Iterator[Notice]:
    if options.without:
        yield Notice(kind="graph", text=f"Left out by its settings: {', '.join(options.without)}.")


def _notices(state: CompanionState) -> tuple[Notice, ...]:
    if not state.found.papers:
        said = "No search brought up a paper: there is nothing in the graph but what the idea itself says."
        return (Notice(kind="graph", text=said),)
    if not any(_cites(edge) for edge in state.history.edges.values()):
        said = (
            "No citation between the papers found is on record: they were found by words and likeness alone, and the "
            "graph shows only what texts say."
        )
        return (Notice(kind="graph", text=said),)
    return ()


def _cites(edge: EvidenceEdge) -> bool:
    return edge.kind in ("cites", "co_cited")
