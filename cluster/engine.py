"""Engine that runs evaluation methods in a single process, built from the settings, without Ray or a server."""

import asyncio
import datetime as dt
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from copy import copy
from dataclasses import dataclass, replace

from assayer.backends import Backends
from assayer.criteria.task import JUDGE_CRITERIA
from assayer.cutoff import check_cutoff
from assayer.errors import AssayerError, ConfigurationError, CorpusError, Defect, InputError
from assayer.llm import NoLlm
from assayer.methods.grapheval.graph.growth import build_missing_graph_error
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.innoeval.pipeline import build_no_reviewers_error
from assayer.models import Absent, Idea
from assayer.name_reading.reading import NAMES, mask_remaining_names
from assayer.own_references.check import check_own_references
from assayer.ports import Embedder, Progress, Reranker
from assayer.reports.assembly import EvaluationResult
from assayer.run.run import Run
from assayer.version import __version__
from assayer_client.resources import DEFAULT_METHOD
from cluster.clock import SystemClock
from cluster.corpus_source import create_corpus_version_cache
from cluster.database import open_database
from cluster.engine_components import NOTHING_SHARED, CorpusVersions, CorpusWithFullTexts, SharedComponents
from cluster.evidence_sources import BeyondPapersFactory, LiteratureFactory, open_literature
from cluster.language_model import open_llm
from cluster.methods import METHODS, EvaluationMethod, MethodInputs, apply_board
from cluster.run_request import LOCAL_REQUEST, ResultInputs, RunRequest, compute_run_id, normalise_result_inputs
from cluster.settings import Settings
from cluster.viewpoint_graphs import open_judge
from index import CorpusFullTexts, create_empty_corpus
from orchestrator.store import Database, PgReports
from workers.embedding.embedder import LocalEmbedder, create_local_embedder
from workers.full_texts.bibliography import GrobidBibliography, open_bibliography
from workers.reranking.reranker import LocalReranker

_LOG = logging.getLogger(__name__)
_CORPUS_VERSION_GONE = (
    "start of the evaluation",
    "the corpus version is no longer available; restarted with the current one",
)
"""Step and reason shown in a report if the corpus version was no longer available."""


