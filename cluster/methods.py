"""The methods that the program offers, in one table: what each needs, what determines its report, how it is run."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from assayer.backends import Backends
from assayer.claim_support.task import SUPPORT
from assayer.llm import Task
from assayer.methods import grapheval, scholareval
from assayer.methods.grapheval import tasks as grapheval_tasks
from assayer.methods.grapheval.graph.growth import missing_graph_error
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.grapheval.pipeline import evaluate as evaluate_by_graph
from assayer.methods.grapheval.pipeline import judge_idea, verdict_notices
from assayer.methods.innoeval import tasks as innoeval_board
from assayer.methods.innoeval import tasks as innoeval_tasks
from assayer.methods.innoeval.board.configuration import hashed_options
from assayer.methods.innoeval.board.session import BoardSession
from assayer.methods.innoeval.options import METHOD as INNOEVAL
from assayer.methods.innoeval.pipeline import evaluate as evaluate_by_board
from assayer.methods.scholareval import tasks as scholareval_tasks
from assayer.methods.scholareval.pipeline import evaluate as evaluate_by_review
from assayer.methods.scicompanion import tasks as scicompanion_tasks
from assayer.methods.scicompanion.dimensions import venue_dimensions
from assayer.methods.scicompanion.options import METHOD as SCICOMPANION
from assayer.methods.scicompanion.pipeline import evaluate as evaluate_by_literature_graph
from assayer.models import Absent, Idea, Verdict
from assayer.plan_review.task import FLAWS
from assayer.reports.assembly import EvaluationResult
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, attempt
from cluster.innoeval_calibrations import innoeval_options
from cluster.settings import Settings

__all__ = ["METHODS", "METHOD_DESCRIPTIONS", "EvaluationMethod", "MethodContext", "with_board"]


METHOD_DESCRIPTIONS: Mapping[str, str] = {
    scholareval.METHOD: "Soundness and contribution of an idea, each claim held against the literature it finds.",
    grapheval.METHOD: "A verdict from ideas whose outcomes are known, through a graph of their viewpoints.",
    INNOEVAL: "A board of reviewers with different backgrounds judges the idea by papers, web, code and data sets.",
    SCICOMPANION: "A graph of the literature, grown step by step beside a notebook, and what the idea missed in it.",
}
"""What each method is, in one line."""


@dataclass(frozen=True)
class MethodContext:
    """All that an evaluation is made with."""

    settings: Settings
    backends: Backends
    judge: GraphJudge | Absent
    """The graph of labelled ideas, or why there is none."""

    @property
    def without_llm(self) -> bool:
        return not self.backends.llm.models


@dataclass(frozen=True)
class EvaluationMethod:
    tasks: tuple[Task[Any, Any], ...]
    options: Callable[[Settings], BaseModel]
    """What of the settings determines its reports. Raises InputError for files that cannot be used."""
    evaluate: Callable[[Idea, Run, MethodContext], Awaitable[EvaluationResult]]
    reads_literature: bool
    needs_graph: bool
    """It cannot do without a graph of labelled ideas."""
    asks_graph: Callable[[MethodContext], bool]
    """Whether its reports depend on the graph of labelled ideas."""
    needs_llm: bool = False
    """Nothing honest can take a language model's place in it."""
    reranks: bool = False
    """Whether it orders what it finds by the reranker, where one is configured."""
    models: Callable[[Settings], Sequence[str]] = lambda settings: ()
    """That it asks by name, beside those of the LLM settings."""
    beyond_papers: bool = False
    """It searches the web, code and data sets too, where they are configured."""


async def _scholareval(idea: Idea, run: Run, context: MethodContext) -> EvaluationResult:
    """Without a language model its scores are measures of overlap; what labelled ideas say is added to them."""
    if not context.without_llm:
        return await evaluate_by_review(idea, context.backends, run, context.settings.scholareval)
    verdict = await _verdict(idea, run, context)
    report, papers = await evaluate_by_review(idea, context.backends, run, context.settings.scholareval)
    more = verdict_notices(verdict) if isinstance(verdict, Verdict) else ()
    return EvaluationResult(report.model_copy(update={"verdict": verdict, "notices": (*report.notices, *more)}), papers)


async def _verdict(idea: Idea, run: Run, context: MethodContext) -> Verdict | Absent:
    if isinstance(context.judge, Absent):
        return context.judge
    outcome = await attempt(judge_idea(idea, context.backends, run, context.settings.grapheval, context.judge))
    if isinstance(outcome, Failed):
        run.journal.record_failure("verdict of labelled ideas", outcome.error)
        return Absent(reason=str(outcome.error))
    return outcome


async def _grapheval(idea: Idea, run: Run, context: MethodContext) -> EvaluationResult:
    if isinstance(context.judge, Absent):
        raise missing_graph_error(context.settings.grapheval.graph)
    return await evaluate_by_graph(idea, context.backends, run, context.settings.grapheval, context.judge)


def with_board(settings: Settings, board: int | None, models: tuple[str, ...]) -> Settings:
    """The settings with so many reviewers on InnoEval's board, dealt among these models; None and none change
    nothing."""
    asked: dict[str, object] = {} if board is None else {"board": board}
    options = settings.innoeval.board.model_copy(update=asked | ({"models": models} if models else {}))
    return settings.model_copy(update={"innoeval": settings.innoeval.model_copy(update={"board": options})})


async def _innoeval(idea: Idea, run: Run, context: MethodContext) -> EvaluationResult:
    options = innoeval_options(context.settings)
    board = BoardSession(context.backends.llm, run, options.board)
    return await evaluate_by_board(idea, context.backends, run, options, board)


def _scicompanion_options(settings: Settings) -> BaseModel:
    """With the dimensions themselves in place of a file of them, wherever it lies. Raises InputError."""
    options = settings.scicompanion
    return options.model_copy(update={"dimensions": venue_dimensions(options.dimensions)})


async def _scicompanion(idea: Idea, run: Run, context: MethodContext) -> EvaluationResult:
    return await evaluate_by_literature_graph(idea, context.backends, run, context.settings.scicompanion)


METHODS: Mapping[str, EvaluationMethod] = {
    scholareval.METHOD: EvaluationMethod(
        tasks=(*scholareval_tasks.ALL, FLAWS, SUPPORT),
        options=lambda settings: settings.scholareval,
        evaluate=_scholareval,
        reads_literature=True,
        needs_graph=False,
        asks_graph=lambda context: context.without_llm,
        reranks=True,
    ),
    grapheval.METHOD: EvaluationMethod(
        tasks=grapheval_tasks.ALL,
        options=lambda settings: settings.grapheval,
        evaluate=_grapheval,
        reads_literature=False,
        needs_graph=True,
        asks_graph=lambda context: True,
    ),
    INNOEVAL: EvaluationMethod(
        tasks=(*innoeval_tasks.SEARCH_TASKS, *innoeval_board.BOARD_TASKS, FLAWS, SUPPORT),
        options=lambda settings: hashed_options(innoeval_options(settings)),
        evaluate=_innoeval,
        reads_literature=True,
        needs_graph=False,
        asks_graph=lambda context: False,
        needs_llm=True,
        reranks=True,
        models=lambda settings: settings.innoeval.board.models,
        beyond_papers=True,
    ),
    SCICOMPANION: EvaluationMethod(
        tasks=(*scicompanion_tasks.ALL, SUPPORT),
        options=_scicompanion_options,
        evaluate=_scicompanion,
        reads_literature=True,
        needs_graph=False,
        asks_graph=lambda context: False,
    ),
}
