"""The methods that the program offers, in one table: what each needs, what determines its report, how it is run."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from assayer.errors import AssayerError, LlmRejected, LlmUnavailable, RunCancelled
from assayer.evaluation import Evaluation
from assayer.methods import grapheval, scholareval
from assayer.methods.grapheval import tasks as grapheval_tasks
from assayer.methods.grapheval.growth import no_graph
from assayer.methods.grapheval.judge import Judge
from assayer.methods.grapheval.pipeline import evaluate as evaluate_by_graph
from assayer.methods.grapheval.pipeline import judged, notices_of
from assayer.methods.innoeval import board_tasks as innoeval_board
from assayer.methods.innoeval import tasks as innoeval_tasks
from assayer.methods.innoeval.convened import Convened
from assayer.methods.innoeval.options import METHOD as INNOEVAL
from assayer.methods.innoeval.pipeline import evaluate as evaluate_by_board
from assayer.methods.innoeval.rules import determinants_of
from assayer.methods.scholareval import tasks as scholareval_tasks
from assayer.methods.scholareval.pipeline import evaluate as evaluate_by_review
from assayer.models import Absent, Idea, Verdict
from assayer.run import Run
from assayer.tasks import Task
from assayer.world import World
from cluster.calibrations import innoeval_options
from cluster.settings import Settings

__all__ = ["METHODS", "Bench", "Method"]


@dataclass(frozen=True)
class Bench:
    """All that an evaluation is made with."""

    settings: Settings
    world: World
    judge: Judge | Absent
    """The graph of labelled ideas, or why there is none."""

    @property
    def without_llm(self) -> bool:
        return not self.world.llm.models


@dataclass(frozen=True)
class Method:
    tasks: tuple[Task[Any, Any], ...]
    options: Callable[[Settings], BaseModel]
    """What of the settings determines its reports. Raises InputError for files that cannot be used."""
    evaluate: Callable[[Idea, Run, Bench], Awaitable[Evaluation]]
    reads_literature: bool
    needs_graph: bool
    """It cannot do without a graph of labelled ideas."""
    asks_graph: Callable[[Bench], bool]
    """Whether its reports depend on the graph of labelled ideas."""
    needs_llm: bool = False
    """Nothing honest can take a language model's place in it."""
    beyond_papers: bool = False
    """It searches the web and code too, where they are configured, and reranks what it finds."""


async def _scholareval(idea: Idea, run: Run, bench: Bench) -> Evaluation:
    """Without a language model its scores are measures of overlap; what labelled ideas say is added to them."""
    if not bench.without_llm:
        return await evaluate_by_review(idea, bench.world, run, bench.settings.scholareval)
    verdict = await _verdict(idea, run, bench)
    report, papers = await evaluate_by_review(idea, bench.world, run, bench.settings.scholareval)
    more = notices_of(verdict) if isinstance(verdict, Verdict) else ()
    return Evaluation(report.model_copy(update={"verdict": verdict, "notices": (*report.notices, *more)}), papers)


async def _verdict(idea: Idea, run: Run, bench: Bench) -> Verdict | Absent:
    if isinstance(bench.judge, Absent):
        return bench.judge
    try:
        return await judged(idea, bench.world, run, bench.settings.grapheval, bench.judge)
    except (RunCancelled, LlmRejected, LlmUnavailable):
        raise
    except AssayerError as error:
        run.journal.fail("verdict of labelled ideas", error)
        return Absent(reason=str(error))


async def _grapheval(idea: Idea, run: Run, bench: Bench) -> Evaluation:
    if isinstance(bench.judge, Absent):
        raise no_graph(bench.settings.grapheval.graph)
    return await evaluate_by_graph(idea, bench.world, run, bench.settings.grapheval, bench.judge)


async def _innoeval(idea: Idea, run: Run, bench: Bench) -> Evaluation:
    options = innoeval_options(bench.settings)
    board = Convened(bench.world.llm, run, options.board)
    return await evaluate_by_board(idea, bench.world, run, options, board)


METHODS: Mapping[str, Method] = {
    scholareval.METHOD: Method(
        tasks=scholareval_tasks.ALL,
        options=lambda settings: settings.scholareval,
        evaluate=_scholareval,
        reads_literature=True,
        needs_graph=False,
        asks_graph=lambda bench: bench.without_llm,
    ),
    grapheval.METHOD: Method(
        tasks=grapheval_tasks.ALL,
        options=lambda settings: settings.grapheval,
        evaluate=_grapheval,
        reads_literature=False,
        needs_graph=True,
        asks_graph=lambda bench: True,
    ),
    INNOEVAL: Method(
        tasks=(*innoeval_tasks.SEARCH, *innoeval_board.ALL),
        options=lambda settings: determinants_of(innoeval_options(settings)),
        evaluate=_innoeval,
        reads_literature=True,
        needs_graph=False,
        asks_graph=lambda bench: False,
        needs_llm=True,
        beyond_papers=True,
    ),
}
