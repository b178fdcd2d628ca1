"""The engine in one process: settings in, a world that methods can use out. No Ray, no server."""

import asyncio
import datetime as dt
import hashlib
import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace

from assayer import __version__
from assayer.budget import Budget
from assayer.errors import AssayerError, ConfigurationError, Defect, InputError
from assayer.evaluation import Evaluation
from assayer.methods import scholareval
from assayer.methods.grapheval.growth import no_graph
from assayer.methods.grapheval.judge import Judge
from assayer.methods.innoeval.pipeline import no_reviewers
from assayer.models import Absent, EvaluationId, Idea
from assayer.ports import Embedder, Llm, Progress
from assayer.run import Run
from assayer.world import World
from cluster.graphs import open_judge
from cluster.literature import Shelves, open_shelves
from cluster.methods import METHODS, Bench
from cluster.postgres import EmbeddedPostgres
from cluster.settings import Settings
from index import Corpus, CorpusFullTexts
from index.memory import MemoryCorpus
from orchestrator.store import Database, PgAnswers, PgEvaluations
from workers.embedding import SentenceTransformerEmbedder
from workers.llm import Fallbacks, Gateway

__all__ = ["METHODS", "Engine", "SystemClock", "open_database", "open_engine", "open_llm"]

_LOG = logging.getLogger(__name__)


class SystemClock:
    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        return time.monotonic()


@dataclass(frozen=True)
class Engine:
    """Evaluates ideas, `settings.evaluation.concurrency` at a time."""

    settings: Settings
    world: World
    shelves: Shelves
    evaluations: PgEvaluations
    clock: SystemClock
    judge: Judge | Absent
    """The graph of labelled ideas, or why there is none."""
    _places: asyncio.Semaphore

    async def evaluate(self, idea: Idea, method: str, cutoff: dt.date | None, progress: Progress) -> Evaluation:
        """The evaluation, stored, with the earlier of the two cutoffs. Raises an AssayerError, which is stored too."""
        cutoff = min((one for one in (idea.cutoff, cutoff) if one is not None), default=None)
        check_request(method, cutoff, self.clock.now().date())
        limits = self.settings.evaluation
        async with self._places:
            run = Run(
                id=self._id(idea, method, cutoff),
                cutoff=cutoff,
                clock=self.clock,
                progress=progress,
                budget=Budget(max_usd=limits.max_usd, max_prompt_tokens=limits.max_prompt_tokens),
            )
            await self.evaluations.start(run.id, idea.id, method, self._request(idea, method, cutoff))
            try:
                bench = replace(self._bench, world=self.shelves.world(self.world, run))
                evaluation = await METHODS[method].evaluate(idea, run, bench)
            except AssayerError as error:
                await self.evaluations.fail(run.id, str(error))
                raise
            except Exception as error:  # the one place where a defect of ours becomes one idea's failure
                _LOG.exception("evaluation %s of %s", run.id, idea.source)
                defect = Defect(f"assayer failed on this idea: {type(error).__name__}: {error}.", "Please report it.")
                await self.evaluations.fail(run.id, str(defect))
                raise defect from error
            await self.evaluations.finish(evaluation.report, evaluation.papers)
            return evaluation

    @property
    def _bench(self) -> Bench:
        return Bench(self.settings, self.world, self.judge)

    async def reach(self) -> None:
        """Raises LlmUnavailable when the LLM endpoint is gone."""
        if isinstance(self.world.llm, Gateway):
            await self.world.llm.reach()

    def _request(self, idea: Idea, method: str, cutoff: dt.date | None) -> dict[str, object]:
        """Everything that determines the report."""
        chosen = METHODS[method]
        return {
            "assayer": __version__,
            "idea": idea.id,
            "method": method,
            "cutoff": cutoff.isoformat() if cutoff else None,
            "options": chosen.options(self.settings).model_dump(mode="json"),
            "models": list(self.world.llm.models),
            "llm": self._llm_parameters(),
            "budget": self.settings.evaluation.model_dump(include={"max_usd", "max_prompt_tokens"}),
            "prompts": {task.name: task.version for task in chosen.tasks},
            "embedder": self.world.embedder.name,
            "literature": self.shelves.version,
            "graph": self._graph() if chosen.asks_graph(self._bench) else None,
        }

    def _graph(self) -> object:
        """What a verdict of labelled ideas depends on."""
        if isinstance(self.judge, Absent):
            return self.judge.reason
        calibration = self.judge.calibration
        fitted = calibration.reason if isinstance(calibration, Absent) else calibration.model_dump(mode="json")
        used = self.settings.grapheval.model_dump(mode="json")
        return [self.judge.contents.version, self.judge.scorer.name, fitted, used]

    def _llm_parameters(self) -> dict[str, object]:
        llm = self.settings.llm
        return llm.model_dump(include={"temperature", "seed", "max_answer_tokens"}) if llm else {}

    def _id(self, idea: Idea, method: str, cutoff: dt.date | None) -> EvaluationId:
        """The same request is the same evaluation, so a second start resumes the first."""
        request = json.dumps(self._request(idea, method, cutoff), sort_keys=True)
        return EvaluationId("ev_" + hashlib.sha256(request.encode()).hexdigest()[:20])


