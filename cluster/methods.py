"""Table of the evaluation methods: what each requires, what determines its reports, and how to run it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from assayer.backends import Backends
from assayer.claim_support.task import SUPPORT
from assayer.evaluation_context import EvaluationContext, MethodOptions
from assayer.llm import Task
from assayer.methods.check import METHOD as CHECK
from assayer.methods.check import pipeline as check
from assayer.methods.grapheval import METHOD as GRAPHEVAL
from assayer.methods.grapheval import pipeline as grapheval
from assayer.methods.grapheval import tasks as grapheval_tasks
from assayer.methods.grapheval.graph.growth import build_missing_graph_error
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.innoeval import METHOD as INNOEVAL
from assayer.methods.innoeval import pipeline as innoeval
from assayer.methods.innoeval import tasks as innoeval_tasks
from assayer.methods.innoeval.board.configuration import hash_option_files
from assayer.methods.innoeval.board.session import BoardSession
from assayer.methods.review import METHOD as REVIEW
from assayer.methods.review import pipeline as review
from assayer.methods.review import tasks as review_tasks
from assayer.methods.scholareval import METHOD as SCHOLAREVAL
from assayer.methods.scholareval import pipeline as scholareval
from assayer.methods.scholareval import tasks as scholareval_tasks
from assayer.methods.scicompanion import METHOD as SCICOMPANION
from assayer.methods.scicompanion import pipeline as scicompanion
from assayer.methods.scicompanion import tasks as scicompanion_tasks
from assayer.models import Absent, Idea
from assayer.plan_review.task import FLAWS
from assayer.reports.assembly import EvaluationResult
from assayer.run.run import Run
from cluster.innoeval_calibrations import load_innoeval_options
from cluster.settings import Settings

METHOD_DESCRIPTIONS: Mapping[str, str] = {
    REVIEW: "A one-page review by a panel of referees and an editor, with evidence from the literature.",
    SCHOLAREVAL: "The idea's soundness and contribution, with each claim compared with the literature.",
    GRAPHEVAL: "A verdict based on a graph of viewpoints from ideas with known outcomes.",
    INNOEVAL: "A board of reviewers with different backgrounds, who judge with papers, the web, code and data sets.",
    CHECK: "Evidence without a judgement: closest work, its stated limitations, references, gaps in the plan.",
    SCICOMPANION: "A literature graph, extended step by step with a notebook, and what the idea missed in it.",
}
"""One-line description of each method."""

Options = TypeVar("Options", bound=MethodOptions)


@dataclass(frozen=True)
class MethodInputs:
    """Inputs that the engine passes to a method for one evaluation."""

    settings: Settings
    backends: Backends
    judge: GraphJudge | Absent
    """Judge based on the graph of labelled ideas, or why there is none."""

    @property
    def has_no_llm(self) -> bool:
        """Whether no language model is configured."""
        return not self.backends.llm.models

    def open_context(self, idea: Idea, run: Run, options: Options) -> EvaluationContext[Options]:
        """Return the context that all of the method's steps share."""
        return EvaluationContext.open(idea, self.backends, run, options, self.settings.release)


@dataclass(frozen=True)
class EvaluationMethod:
    """Properties of an evaluation method that the engine needs."""

    tasks: tuple[Task[Any, Any], ...]
    options: Callable[[Settings], BaseModel]
    """Function that returns the settings that determine the method's reports. It raises InputError if a file is
    unusable."""
    evaluate: Callable[[Idea, Run, MethodInputs], Awaitable[EvaluationResult]]
    reads_literature: bool
    needs_graph: bool
    """Whether the method requires a graph of labelled ideas."""
    asks_llm: bool = True
    """Whether the method uses a language model if one is configured."""
    needs_llm: bool = False
    """Whether the method requires a language model."""
    scores_without_llm: bool = False
    """Whether the method's reports have comparable scores even if no language model is configured."""
    reranks: bool = False
    """Whether the method reranks its search results if a reranker is configured."""
    models: Callable[[Settings], Sequence[str]] = lambda settings: ()
    """Function that returns the names of the models that the method uses besides those in the LLM settings."""
    beyond_papers: bool = False
    """Whether the method also searches the web, code and data sets if those are configured."""


async def _evaluate_with_scholareval(idea: Idea, run: Run, inputs: MethodInputs) -> EvaluationResult:
    """Evaluate with ScholarEval; without a language model, report the evidence."""
    if inputs.has_no_llm:
        return await _report_evidence(SCHOLAREVAL, idea, run, inputs)
    return await scholareval.evaluate(inputs.open_context(idea, run, inputs.settings.scholareval))