@dataclass(frozen=True)
class Engine:
    """Engine that evaluates ideas, at most `settings.evaluation.concurrency` at a time."""

    settings: Settings
    backends: Backends
    literature: LiteratureFactory
    evaluations: PgReports
    clock: SystemClock
    judge: GraphJudge | Absent
    """Judge based on the graph of labelled ideas, or why there is none."""
    methods: Mapping[str, AssayerError | None]
    """Methods for which the engine was opened, each with the error that prevents it from running here with any corpus,
    or None if it can run."""
    corpora: CorpusVersions
    _slots: asyncio.Semaphore
    _overnight_slots: asyncio.Semaphore
    """Slots for overnight evaluations, which spend most of their time waiting for the provider's batches."""
    _running_counts: Counter[str]
    """Number of running evaluations by method."""
    bibliography: GrobidBibliography | None = None
    """Parser of the references in an idea's PDF; None if GROBID is not configured."""

    async def evaluate(
        self,
        idea: Idea,
        method: str,
        cutoff: dt.date | None,
        progress: Progress,
        run_request: RunRequest = LOCAL_REQUEST,
    ) -> EvaluationResult:
        """Evaluate an idea and store the report. The idea is blinded if the request says so. The earlier of `cutoff`
        and the idea's own cutoff applies. Raises AssayerError if no report can be written. Cancellation takes effect
        immediately."""
        if run_request.board is not None or run_request.board_models:
            settings = apply_board(self.settings, run_request.board, run_request.board_models)
            without_board = replace(run_request, board=None, board_models=())
            return await replace(self, settings=settings).evaluate(idea, method, cutoff, progress, without_board)
        cutoff = min((day for day in (idea.cutoff, cutoff) if day is not None), default=None)
        check_request(method, cutoff, self.clock.now().date())
        self._check_method(method)
        entry = METHODS[method]
        self._check_prices(entry, run_request)
        if run_request.blind:
            from assayer.blinding.blind import blind_idea

            idea = await asyncio.to_thread(blind_idea, idea)
        async with self._slots if run_request.waits_until is None else self._overnight_slots:
            corpus = await self._open_corpus(entry, run_request.corpus)
            request = self._build_request(idea, method, cutoff, run_request, corpus)
            run = Run(
                id=compute_run_id("ev", request, run_request.job),
                cutoff=cutoff,
                clock=self.clock,
                progress=progress,
                budget=run_request.create_budget(self.settings.evaluation),
                criteria=run_request.criteria,
                answers_of=run_request.answers_of,
                waits_until=run_request.waits_until,
            )
            if run_request.corpus not in ("", corpus.version):
                run.journal.record_dropped(*_CORPUS_VERSION_GONE)
            await run_request.begin(run.id, request)
            self._running_counts[method] += 1
            try:
                inputs = self._build_inputs(entry, run, corpus)
                idea = await mask_remaining_names(idea, inputs.backends.llm, run)
                evaluation = await self._evaluate(entry, idea, run, inputs)
            except AssayerError:
                raise
            except Exception as error:  # a bug in assayer must fail only this evaluation
                _LOG.exception("evaluation %s of %s", run.id, idea.source)
                message = f"An internal error occurred while evaluating this idea: {type(error).__name__}: {error}."
                raise Defect(message, "Please report it.") from error
            finally:
                self._running_counts[method] -= 1
            await self.evaluations.store(evaluation.report)
            return evaluation

    async def _evaluate(self, method: EvaluationMethod, idea: Idea, run: Run, inputs: MethodInputs) -> EvaluationResult:
        """Evaluate an idea. If the method reads literature, check the idea's own references concurrently."""
        if not method.reads_literature:
            return await method.evaluate(idea, run, inputs)
        backends, options = inputs.backends, self.settings.own_references
        check = check_own_references(idea, backends.reference_sources, backends.llm, run, options)
        run.own_references_check = task = asyncio.create_task(check)
        try:
            return await method.evaluate(idea, run, inputs)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def check_llm_reachable(self) -> None:
        """Raise LlmUnavailable if the LLM endpoint is not reachable."""
        if self.settings.llm is None:
            return
        from workers.llm.gateway import LlmGateway

        if isinstance(self.backends.llm, LlmGateway):
            await self.backends.llm.reach()

    async def find_unavailable_methods(self) -> dict[str, AssayerError | None]:
        """Return each method with the error that prevents it from running here now; None if it can run."""
        reasons = dict(self.methods)
        if any(METHODS[name].reads_literature and reason is None for name, reason in reasons.items()):
            try:
                await self.corpora.current()
            except CorpusError as error:
                reasons |= {
                    name: error for name, reason in reasons.items() if reason is None and METHODS[name].reads_literature
                }
        return reasons

    def _check_method(self, method: str) -> None:
        if method not in self.methods:
            raise InputError(f"Unknown method {method!r}.", f"Available methods: {', '.join(self.methods)}.")
        unavailable = self.methods[method]
        if unavailable is not None:
            raise copy(unavailable)

    def _check_prices(self, method: EvaluationMethod, run_request: RunRequest) -> None:
        """Check that prices are known for all of the method's models, before any cost is incurred."""
        llm = self.settings.llm
        budget = run_request.create_budget(self.settings.evaluation)
        if method.asks_llm and llm is not None and budget.max_usd is not None:
            llm.require_prices(*llm.models, *method.models(self.settings))

    async def _open_corpus(self, method: EvaluationMethod, began_with: str) -> CorpusWithFullTexts:
        """Return the corpus version with which the evaluation started, or the current version if that one is gone. For
        a method that reads no literature, return an empty corpus. Raises CorpusError if there is no corpus."""
        if not method.reads_literature:
            return create_empty_corpus(self.backends.embedder)
        if began_with:
            try:
                return await self.corpora.at(began_with)
            except CorpusError as error:
                _LOG.warning(
                    "corpus version %s, with which an evaluation started, is no longer available: %s", began_with, error
                )
        return await self.corpora.current()

    def _build_inputs(self, method: EvaluationMethod, run: Run, corpus: CorpusWithFullTexts) -> MethodInputs:
        """Return the inputs for one run of a method. Components that the method does not use are replaced by empty
        ones."""
        if method.reads_literature:
            backends = self._choose_literature(method).add_to_backends(self.backends, run, corpus)
        else:
            backends = replace(self.backends, literature=corpus, full_texts=CorpusFullTexts(corpus))
        if not method.asks_llm:
            backends = replace(backends, llm=NoLlm())
        return MethodInputs(self.settings, replace(backends, reranker=self._choose_reranker(method)), self.judge)

    def _choose_reranker(self, method: EvaluationMethod) -> Reranker | None:
        return self.backends.reranker if method.reranks else None

    def _choose_literature(self, method: EvaluationMethod) -> LiteratureFactory:
        return (
            self.literature if method.beyond_papers else replace(self.literature, beyond_papers=BeyondPapersFactory())
        )

    def _build_request(
        self, idea: Idea, method: str, cutoff: dt.date | None, run_request: RunRequest, corpus: CorpusWithFullTexts
    ) -> ResultInputs:
        """Return everything that determines the report."""
        entry = METHODS[method]
        asks_llm = entry.asks_llm
        reranker = self._choose_reranker(entry)
        masks = (NAMES,) if idea.blinding and asks_llm and self.backends.llm.models else ()
        return normalise_result_inputs(
            {
                "assayer": __version__,
                "idea": idea.id,
                "blinding": idea.blinding.rules if idea.blinding else None,
                "method": method,
                "criteria": [[criterion.model_dump() for criterion in run_request.criteria], JUDGE_CRITERIA.digest],
                "cutoff": cutoff.isoformat() if cutoff else None,
                "options": entry.options(self.settings).model_dump(mode="json"),
                "models": self.backends.llm.models if asks_llm else (),
                "llm": self._collect_llm_parameters() if asks_llm else {},
                "release": self.settings.release.model_dump(),
                "budget": run_request.combine_limits(self.settings.evaluation).model_dump(),
                "prompts": {task.name: [task.version, task.digest] for task in (*entry.tasks, *masks)},
                "embedder": self.backends.embedder.name,
                "reranker": reranker.name if reranker else None,
                "corpus": corpus.version if entry.reads_literature else None,
                "literature": self._choose_literature(entry).version(corpus) if entry.reads_literature else None,
                "own_references": self._build_reference_check_inputs(idea) if entry.reads_literature else None,
                "graph": self._build_graph_inputs() if entry.needs_graph else None,
            }
        )

    def _build_reference_check_inputs(self, idea: Idea) -> object:
        """Return everything except the idea's text that determines the result of checking its references."""
        reference_fields = [work.model_dump() for work in idea.references]
        return [self.settings.own_references.model_dump(), idea.references_reader, reference_fields]

    def _build_graph_inputs(self) -> object:
        """Return everything except the idea that determines a verdict based on labelled ideas."""
        if isinstance(self.judge, Absent):
            return self.judge.reason
        calibration = self.judge.calibration
        fields = calibration.reason if isinstance(calibration, Absent) else calibration.model_dump(mode="json")
        grapheval_settings = self.settings.grapheval.model_dump(mode="json")
        return [self.judge.contents.version, self.judge.scorer_name, fields, grapheval_settings]

    def _collect_llm_parameters(self) -> dict[str, object]:
        llm = self.settings.llm
        return llm.result_inputs if llm else {}


