"""The loop: queries, search, merge, edits, trace, next queries. T steps of it, one call a step or three."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from assayer.backends import Backends
from assayer.citing.labels import canonical
from assayer.errors import AssayerError
from assayer.literature.library import Library
from assayer.llm import ask
from assayer.methods.scicompanion.base_graph import ContentLimits, with_contents
from assayer.methods.scicompanion.editing import apply_edits
from assayer.methods.scicompanion.graph import StateGraph
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.prompt_state import CompanionState, state_question
from assayer.methods.scicompanion.retrieval import Retrieved, retrieve
from assayer.methods.scicompanion.schemas import GraphCompletion, NextQueries, StateQuestion
from assayer.methods.scicompanion.tasks import COMPLETION, QUERIES, STEP, TRACE
from assayer.models import GraphEdit, GraphStep, Idea, PaperId
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, attempt

__all__ = ["Exploration", "idea_queries"]

_QUERY_CHARS = 400
_LEAST_WORDS = 8
WITHOUT_LLM = "there is no language model to edit the graph and write into the notebook."


class _Thought(NamedTuple):
    """What came of the calls of one step."""

    state: CompanionState
    edits: tuple[GraphEdit, ...]
    queries: tuple[str, ...]


class Exploration:
    """Of one run."""

    def __init__(self, backends: Backends, library: Library, run: Run, options: SciCompanionOptions) -> None:
        self._backends, self._library, self._run, self._options = backends, library, run, options

    async def explore(self, state: CompanionState) -> CompanionState:
        """Without a language model one search by the idea's own words. A step whose calls fail is the last one. Raises
        LiteratureError and what makes going on pointless."""
        queries = await self._first_queries(state)
        for step in range(1, self._options.steps + 1):
            queries = _new_queries(queries, state.asked, self._options.queries)
            if not queries:
                break
            state, queries = await self._step(state, queries, step)
            self._run.report_progress("scicompanion", step, self._options.steps + 1)
        return state

    async def _first_queries(self, state: CompanionState) -> tuple[str, ...]:
        if not self._backends.llm.models:
            return idea_queries(state.idea, self._options.queries)
        question = state_question(state, self._run, self._options, step=0)
        answer = await attempt(ask(self._backends.llm, QUERIES, question, self._run))
        self._run.keep_successes([answer], "queries")
        return idea_queries(state.idea, self._options.queries) if isinstance(answer, Failed) else tuple(answer.queries)

    async def _step(
        self, state: CompanionState, queries: tuple[str, ...], step: int
    ) -> tuple[CompanionState, tuple[str, ...]]:
        retrieved = await retrieve(queries, state.graph, state.found, self._library, self._options, step)
        graph = await self._with_contents(retrieved, step)
        state = replace(state, graph=graph, found=retrieved.found, asked=(*state.asked, *queries))
        state = replace(state, history=state.history.with_graph(state.graph))
        if not self._backends.llm.models:
            return _after(state, queries, step, retrieved, (), WITHOUT_LLM), ()
        thought = await attempt(self._think(state, step, retrieved.new))
        self._run.keep_successes([thought], "step of thinking")
        if isinstance(thought, Failed):
            return _after(state, queries, step, retrieved, (), _reason(thought.error)), ()
        return _after(thought.state, queries, step, retrieved, thought.edits, None), thought.queries

    async def _with_contents(self, retrieved: Retrieved, step: int) -> StateGraph:
        """And what the corpus's own graph knows of the papers."""
        if not self._options.has("graph"):
            return retrieved.graph
        limits = ContentLimits(self._options.names, self._options.claims)
        contents = await self._library.contents(list(retrieved.graph.papers))
        return with_contents(retrieved.graph, contents, retrieved.new, limits, step)

    async def _think(self, state: CompanionState, step: int, new: frozenset[PaperId]) -> _Thought:
        """Raises an LlmError or BudgetExhausted."""
        question = state_question(state, self._run, self._options, step, new)
        if self._options.asked == "apart" or self._options.without:
            return await self._think_apart(state, step, question, new)
        answer = await ask(self._backends.llm, STEP, question, self._run)
        edited, edits = await self._edited(state, answer, question, step)
        return _Thought(_with_trace(edited, answer.trace, question, step), edits, tuple(answer.queries))

    async def _think_apart(
        self, state: CompanionState, step: int, question: StateQuestion, new: frozenset[PaperId]
    ) -> _Thought:
        llm, run, options = self._backends.llm, self._run, self._options
        edits: tuple[GraphEdit, ...] = ()
        if options.has("completion"):
            completion = await ask(llm, COMPLETION, question, run)
            state, edits = await self._edited(state, completion, question, step)
        if options.has("notebook"):
            asked_next = state_question(state, run, options, step, new)
            state = _with_trace(state, (await ask(llm, TRACE, asked_next, run)).trace, asked_next, step)
        if step == options.steps:
            return _Thought(state, edits, ())
        answer: NextQueries = await ask(llm, QUERIES, state_question(state, run, options, step, new), run)
        return _Thought(state, edits, tuple(answer.queries))

    async def _edited(
        self, state: CompanionState, answer: GraphCompletion, question: StateQuestion, step: int
    ) -> tuple[CompanionState, tuple[GraphEdit, ...]]:
        options = self._options
        graph, edits = await apply_edits(
            state.graph, answer, question.papers, self._backends.embedder, options.same_meaning, options.edits, step
        )
        return replace(state, graph=graph, history=state.history.with_graph(graph)), edits


def idea_queries(idea: Idea, limit: int) -> tuple[str, ...]:
    """The idea's title and the beginnings of its paragraphs."""
    paragraphs = (" ".join(one.split()) for section in idea.sections for one in section.text.split("\n\n"))
    long_enough = (one[:_QUERY_CHARS] for one in paragraphs if len(one.split()) >= _LEAST_WORDS)
    return tuple(dict.fromkeys((idea.title, *long_enough)))[:limit]


def _new_queries(queries: Sequence[str], asked: Sequence[str], limit: int) -> tuple[str, ...]:
    known = {one.casefold() for one in asked}
    distinct = dict.fromkeys(" ".join(one.split()) for one in queries)
    return tuple(one for one in distinct if one and one.casefold() not in known)[:limit]


def _with_trace(state: CompanionState, trace: str, question: StateQuestion, step: int) -> CompanionState:
    text = canonical(" ".join(trace.split()), {one.label: one.paper_id for one in question.papers})
    return replace(state, notebook=state.notebook.with_entry(step, text))


def _after(
    state: CompanionState,
    queries: tuple[str, ...],
    step: int,
    retrieved: Retrieved,
    edits: tuple[GraphEdit, ...],
    lost: str | None,
) -> CompanionState:
    done = GraphStep(
        number=step,
        queries=queries,
        found=retrieved.brought,
        new=len(retrieved.new),
        edits=edits,
        trace=state.notebook.text_of(step),
        lost=lost,
        nodes=tuple(state.graph.nodes),
        edges=tuple(state.graph.edges),
    )
    return replace(state, steps=(*state.steps, done))


def _reason(error: AssayerError) -> str:
    return f"{error.reason}."
