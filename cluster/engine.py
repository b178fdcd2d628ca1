"""The engine in one process: settings in, the backends that methods use out. No Ray, no server."""

import asyncio
import datetime as dt
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from copy import copy
from dataclasses import dataclass, replace

from assayer import __version__
from assayer.backends import Backends
from assayer.blinding.blind import blinded
from assayer.errors import AssayerError, ConfigurationError, CorpusError, Defect, InputError
from assayer.methods import scholareval
from assayer.methods.grapheval.graph.growth import missing_graph_error
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.innoeval.pipeline import no_reviewers_error
from assayer.models import Absent, Idea
from assayer.own_references.check import check_own_references
from assayer.ports import Embedder, Progress, Reranker
from assayer.reports.assembly import EvaluationResult
from assayer.reports.release import released
from assayer.run.run import Run
from cluster.clock import SystemClock
from cluster.corpus_source import corpus_versions
from cluster.database import open_database
from cluster.engine_parts import NOTHING_SHARED, CorpusVersions, CorpusWithFullTexts, SharedParts
from cluster.evidence_sources import BeyondPapersFactory, LiteratureFactory, open_literature
from cluster.language_model import open_llm
from cluster.methods import METHODS, EvaluationMethod, MethodContext, with_board
from cluster.run_request import LOCAL_REQUEST, ResultInputs, RunRequest, result_inputs, run_id
from cluster.settings import Settings
from cluster.viewpoint_graphs import open_judge
from index import CorpusFullTexts
from index.memory_corpus import MemoryCorpus
from orchestrator.store import Database, PgReports
from workers.embedding.local_embedder import SharesProcessors, local_embedder
from workers.full_texts.bibliography import GrobidBibliography, open_bibliography
from workers.llm import LlmSettings
from workers.reranking.reranker import LocalReranker

__all__ = ["METHODS", "Engine", "open_engine"]

_LOG = logging.getLogger(__name__)
_CORPUS_VERSION_GONE = (
    "start of the evaluation",
    "the version of the corpus it was with is not there any more: it began anew with the current one",
)
"""What a report says was dropped, and why."""


