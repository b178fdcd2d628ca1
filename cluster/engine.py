"""The engine in one process: settings in, a world that methods can use out. No Ray, no server."""

import asyncio
import datetime as dt
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from copy import copy
from dataclasses import dataclass, replace

from assayer import __version__
from assayer.errors import AssayerError, ConfigurationError, CorpusError, Defect, InputError
from assayer.evaluation import Evaluation
from assayer.methods import scholareval
from assayer.methods.grapheval.growth import no_graph
from assayer.methods.grapheval.judge import Judge
from assayer.methods.innoeval.pipeline import no_reviewers
from assayer.models import Absent, Idea
from assayer.ports import Embedder, Llm, Progress, Reranker
from assayer.run import Run
from assayer.world import World
from cluster.clock import SystemClock
from cluster.commission import PRIVATE, Commission, Request, as_request, run_id
from cluster.database import open_database
from cluster.graphs import open_judge
from cluster.literature import Shelves, open_shelves
from cluster.methods import METHODS, Bench, Method
from cluster.outside import Outside
from cluster.parts import OWN, CorporaInFlight, LocalCorpusWithTexts, Parts
from cluster.proofs import proofs_of
from cluster.settings import Settings
from index import Corpora, CorpusFullTexts
from index.memory import MemoryCorpus
from orchestrator.store import Database, PgAnswers, PgEvaluations
from workers.embedding import SentenceTransformerEmbedder
from workers.llm.fallbacks import Fallbacks
from workers.llm.gateway import Gateway
from workers.llm.line import Line
from workers.reranking.reranker import CrossEncoderReranker

__all__ = ["METHODS", "Engine", "open_engine", "open_llm"]

