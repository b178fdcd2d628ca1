"""The engine in one process: settings in, a world that methods can use out. No Ray, no server."""

import asyncio
import datetime as dt
import hashlib
import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass

from assayer import __version__
from assayer.budget import Budget
from assayer.errors import AssayerError, Defect, InputError
from assayer.methods import scholareval
from assayer.methods.scholareval.tasks import ALL
from assayer.models import EvaluationId, Idea
from assayer.ports import Embedder, Llm, Progress
from assayer.run import Run
from assayer.world import World
from cluster.postgres import EmbeddedPostgres
from cluster.settings import Settings
from index import Corpus, CorpusFullTexts
from orchestrator.store import Database, PgAnswers, PgEvaluations
from workers.embedding import SentenceTransformerEmbedder
from workers.llm import Fallbacks, Gateway

__all__ = ["METHODS", "Engine", "SystemClock", "open_database", "open_engine"]

_LOG = logging.getLogger(__name__)
METHODS = (scholareval.METHOD,)


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
    evaluations: PgEvaluations
    clock: SystemClock
    _places: asyncio.Semaphore

    async def evaluate(
        self, idea: Idea, method: str, cutoff: dt.date | None, progress: Progress
    ) -> scholareval.Evaluation:
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
                evaluation = await scholareval.evaluate(idea, self.world, run, self.settings.scholareval)
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

    async def reach(self) -> None:
        """Raises LlmUnavailable when the LLM endpoint is gone."""
        if isinstance(self.world.llm, Gateway):
            await self.world.llm.reach()

    def _request(self, idea: Idea, method: str, cutoff: dt.date | None) -> dict[str, object]:
        """Everything that determines the report."""
        return {
            "assayer": __version__,
            "idea": idea.id,
            "method": method,
            "cutoff": cutoff.isoformat() if cutoff else None,
            "options": self.settings.scholareval.model_dump(),
            "models": list(self.world.llm.models),
            "llm": self._llm_parameters(),
            "budget": self.settings.evaluation.model_dump(include={"max_usd", "max_prompt_tokens"}),
            "prompts": {task.name: task.version for task in ALL},
            "embedder": self.world.embedder.name,
            "corpus": self.world.literature.version,
        }

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
async def open_engine(settings: Settings) -> AsyncIterator[Engine]:
    """Raises ConfigurationError, CorpusError, StorageError or LlmUnavailable before any idea is touched."""
    async with AsyncExitStack() as stack:
        embedder = stack.enter_context(closing(SentenceTransformerEmbedder(settings.embedder)))
        corpus = stack.enter_context(closing(Corpus.open(settings.corpus_path, embedder)))
        database = await stack.enter_async_context(open_database(settings))
        llm = await _llm(settings, database, embedder, stack)
        yield Engine(
            settings=settings,
            world=World(llm=llm, literature=corpus, full_texts=CorpusFullTexts(corpus), embedder=embedder),
            evaluations=PgEvaluations(database),
            clock=SystemClock(),
            _places=asyncio.Semaphore(settings.evaluation.concurrency),
        )


async def _llm(settings: Settings, database: Database, embedder: Embedder, stack: AsyncExitStack) -> Llm:
    if settings.llm is None:
        return Fallbacks(embedder)
    gateway = await stack.enter_async_context(Gateway(settings.llm, PgAnswers(database), SystemClock()))
    if settings.evaluation.max_usd is not None:
        gateway.require_prices()
    await gateway.reach()
    return gateway