@dataclass(frozen=True)
class Engine:
    """Evaluates ideas, `settings.evaluation.concurrency` at a time."""

    settings: Settings
    backends: Backends
    literature: LiteratureFactory
    evaluations: PgReports
    clock: SystemClock
    judge: GraphJudge | Absent
    """The graph of labelled ideas, or why there is none."""
    methods: Mapping[str, AssayerError | None]
    """Those that it was opened for, and why a method cannot run here whatever the corpus."""
    corpora: CorpusVersions
    _slots: asyncio.Semaphore
    _overnight_slots: asyncio.Semaphore
    """Of evaluations that mostly wait for batches."""
    _running: Counter[str]
    """Evaluations by method."""
    bibliography: GrobidBibliography | None = None
    """Tells the references of an idea's PDF apart; None where no GROBID is configured."""

    async def evaluate(
        self,
        idea: Idea,
        method: str,
        cutoff: dt.date | None,
        progress: Progress,
        run_request: RunRequest = LOCAL_REQUEST,
    ) -> EvaluationResult:
        """The evaluation, stored, with the earlier of the two cutoffs; blind where the request says so. Raises
        AssayerError. Cancelled, it ends at once; nothing is sent afterwards."""
        if run_request.board is not None or run_request.board_models:
            settings = with_board(self.settings, run_request.board, run_request.board_models)
            usual = replace(run_request, board=None, board_models=())
            return await replace(self, settings=settings).evaluate(idea, method, cutoff, progress, usual)
        cutoff = min((one for one in (idea.cutoff, cutoff) if one is not None), default=None)
        check_request(method, cutoff, self.clock.now().date())
        self._check_method(method)
        entry = METHODS[method]
        self._check_prices(entry, run_request)
        if run_request.blind:
            idea = await asyncio.to_thread(blinded, idea)
        came = self.clock.now()
        async with self._slots if run_request.waits_until is None else self._overnight_slots:
            placed = self.clock.now()
            corpus = await self._corpus_of(entry, run_request.corpus)
            request = self._request(idea, method, cutoff, run_request, corpus)
            run = Run(
                id=run_id("ev", request, run_request.job),
                cutoff=cutoff,
                clock=self.clock,
                progress=progress,
                budget=run_request.budget(self.settings.evaluation),
                answers_of=run_request.answers_of,
                waits_until=run_request.waits_until,
            )
            run.activities.add("place", came, placed)
            run.activities.add("loading", placed, self.clock.now())
            if run_request.corpus not in ("", corpus.version):
                run.journal.record_dropped(*_CORPUS_VERSION_GONE)
            await run_request.begin(run.id, request)
            self._running[method] += 1
            try:
                found = await self._evaluate(entry, idea, run, self._context_of(entry, run, corpus))
                evaluation = found._replace(report=released(found.report, self.settings.release))
            except AssayerError:
                raise
            except Exception as error:  # the one place where a defect of ours becomes one idea's failure
                _LOG.exception("evaluation %s of %s", run.id, idea.source)
                message = f"assayer failed on this idea: {type(error).__name__}: {error}."
                raise Defect(message, "Please report it.") from error
            finally:
                self._running[method] -= 1
            await self.evaluations.keep(evaluation.report, evaluation.papers, request)
            return evaluation

    async def _evaluate(
        self, method: EvaluationMethod, idea: Idea, run: Run, context: MethodContext
    ) -> EvaluationResult:
        """With the idea's own references checked at the same time, where the method reads literature."""
        if not method.reads_literature:
            return await method.evaluate(idea, run, context)
        backends, options = context.backends, self.settings.own_references
        check = check_own_references(idea, backends.reference_sources, backends.llm, run, options)
        run.own_references = task = asyncio.create_task(check)
        try:
            return await method.evaluate(idea, run, context)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def reach(self) -> None:
        """Raises LlmUnavailable when the LLM endpoint is gone."""
        if self.settings.llm is None:
            return
        from workers.llm.gateway import LlmGateway

        if isinstance(self.backends.llm, LlmGateway):
            await self.backends.llm.reach()

    async def unavailable_methods(self) -> dict[str, AssayerError | None]:
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
        unavailable = self.methods[method]
        if unavailable is not None:
            raise copy(unavailable)

    def _check_prices(self, method: EvaluationMethod, run_request: RunRequest) -> None:
        """Of all models that it asks, before anything is paid for."""
        llm = self.settings.llm
        if llm is not None and run_request.budget(self.settings.evaluation).max_usd is not None:
            llm.require_prices(*llm.models, *method.models(self.settings))

    async def _corpus_of(self, method: EvaluationMethod, began_with: str) -> CorpusWithFullTexts:
        """The version that the evaluation began with, as long as it is there; otherwise the current one. An empty one
        for a method that reads no literature. Raises CorpusError."""
        if not method.reads_literature:
            return MemoryCorpus((), self.backends.embedder)
        if began_with:
            try:
                return await self.corpora.at(began_with)
            except CorpusError as error:
                _LOG.warning(
                    "version %s of the corpus, with which an evaluation began, has gone: %s", began_with, error
                )
        return await self.corpora.current()

    def _context_of(self, method: EvaluationMethod, run: Run, corpus: CorpusWithFullTexts) -> MethodContext:
        """What one run of a method works with, and nothing that the method does not use."""
        if method.reads_literature:
            backends = self._literature_of(method).backends(self.backends, run, corpus)
        else:
            backends = replace(self.backends, literature=corpus, full_texts=CorpusFullTexts(corpus))
        return MethodContext(self.settings, replace(backends, reranker=self._reranker_of(method)), self.judge)

    def _reranker_of(self, method: EvaluationMethod) -> Reranker | None:
        return self.backends.reranker if method.reranks else None

    def _literature_of(self, method: EvaluationMethod) -> LiteratureFactory:
        return (
            self.literature if method.beyond_papers else replace(self.literature, beyond_papers=BeyondPapersFactory())
        )

    def _request(
        self, idea: Idea, method: str, cutoff: dt.date | None, run_request: RunRequest, corpus: CorpusWithFullTexts
    ) -> ResultInputs:
        """Everything that determines the report."""
        entry = METHODS[method]
        asks_graph = entry.asks_graph(MethodContext(self.settings, self.backends, self.judge))
        reranker = self._reranker_of(entry)
        return result_inputs(
            {
                "assayer": __version__,
                "idea": idea.id,
                "blinding": idea.blinding.rules if idea.blinding else None,
                "method": method,
                "cutoff": cutoff.isoformat() if cutoff else None,
                "options": entry.options(self.settings).model_dump(mode="json"),
                "models": self.backends.llm.models,
                "llm": self._llm_parameters(),
                "release": self.settings.release.model_dump(),
                "budget": run_request.bounds(self.settings.evaluation).model_dump(),
                "prompts": {task.name: [task.version, task.digest] for task in entry.tasks},
                "embedder": self.backends.embedder.name,
                "reranker": reranker.name if reranker else None,
                "corpus": corpus.version if entry.reads_literature else None,
                "literature": self._literature_of(entry).version(corpus) if entry.reads_literature else None,
                "own_references": self.settings.own_references.model_dump() if entry.reads_literature else None,
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
        return [self.judge.contents.version, self.judge.scorer_name, fitted, used]

    def _llm_parameters(self) -> dict[str, object]:
        llm = self.settings.llm
        return llm.result_inputs if llm else {}


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
    parts: SharedParts = NOTHING_SHARED,
    beside_others: bool = False,
) -> AsyncIterator[Engine]:
    """For evaluations by these methods, with a database of its own where none is handed in, and with parts of its own.
    `beside_others`: engines of other processes ask the same endpoint, within one limit.

    Raises ConfigurationError, CorpusError, StorageError, LlmUnavailable; where a method needs a language model or a
    graph and there is none NoFallback or InputError, before any idea is touched. A service opens all the same: what
    a method lacks is told by each of its evaluations, and an endpoint that is down may come back.
    """
    unavailable = _UnavailableMethods(methods, for_service)
    if settings.llm is None:
        unavailable.note(no_reviewers_error(), lambda method: method.needs_llm)
    unavailable.note_files(settings)
    if settings.llm is not None and settings.evaluation.max_usd is not None:
        unavailable.note_prices(settings, settings.llm)
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        embedder = parts.embedder or stack.enter_context(closing(local_embedder(settings.embedder)))
        corpora = await _corpora(settings, embedder, parts, unavailable, stack)
        running = Counter[str]()
        if isinstance(embedder, SharesProcessors):
            embedder.share_processors(lambda: running.total() < 2)
            if not for_service:
                embedder.preload()  # while the database starts
        if database is None:
            database = await stack.enter_async_context(open_database(settings))
        beyond_papers = any(METHODS[method].beyond_papers for method in methods)
        literature = await stack.enter_async_context(open_literature(settings, database, clock, beyond_papers, parts))
        nothing = MemoryCorpus((), embedder)
        llm = await open_llm(
            settings,
            database,
            embedder,
            stack,
            must_answer=not for_service,
            for_service=for_service,
            beside_others=beside_others,
        )
        yield Engine(
            settings=settings,
            backends=Backends(
                llm=llm,
                literature=nothing,
                full_texts=CorpusFullTexts(nothing),
                embedder=embedder,
                reranker=parts.reranker or _reranker(settings, unavailable, stack),
            ),
            literature=literature,
            evaluations=PgReports(database),
            clock=clock,
            judge=await _judge(settings, database, unavailable),
            methods=unavailable.of,
            corpora=corpora,
            _slots=asyncio.Semaphore(settings.evaluation.concurrency),
            _overnight_slots=asyncio.Semaphore(settings.overnight_places),
            _running=running,
            bibliography=await stack.enter_async_context(open_bibliography(settings.grobid)),
        )


class _UnavailableMethods:
    """Why some of the methods cannot run here: kept, or raised at once where nobody else would be served."""

    def __init__(self, methods: Sequence[str], keep: bool) -> None:
        self.of: dict[str, AssayerError | None] = dict.fromkeys(methods)
        self.keep = keep

    def any(self, needs: Callable[[EvaluationMethod], bool]) -> bool:
        return any(needs(METHODS[method]) for method in self.of)

    def note(self, error: AssayerError, needs: Callable[[EvaluationMethod], bool]) -> None:
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

    def note_prices(self, settings: Settings, llm: LlmSettings) -> None:
        """Models that a method asks by name, and whose answers cost nobody knows what."""
        for name in self.of:
            try:
                llm.require_prices(*METHODS[name].models(settings))
            except ConfigurationError as error:
                if not self.keep:
                    raise
                self.of[name] = self.of[name] or error


def _reranker(settings: Settings, unavailable: _UnavailableMethods, stack: AsyncExitStack) -> Reranker | None:
    if settings.reranker.model is None or not unavailable.any(lambda method: method.reranks):
        return None
    return stack.enter_context(closing(LocalReranker(settings.reranker)))


async def _corpora(
    settings: Settings, embedder: Embedder, parts: SharedParts, unavailable: _UnavailableMethods, stack: AsyncExitStack
) -> CorpusVersions:
    """Raises CorpusError where there is no corpus, a method needs one, and nobody else would be served."""
    if parts.corpora is not None:
        return parts.corpora(embedder)
    corpora = corpus_versions(settings, embedder)
    stack.push_async_callback(corpora.aclose)
    if not unavailable.keep and unavailable.any(lambda method: method.reads_literature):
        await corpora.current()
    return corpora


async def _judge(settings: Settings, database: Database, unavailable: _UnavailableMethods) -> GraphJudge | Absent:
    """A method that only adds a verdict of labelled ideas to its report goes on without one, and says why."""
    needed = unavailable.any(lambda method: method.needs_graph)
    if not needed and settings.llm is not None:
        return Absent(reason="this method asks labelled ideas only where no language model judges.")
    try:
        judge = await open_judge(settings, database)
    except (InputError, ConfigurationError) as error:
        unavailable.note(error, lambda method: method.needs_graph)
        return Absent(reason=str(error))
    if isinstance(judge, Absent):
        unavailable.note(missing_graph_error(settings.grapheval.graph), lambda method: method.needs_graph)
    return judge