_LOG = logging.getLogger(__name__)
_OTHER_CORPUS = (
    "start of the evaluation",
    "the version of the corpus it was with is not there any more: it began anew with the current one",
)
"""What a report says was dropped, and why."""


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
    methods: Mapping[str, AssayerError | None]
    """Those that it was opened for, and why a method cannot run here whatever the corpus."""
    corpora: CorporaInFlight
    _places: asyncio.Semaphore

    async def evaluate(
        self,
        idea: Idea,
        method: str,
        cutoff: dt.date | None,
        progress: Progress,
        commission: Commission = PRIVATE,
    ) -> Evaluation:
        """The evaluation, stored, with the earlier of the two cutoffs. Raises AssayerError. Cancelled, it ends at once;
        nothing is sent afterwards."""
        cutoff = min((one for one in (idea.cutoff, cutoff) if one is not None), default=None)
        check_request(method, cutoff, self.clock.now().date())
        self._check_method(method)
        chosen = METHODS[method]
        async with self._places:
            corpus = await self._corpus_of(chosen, commission.corpus)
            request = self._request(idea, method, cutoff, commission, corpus)
            run = Run(
                id=run_id("ev", request, commission.job),
                cutoff=cutoff,
                clock=self.clock,
                progress=progress,
                budget=commission.budget(self.settings.evaluation),
            )
            if commission.corpus not in ("", corpus.version):
                run.journal.drop(*_OTHER_CORPUS)
            await commission.begin(run.id, request)
            try:
                evaluation = await chosen.evaluate(idea, run, self._bench_of(chosen, run, corpus))
            except AssayerError:
                raise
            except Exception as error:  # the one place where a defect of ours becomes one idea's failure
                _LOG.exception("evaluation %s of %s", run.id, idea.source)
                message = f"assayer failed on this idea: {type(error).__name__}: {error}."
                raise Defect(message, "Please report it.") from error
            await self.evaluations.keep(evaluation.report, evaluation.papers, request)
            return evaluation

    async def reach(self) -> None:
        """Raises LlmUnavailable when the LLM endpoint is gone."""
        if isinstance(self.world.llm, Gateway):
            await self.world.llm.reach()

    async def lacking(self) -> dict[str, AssayerError | None]:
        """Why a method cannot run here now."""
        found = dict(self.methods)
        if any(METHODS[name].reads_literature and why is None for name, why in found.items()):
            try:
                await self.corpora.current()
            except CorpusError as error:
                found |= {name: error for name, why in found.items() if why is None and METHODS[name].reads_literature}
        return found

    def _check_method(self, method: str) -> None:
        if method not in self.methods:
            raise InputError(f"The method {method!r} is not offered here.", f"Offered: {', '.join(self.methods)}.")
        lacking = self.methods[method]
        if lacking is not None:
            raise copy(lacking)

    async def _corpus_of(self, method: Method, began_with: str) -> LocalCorpusWithTexts:
        """The version that the evaluation began with, as long as it is there; otherwise the current one. An empty one
        for a method that reads no literature. Raises CorpusError."""
        if not method.reads_literature:
            return MemoryCorpus((), self.world.embedder)
        if began_with:
            try:
                return await self.corpora.at(began_with)
            except CorpusError as error:
                _LOG.warning(
                    "version %s of the corpus, with which an evaluation began, has gone: %s", began_with, error
                )
        return await self.corpora.current()

    def _bench_of(self, method: Method, run: Run, corpus: LocalCorpusWithTexts) -> Bench:
        """What one run of a method works with: what it does not use has no part in it, whatever else is open."""
        if method.reads_literature:
            world = self._shelves_of(method).world(self.world, run, corpus)
        else:
            world = replace(self.world, literature=corpus, full_texts=CorpusFullTexts(corpus))
        return Bench(self.settings, replace(world, reranker=self._reranker_of(method)), self.judge)

    def _reranker_of(self, method: Method) -> Reranker | None:
        return self.world.reranker if method.beyond_papers else None

    def _shelves_of(self, method: Method) -> Shelves:
        return self.shelves if method.beyond_papers else replace(self.shelves, outside=Outside())

    def _request(
        self, idea: Idea, method: str, cutoff: dt.date | None, commission: Commission, corpus: LocalCorpusWithTexts
    ) -> Request:
        """Everything that determines the report."""
        chosen = METHODS[method]
        asks_graph = chosen.asks_graph(Bench(self.settings, self.world, self.judge))
        reranker = self._reranker_of(chosen)
        return as_request(
            {
                "assayer": __version__,
                "idea": idea.id,
                "method": method,
                "cutoff": cutoff.isoformat() if cutoff else None,
                "options": chosen.options(self.settings).model_dump(mode="json"),
                "models": self.world.llm.models,
                "llm": self._llm_parameters(),
                "budget": commission.bounds(self.settings.evaluation).model_dump(),
                "prompts": {task.name: task.version for task in chosen.tasks},
                "embedder": self.world.embedder.name,
                "reranker": reranker.name if reranker else None,
                "corpus": corpus.version if chosen.reads_literature else None,
                "literature": self._shelves_of(chosen).version(corpus) if chosen.reads_literature else None,
                "graph": self._graph() if asks_graph else None,
            }
        )

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


def check_request(method: str, cutoff: dt.date | None, today: dt.date) -> None:
    """Raises InputError for a method that does not exist or a cutoff that lies in the future."""
    if method not in METHODS:
        raise InputError(f"There is no method {method!r}.", f"Methods: {', '.join(METHODS)}.")
    if cutoff is not None and cutoff > today:
        raise InputError(f"The cutoff {cutoff} lies in the future.", "Give a past date or leave it out.")