def check_request(method: str, cutoff: dt.date | None, today: dt.date) -> None:
    """Raise InputError if the method does not exist or the cutoff is in the future."""
    if method not in METHODS:
        raise InputError(f"Unknown method {method!r}.", f"Methods: {', '.join(METHODS)}.")
    check_cutoff(cutoff, today)


@asynccontextmanager
async def open_engine(
    settings: Settings,
    methods: Sequence[str] = (DEFAULT_METHOD,),
    database: Database | None = None,
    for_service: bool = False,
    components: SharedComponents = NOTHING_SHARED,
    beside_others: bool = False,
) -> AsyncIterator[Engine]:
    """Open an engine for these methods. It opens its own database and components unless they are passed. Set
    `beside_others` if engines in other processes use the same LLM endpoint, so that all of them share one rate limit.

    Raises ConfigurationError, CorpusError, StorageError or LlmUnavailable, and NoFallback or InputError if a method
    needs a language model or a graph that is missing. With `for_service`, missing components and an unreachable
    endpoint are not errors: evaluations that need them report the reason, and the endpoint may recover."""
    unavailable = _UnavailableMethods(methods, for_service)
    if settings.llm is None:
        unavailable.note(build_no_reviewers_error(), lambda method: method.needs_llm)
    unavailable.check(lambda method: method.options(settings))
    if (llm_settings := settings.llm) is not None and settings.evaluation.max_usd is not None:
        unavailable.check(lambda method: llm_settings.require_prices(*method.models(settings)))
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        embedder = components.embedder or stack.enter_context(closing(create_local_embedder(settings.embedder)))
        corpora = await _open_corpora(settings, embedder, components, unavailable, stack)
        running = Counter[str]()
        if isinstance(embedder, LocalEmbedder):
            embedder.share_processors(lambda: running.total() < 2)
            if not for_service:
                embedder.preload()  # while the database starts
        if database is None:
            database = await stack.enter_async_context(open_database(settings))
        beyond_papers = any(METHODS[method].beyond_papers for method in methods)
        literature = await stack.enter_async_context(
            open_literature(settings, database, clock, beyond_papers, components)
        )
        no_papers = create_empty_corpus(embedder)
        llm = await open_llm(
            settings,
            database,
            stack,
            must_answer=not for_service,
            for_service=for_service,
            beside_others=beside_others,
        )
        yield Engine(
            settings=settings,
            backends=Backends(
                llm=llm,
                literature=no_papers,
                full_texts=CorpusFullTexts(no_papers),
                embedder=embedder,
                reranker=components.reranker or _open_reranker(settings, unavailable, stack),
            ),
            literature=literature,
            evaluations=PgReports(database),
            clock=clock,
            judge=await _open_judge(settings, database, unavailable),
            methods=unavailable.of,
            corpora=corpora,
            _slots=asyncio.Semaphore(settings.evaluation.concurrency),
            _overnight_slots=asyncio.Semaphore(settings.overnight_places),
            _running_counts=running,
            bibliography=await stack.enter_async_context(open_bibliography(settings.grobid)),
        )