async def _evaluate_with_review(idea: Idea, run: Run, inputs: MethodInputs) -> EvaluationResult:
    """Write a review; without a language model, report the evidence."""
    if inputs.has_no_llm:
        return await _report_evidence(REVIEW, idea, run, inputs)
    return await review.evaluate(inputs.open_context(idea, run, inputs.settings.review))


async def _evaluate_with_check(idea: Idea, run: Run, inputs: MethodInputs) -> EvaluationResult:
    return await _report_evidence(CHECK, idea, run, inputs)


async def _report_evidence(method: str, idea: Idea, run: Run, inputs: MethodInputs) -> EvaluationResult:
    """Return an evidence report for `method`. Only for `check`, the report also lists what the proposal does not
    state."""
    return await check.evaluate(
        inputs.open_context(idea, run, inputs.settings.check), method, with_checklist=method == CHECK
    )


async def _evaluate_with_grapheval(idea: Idea, run: Run, inputs: MethodInputs) -> EvaluationResult:
    if isinstance(inputs.judge, Absent):
        raise build_missing_graph_error(inputs.settings.grapheval.graph)
    return await grapheval.evaluate(inputs.open_context(idea, run, inputs.settings.grapheval), inputs.judge)


def apply_board(settings: Settings, board: int | None, models: tuple[str, ...]) -> Settings:
    """Return the settings with `board` reviewers on InnoEval's board, distributed among `models`. None for `board` and
    () for `models` leave that setting unchanged."""
    board_options: dict[str, object] = {} if board is None else {"board": board}
    options = settings.innoeval.board.model_copy(update=board_options | ({"models": models} if models else {}))
    return settings.model_copy(update={"innoeval": settings.innoeval.model_copy(update={"board": options})})


async def _evaluate_with_innoeval(idea: Idea, run: Run, inputs: MethodInputs) -> EvaluationResult:
    options = load_innoeval_options(inputs.settings)
    board = BoardSession(inputs.backends.llm, run, options.board)
    return await innoeval.evaluate(inputs.open_context(idea, run, options), board)


def _load_scicompanion_options(settings: Settings) -> BaseModel:
    """Return the options, with the dimensions themselves instead of their file's path. Raises InputError if the file is
    unusable."""
    options = settings.scicompanion
    return options.model_copy(update={"dimensions": options.load_rubric()})


async def _evaluate_with_scicompanion(idea: Idea, run: Run, inputs: MethodInputs) -> EvaluationResult:
    return await scicompanion.evaluate(inputs.open_context(idea, run, inputs.settings.scicompanion))


METHODS: Mapping[str, EvaluationMethod] = {
    REVIEW: EvaluationMethod(
        tasks=(*review_tasks.ALL, SUPPORT),
        options=lambda settings: settings.review if settings.llm else settings.check,
        evaluate=_evaluate_with_review,
        reads_literature=True,
        needs_graph=False,
        reranks=True,
    ),
    SCHOLAREVAL: EvaluationMethod(
        tasks=(*scholareval_tasks.ALL, FLAWS, SUPPORT),
        options=lambda settings: settings.scholareval if settings.llm else settings.check,
        evaluate=_evaluate_with_scholareval,
        reads_literature=True,
        needs_graph=False,
        reranks=True,
    ),
    GRAPHEVAL: EvaluationMethod(
        tasks=grapheval_tasks.ALL,
        options=lambda settings: settings.grapheval,
        evaluate=_evaluate_with_grapheval,
        reads_literature=False,
        needs_graph=True,
        scores_without_llm=True,
    ),
    INNOEVAL: EvaluationMethod(
        tasks=(*innoeval_tasks.SEARCH_TASKS, *innoeval_tasks.BOARD_TASKS, FLAWS, SUPPORT),
        options=lambda settings: hash_option_files(load_innoeval_options(settings)),
        evaluate=_evaluate_with_innoeval,
        reads_literature=True,
        needs_graph=False,
        needs_llm=True,
        reranks=True,
        models=lambda settings: settings.innoeval.board.models,
        beyond_papers=True,
    ),
    SCICOMPANION: EvaluationMethod(
        tasks=(*scicompanion_tasks.ALL, SUPPORT),
        options=_load_scicompanion_options,
        evaluate=_evaluate_with_scicompanion,
        reads_literature=True,
        needs_graph=False,
    ),
    CHECK: EvaluationMethod(
        tasks=(),
        options=lambda settings: settings.check,
        evaluate=_evaluate_with_check,
        reads_literature=True,
        needs_graph=False,
        asks_llm=False,
        reranks=True,
    ),
}