@asynccontextmanager
async def open_engine(
    settings: Settings,
    methods: Sequence[str] = (scholareval.METHOD,),
    database: Database | None = None,
    for_service: bool = False,
    parts: Parts = OWN,
) -> AsyncIterator[Engine]:
    """For evaluations by these methods, with a database of its own where none is handed in, and with parts of its own.

    Raises ConfigurationError, CorpusError, StorageError, LlmUnavailable; where a method needs a language model or a
    graph and there is none NoFallback or InputError, before any idea is touched. A service opens all the same: what
    a method lacks is told by each of its evaluations, and an endpoint that is down may come back.
    """
    lacking = _Lacking(methods, for_service)
    if settings.llm is None:
        lacking.note(no_reviewers(), lambda method: method.needs_llm)
    lacking.note_files(settings)
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        embedder = parts.embedder or stack.enter_context(closing(SentenceTransformerEmbedder(settings.embedder)))
        corpora = await _corpora(settings, embedder, parts, lacking, stack)
        if database is None:
            database = await stack.enter_async_context(open_database(settings))
        beyond = any(METHODS[method].beyond_papers for method in methods)
        shelves = await stack.enter_async_context(open_shelves(settings, database, clock, beyond, parts))
        nothing = MemoryCorpus((), embedder)
        llm = await open_llm(settings, database, embedder, stack, must_answer=not for_service, line=parts.line)
        yield Engine(
            settings=settings,
            world=World(
                llm=llm,
                literature=nothing,
                full_texts=CorpusFullTexts(nothing),
                embedder=embedder,
                reranker=parts.reranker or _reranker(settings, lacking, stack),
            ),
            shelves=shelves,
            evaluations=PgEvaluations(database),
            clock=clock,
            judge=await _judge(settings, database, lacking),
            methods=lacking.of,
            corpora=corpora,
            _places=asyncio.Semaphore(settings.evaluation.concurrency),
        )


class _Lacking:
    """Why some of the methods cannot run here: kept, or raised at once where nobody else would be served."""

    def __init__(self, methods: Sequence[str], keep: bool) -> None:
        self.of: dict[str, AssayerError | None] = dict.fromkeys(methods)
        self.keep = keep

    def any(self, needs: Callable[[Method], bool]) -> bool:
        return any(needs(METHODS[method]) for method in self.of)

    def note(self, error: AssayerError, needs: Callable[[Method], bool]) -> None:
        for method in self.of:
            if needs(METHODS[method]):
                if not self.keep:
                    raise error
                self.of[method] = self.of[method] or error

    def note_files(self, settings: Settings) -> None:
        """Files that options name and that cannot be used."""
        for name in self.of:
            try:
                METHODS[name].options(settings)
            except InputError as error:
                if not self.keep:
                    raise
                self.of[name] = self.of[name] or error


def _reranker(settings: Settings, lacking: _Lacking, stack: AsyncExitStack) -> Reranker | None:
    if settings.reranker.model is None or not lacking.any(lambda method: method.beyond_papers):
        return None
    return stack.enter_context(closing(CrossEncoderReranker(settings.reranker)))


async def _corpora(
    settings: Settings, embedder: Embedder, parts: Parts, lacking: _Lacking, stack: AsyncExitStack
) -> CorporaInFlight:
    """Raises CorpusError where there is no corpus, a method needs one, and nobody else would be served."""
    if parts.corpora is not None:
        return parts.corpora(embedder)
    corpora = Corpora(settings.corpus_path, embedder, proofs_of(settings), device=settings.corpus.device)
    stack.push_async_callback(corpora.aclose)
    if not lacking.keep and lacking.any(lambda method: method.reads_literature):
        await corpora.current()
    return corpora


async def _judge(settings: Settings, database: Database, lacking: _Lacking) -> Judge | Absent:
    """A method that only adds a verdict of labelled ideas to its report goes on without one, and says why."""
    needed = lacking.any(lambda method: method.needs_graph)
    if not needed and settings.llm is not None:
        return Absent(reason="this method asks labelled ideas only where no language model judges.")
    try:
        judge = await open_judge(settings, database)
    except (InputError, ConfigurationError) as error:
        lacking.note(error, lambda method: method.needs_graph)
        return Absent(reason=str(error))
    if isinstance(judge, Absent):
        lacking.note(no_graph(settings.grapheval.graph), lambda method: method.needs_graph)
    return judge


async def open_llm(
    settings: Settings,
    database: Database,
    embedder: Embedder,
    stack: AsyncExitStack,
    must_answer: bool = True,
    line: Line | None = None,
) -> Llm:
    """The gateway, or the tasks' fallbacks where no model is configured. Raises LlmUnavailable when nobody answers
    there and it must."""
    if settings.llm is None:
        return Fallbacks(embedder)
    gateway = await stack.enter_async_context(Gateway(settings.llm, PgAnswers(database), SystemClock(), line))
    if settings.evaluation.max_usd is not None:
        gateway.require_prices()
    if must_answer:
        await gateway.reach()
    return gateway