def check_request(method: str, cutoff: dt.date | None, today: dt.date) -> None:
    """Raises InputError for a method that does not exist or a cutoff that lies in the future."""
    if method not in METHODS:
        raise InputError(f"There is no method {method!r}.", f"Methods: {', '.join(METHODS)}.")
    if cutoff is not None and cutoff > today:
        raise InputError(f"The cutoff {cutoff} lies in the future.", "Give a past date or leave it out.")


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The configured server, or the embedded one, migrated. Raises StorageError or ConfigurationError."""
    async with AsyncExitStack() as stack:
        revive = None
        if not settings.database.url:
            revive = (await stack.enter_async_context(EmbeddedPostgres(settings.home / "postgres"))).ensure
        database = await stack.enter_async_context(Database(settings.database, revive))
        await database.migrate()
        yield database


@asynccontextmanager
async def open_engine(settings: Settings, method: str = scholareval.METHOD) -> AsyncIterator[Engine]:
    """For evaluations by one method. Raises ConfigurationError, CorpusError, StorageError, LlmUnavailable; where the
    method needs a language model or a graph and there is none NoFallback or InputError, before any idea is touched."""
    if METHODS[method].needs_llm and settings.llm is None:
        raise no_reviewers()
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        embedder = stack.enter_context(closing(SentenceTransformerEmbedder(settings.embedder)))
        corpus = _corpus(settings, method, embedder, stack)
        database = await stack.enter_async_context(open_database(settings))
        beyond = METHODS[method].beyond_papers
        shelves = await stack.enter_async_context(open_shelves(settings, corpus, database, clock, beyond))
        llm = await open_llm(settings, database, embedder, stack)
        yield Engine(
            settings=settings,
            world=World(llm=llm, literature=corpus, full_texts=CorpusFullTexts(corpus), embedder=embedder),
            shelves=shelves,
            evaluations=PgEvaluations(database),
            clock=clock,
            judge=await _judge(settings, method, database),
            _places=asyncio.Semaphore(settings.evaluation.concurrency),
        )


def _corpus(settings: Settings, method: str, embedder: Embedder, stack: AsyncExitStack) -> Corpus | MemoryCorpus:
    """An empty one for a method that reads no literature, which must not fail for want of a corpus."""
    if not METHODS[method].reads_literature:
        return MemoryCorpus((), embedder)
    return stack.enter_context(closing(Corpus.open(settings.corpus_path, embedder)))


async def _judge(settings: Settings, method: str, database: Database) -> Judge | Absent:
    """A method that only adds a verdict of labelled ideas to its report goes on without one, and says why."""
    if METHODS[method].needs_graph:
        judge = await open_judge(settings, database)
        if isinstance(judge, Absent):
            raise no_graph(settings.grapheval.graph)
        return judge
    if settings.llm is not None:
        return Absent(reason="this method asks labelled ideas only where no language model judges.")
    try:
        return await open_judge(settings, database)
    except (InputError, ConfigurationError) as error:
        return Absent(reason=str(error))


async def open_llm(settings: Settings, database: Database, embedder: Embedder, stack: AsyncExitStack) -> Llm:
    """The gateway, or the tasks' fallbacks where no model is configured."""
    if settings.llm is None:
        return Fallbacks(embedder)
    gateway = await stack.enter_async_context(Gateway(settings.llm, PgAnswers(database), SystemClock()))
    if settings.evaluation.max_usd is not None:
        gateway.require_prices()
    await gateway.reach()
    return gateway
