"""Exploration loop of T steps. Each step runs queries, merges what they find into the graph, edits the graph, writes a
trace and asks for the next queries, with one or three LLM requests."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from assayer.citing.labels import replace_labels_with_markers
from assayer.evaluation_context import EvaluationContext
from assayer.methods.scicompanion.base_graph import add_contents
from assayer.methods.scicompanion.editing import apply_edits
from assayer.methods.scicompanion.graph import StateGraph
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.prompt_state import CompanionState, build_state_question
from assayer.methods.scicompanion.retrieval import Retrieved, retrieve
from assayer.methods.scicompanion.schemas import GraphCompletion, NextQueries, StateQuestion
from assayer.methods.scicompanion.tasks import COMPLETION, QUERIES, STEP, TRACE
from assayer.models import GraphEdit, GraphStep, Idea, PaperId
from assayer.run.concurrency import Failed, catch_failure

_QUERY_CHARS = 400
_MIN_WORDS = 8
WITHOUT_LLM = "editing the graph and writing the notebook need a language model, but none is configured."


class _StepResult(NamedTuple):
    """Result of one step's LLM requests."""

    state: CompanionState
    edits: tuple[GraphEdit, ...]
    queries: tuple[str, ...]


class Exploration:
    """The exploration in one run."""

    def __init__(self, context: EvaluationContext[SciCompanionOptions]) -> None:
        self._context, self._library, self._run, self._options = context, context.library, context.run, context.options

    async def explore(self, state: CompanionState) -> CompanionState:
        """Run the exploration. Without a language model, run a single search with the idea's own words. If a step's LLM
        requests fail, that step is the last. Raises LiteratureError if the corpus fails, and errors that would affect
        every later request."""
        queries = await self._ask_first_queries(state)
        for step in range(1, self._options.steps + 1):
            queries = _keep_new_queries(queries, state.asked, self._options.queries)
            if not queries:
                break
            state, queries = await self._run_step(state, queries, step)
            self._run.report_progress("scicompanion", step, self._options.steps + 1)
        return state

    async def _ask_first_queries(self, state: CompanionState) -> tuple[str, ...]:
        if not self._context.has_model:
            return build_idea_queries(state.idea, self._options.queries)
        question = build_state_question(state, self._run, self._options, step=0)
        answer = await self._context.try_to_ask(QUERIES, question, "queries")
        return (
            build_idea_queries(state.idea, self._options.queries)
            if isinstance(answer, Failed)
            else tuple(answer.queries)
        )

    async def _run_step(
        self, state: CompanionState, queries: tuple[str, ...], step: int
    ) -> tuple[CompanionState, tuple[str, ...]]:
        retrieval = await retrieve(queries, state.graph, state.found, self._library, self._options, step)
        graph = await self._add_contents(retrieval, step)
        state = replace(state, graph=graph, found=retrieval.found, asked=(*state.asked, *queries))
        state = replace(state, history=state.history.add_graph(state.graph))
        if not self._context.has_model:
            return _add_step(state, queries, step, retrieval, (), WITHOUT_LLM), ()
        result = await catch_failure(self._run_calls(state, step, retrieval.new))
        if isinstance(result, Failed):
            self._run.journal.record_failure("reasoning step", result.error)
            return _add_step(state, queries, step, retrieval, (), f"{result.error.reason}."), ()
        return _add_step(result.state, queries, step, retrieval, result.edits, None), result.queries

    async def _add_contents(self, retrieval: Retrieved, step: int) -> StateGraph:
        """Return the graph, with what the corpus graph knows about its papers added."""
        contents = await self._library.contents(list(retrieval.graph.papers))
        return add_contents(retrieval.graph, contents, retrieval.new, self._options, step)

    async def _run_calls(self, state: CompanionState, step: int, new_papers: frozenset[PaperId]) -> _StepResult:
        """Run one step's LLM requests. Raises LlmError or BudgetExhausted if one of them fails."""
        question = build_state_question(state, self._run, self._options, step, new_papers)
        if self._options.asked == "apart":
            return await self._run_separate_calls(state, step, question, new_papers)
        answer = await self._context.ask(STEP, question)
        edited_state, edits = await self._apply_answer(state, answer, question, step)
        return _StepResult(_add_trace(edited_state, answer.trace, question, step), edits, tuple(answer.queries))

    async def _run_separate_calls(
        self, state: CompanionState, step: int, question: StateQuestion, new_papers: frozenset[PaperId]
    ) -> _StepResult:
        context, run, options = self._context, self._run, self._options
        state, edits = await self._apply_answer(state, await context.ask(COMPLETION, question), question, step)
        next_question = build_state_question(state, run, options, step, new_papers)
        state = _add_trace(state, (await context.ask(TRACE, next_question)).trace, next_question, step)
        if step == options.steps:
            return _StepResult(state, edits, ())
        answer: NextQueries = await context.ask(QUERIES, build_state_question(state, run, options, step, new_papers))
        return _StepResult(state, edits, tuple(answer.queries))

    async def _apply_answer(
        self, state: CompanionState, answer: GraphCompletion, question: StateQuestion, step: int
    ) -> tuple[CompanionState, tuple[GraphEdit, ...]]:
        options = self._options
        graph, edits = await apply_edits(
            state.graph,
            answer,
            question.papers,
            self._context.backends.embedder,
            options.same_meaning,
            options.edits,
            step,
        )
        return replace(state, graph=graph, history=state.history.add_graph(graph)), edits


def build_idea_queries(idea: Idea, limit: int) -> tuple[str, ...]:
    """Return up to `limit` queries: the idea's title and the beginnings of its paragraphs."""
    paragraphs = (" ".join(part.split()) for section in idea.sections for part in section.text.split("\n\n"))
    long_enough = (paragraph[:_QUERY_CHARS] for paragraph in paragraphs if len(paragraph.split()) >= _MIN_WORDS)
    return tuple(dict.fromkeys((idea.title, *long_enough)))[:limit]


def _keep_new_queries(queries: Sequence[str], asked_queries: Sequence[str], limit: int) -> tuple[str, ...]:
    folded_queries = {item.casefold() for item in asked_queries}
    distinct = dict.fromkeys(" ".join(query.split()) for query in queries)
    return tuple(item for item in distinct if item and item.casefold() not in folded_queries)[:limit]


def _add_trace(state: CompanionState, trace: str, question: StateQuestion, step: int) -> CompanionState:
    text = replace_labels_with_markers(
        " ".join(trace.split()), {paper.label: paper.paper_id for paper in question.papers}
    )
    return replace(state, notebook=state.notebook.add_entry(step, text))


def _add_step(
    state: CompanionState,
    queries: tuple[str, ...],
    step: int,
    retrieval: Retrieved,
    edits: tuple[GraphEdit, ...],
    failure: str | None,
) -> CompanionState:
    record = GraphStep(
        number=step,
        queries=queries,
        papers_found=retrieval.brought,
        papers_added=len(retrieval.new),
        edits=edits,
        notebook_entry=state.notebook.get_text(step),
        failure_reason=failure,
        nodes=tuple(state.graph.nodes),
        edges=tuple(state.graph.edges),
    )
    return replace(state, steps=(*state.steps, record))
