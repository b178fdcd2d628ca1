"""SciCompanion: compare an idea with a graph of the literature that grows step by step, together with a notebook.

It follows "SciCompanion: Graph-Grounded Reasoning for Structured Evaluation of Scientific Arguments", sections 2.2 to
2.4 and Algorithm 1. What the paper leaves open, and what we chose: docs/evidence/scicompanion.md."""

from assayer.citing.labels import parse_marker
from assayer.evaluation_context import EvaluationContext
from assayer.methods.scicompanion.evaluation import build_unscored_evaluation, judge_dimensions
from assayer.methods.scicompanion.exploration import Exploration
from assayer.methods.scicompanion.graph import build_empty_graph
from assayer.methods.scicompanion.history import GraphHistory
from assayer.methods.scicompanion.options import METHOD, SciCompanionOptions
from assayer.methods.scicompanion.prompt_state import CompanionState
from assayer.methods.scicompanion.retrieval import keep_known_reasons, rank_recommended_references
from assayer.models import FitLevel, Notice
from assayer.reports.assembly import EvaluationResult, Findings, assemble_report


async def evaluate(context: EvaluationContext[SciCompanionOptions]) -> EvaluationResult:
    """Evaluate an idea. Without a language model, the result is the graph from one search, with its recommendations and
    no score. Raises InputError if the file of dimensions is invalid, LiteratureError if the corpus fails, and errors
    that would affect every later LLM request."""
    idea, library, run, options = context.idea, context.library, context.run, context.options
    dimensions = options.load_rubric()
    run.report_progress(METHOD, 0, options.steps + 1)
    fit = await library.fit(idea.text)
    state = await explore_literature(context, fit.level)
    evaluation = (
        await judge_dimensions(context, state, dimensions)
        if context.has_model
        else build_unscored_evaluation(dimensions)
    )
    run.report_progress(METHOD, options.steps + 1, options.steps + 1)
    best = rank_recommended_references(idea, state.graph, state.found, options.recommended)
    intermediate = {
        parse_marker(reason.label) for item in best for reason in item.search_paths if reason.label
    } - state.found.papers.keys()
    papers = {**state.found.papers, **{paper.id: paper for paper in await library.papers(sorted(intermediate))}}
    recommendations = [keep_known_reasons(item, papers) for item in best]
    findings = Findings(
        summary=evaluation.summary,
        parts=(evaluation.part,),
        corpus_fit=fit,
        papers=papers,
        notices=_list_notices(state),
        graph=state.history.build_record(state.steps, recommendations),
    )
    return await assemble_report(METHOD, context, findings)


async def explore_literature(context: EvaluationContext[SciCompanionOptions], fit: FitLevel) -> CompanionState:
    """Explore the literature, and return the graph and notebook after the last step. Raises LiteratureError if the
    corpus fails, and errors that would affect every later LLM request."""
    options = context.options
    graph = build_empty_graph(context.idea.title, options.nodes, options.edges)
    state = CompanionState(context.idea, context.text, fit, graph, history=GraphHistory().add_graph(graph))
    return await Exploration(context).explore(state)


def _list_notices(state: CompanionState) -> tuple[Notice, ...]:
    if not state.found.papers:
        text = "No search found any paper, so the graph contains only what the idea itself states."
        return (Notice(kind="graph", text=text),)
    if not any(edge.kind in ("cites", "co_cited") for edge in state.history.edges.values()):
        text = (
            "The sources record no citations between the papers found. The papers were found by similarity of their "
            "texts alone, and the graph shows only what those texts state."
        )
        return (Notice(kind="graph", text=text),)
    return ()