class _UnavailableMethods:
    """Reasons why methods are unavailable here. They are collected if `keep` is set, otherwise raised immediately."""

    def __init__(self, methods: Sequence[str], keep: bool) -> None:
        self.of: dict[str, AssayerError | None] = dict.fromkeys(methods)
        self.keep = keep

    def affects_any(self, needs: Callable[[EvaluationMethod], bool]) -> bool:
        return any(needs(METHODS[method]) for method in self.of)

    def note(self, error: AssayerError, needs: Callable[[EvaluationMethod], bool]) -> None:
        for method in self.of:
            if needs(METHODS[method]):
                if not self.keep:
                    raise error
                self.of[method] = self.of[method] or error

    def check(self, check: Callable[[EvaluationMethod], object]) -> None:
        """Record the methods for which `check` raises InputError or ConfigurationError."""
        for name in self.of:
            try:
                check(METHODS[name])
            except (InputError, ConfigurationError) as error:
                if not self.keep:
                    raise
                self.of[name] = self.of[name] or error


def _open_reranker(settings: Settings, unavailable: _UnavailableMethods, stack: AsyncExitStack) -> Reranker | None:
    if settings.reranker.model is None or not unavailable.affects_any(lambda method: method.reranks):
        return None
    return stack.enter_context(closing(LocalReranker(settings.reranker)))


async def _open_corpora(
    settings: Settings,
    embedder: Embedder,
    components: SharedComponents,
    unavailable: _UnavailableMethods,
    stack: AsyncExitStack,
) -> CorpusVersions:
    """Open the corpus versions. Raises CorpusError if a method needs a corpus, there is none, and errors are not being
    collected."""
    if components.corpora is not None:
        return components.corpora(embedder)
    corpora = create_corpus_version_cache(settings, embedder)
    stack.push_async_callback(corpora.aclose)
    if not unavailable.keep and unavailable.affects_any(lambda method: method.reads_literature):
        await corpora.current()
    return corpora


async def _open_judge(settings: Settings, database: Database, unavailable: _UnavailableMethods) -> GraphJudge | Absent:
    """Open the graph judge, or return why it cannot be opened or is not needed."""
    if not unavailable.affects_any(lambda method: method.needs_graph):
        return Absent(reason="no method needs labelled ideas.")
    try:
        judge = await open_judge(settings, database)
    except (InputError, ConfigurationError) as error:
        unavailable.note(error, lambda method: method.needs_graph)
        return Absent(reason=str(error))
    if isinstance(judge, Absent):
        unavailable.note(build_missing_graph_error(settings.grapheval.graph), lambda method: method.needs_graph)
    return judge
