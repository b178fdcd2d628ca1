"""Job performer: runs the service's jobs with the engine, the ranker, the reward judges and the curator."""

import asyncio
import datetime as dt
from dataclasses import dataclass, field
from functools import partial
from typing import assert_never

from assayer.errors import Defect, StorageError
from assayer.models import Idea, IdeaId, suspicious_kinds
from assayer.ports import Progress
from assayer.run.context_variables import urgency
from cluster.curation_jobs import CurationJobs
from cluster.curator import Curator
from cluster.engine import Engine
from cluster.ranker import Ranker, RankingInputs
from cluster.reward_jobs import RewardJobs
from cluster.reward_judge import RewardJudge
from cluster.run_request import OnStart, RunRequest
from cluster.settings import Settings
from cluster.submitted_documents import open_documents
from orchestrator.execution.worker import Worker
from orchestrator.jobs.models import JobVerdict, Lease
from orchestrator.jobs.requests import (
    CandidateIdeasRequest,
    ComparisonRequest,
    CurationRequest,
    EvaluationRequest,
    RankingRequest,
    RewardsRequest,
    ScoreRequest,
)
from orchestrator.jobs.results import RankingResult
from orchestrator.store import Database, NotificationListener, PgEvents, PgLeases, PgRewards
from orchestrator.store.documents import PgDocuments
from workers.documents import DocumentLimits
from workers.documents.document_ideas import read_document_idea


@dataclass(frozen=True)
class EnginePerformer:
    """Performs jobs with the engine. Implements `orchestrator.execution.ports.JobPerformer`."""

    engine: Engine
    ranker: Ranker
    rewards: RewardJobs
    curations: CurationJobs
    documents: DocumentLimits
    submitted: PgDocuments | None = None
    """File store for documents that are not in their jobs' database rows; None if not configured."""
    _parsers: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_parsers", asyncio.Semaphore(self.documents.documents_at_once))

    async def perform(self, lease: Lease, progress: Progress, on_start: OnStart) -> JobVerdict:
        with urgency(lease.priority == "interactive"):
            return await self._perform(lease, progress, on_start)

    async def _perform(self, lease: Lease, progress: Progress, on_start: OnStart) -> JobVerdict:
        new_run = partial(
            RunRequest,
            job=lease.job,
            max_usd=lease.max_usd,
            paid_usd=lease.paid_usd,
            paid_prompt_tokens=lease.paid_prompt_tokens,
            answers_of="" if self.engine.settings.evaluation.share_answers else lease.tenant,
            waits_until=self._waits_until(lease),
            on_start=on_start,
        )
        match lease.request:
            case EvaluationRequest() as request:
                idea = request.idea or await self._read_idea(lease, request)
                corpus = str((lease.pinned or {}).get("corpus") or "")
                run = new_run(
                    limits=request.limits,
                    blind=request.blind,
                    board=request.board,
                    board_models=request.board_models,
                    criteria=request.criteria,
                    corpus=corpus,
                )
                evaluation = await self.engine.evaluate(idea, request.method, request.cutoff, progress, run)
                flags = suspicious_kinds(evaluation.report.idea.flags)
                title = evaluation.report.idea.title if request.idea is None else None
                return JobVerdict(state="succeeded", run_id=evaluation.report.evaluation_id, flags=flags, title=title)
            case ComparisonRequest() as request:
                ideas, run = (request.first, request.second), new_run(limits=request.limits, blind=request.blind)
                result = await self.ranker.compare(ideas, request.both_orders, progress, run)
                return JobVerdict(state="succeeded", result=result.model_dump(mode="json"))
            case RankingRequest() as request:
                run = new_run(limits=request.limits, blind=request.blind)
                completed_ranking = await self.ranker.rank(_build_ranking_inputs(request), progress, run)
                ranking_result = RankingResult(
                    ranking=completed_ranking.ranking, comparisons=completed_ranking.comparisons
                )
                return JobVerdict(state="succeeded", result=ranking_result.model_dump(mode="json"))
            case RewardsRequest() as request:
                run = new_run(limits=request.limits)
                rewards_result = await self.rewards.perform(lease, request, progress, run)
                return JobVerdict(state="succeeded", result=rewards_result.model_dump(mode="json"))
            case CurationRequest() | CandidateIdeasRequest() | ScoreRequest() as request:
                blind = isinstance(request, ScoreRequest) and request.blind
                run = new_run(limits=request.limits, blind=blind)
                curation_result = await self.curations.perform(lease, request, progress, run)
                return JobVerdict(state="succeeded", result=curation_result.model_dump(mode="json"))
            case _:
                assert_never(lease.request)

    def _waits_until(self, lease: Lease) -> dt.datetime | None:
        llm = self.engine.settings.llm
        if llm is None or lease.priority != "overnight":
            return None
        return lease.submitted_at + dt.timedelta(seconds=llm.batch.deadline_seconds)

    async def _read_idea(self, lease: Lease, request: EvaluationRequest) -> Idea:
        """Read the idea from the job's document. Raises Unreadable if the document cannot be parsed, InputError if its
        text is not an idea, and the errors of `_load_document`."""
        async with self._parsers:
            source, bibliography = request.source or "The document", self.engine.bibliography
            return await read_document_idea(await self._load_document(lease), source, self.documents, bibliography)

    async def _load_document(self, lease: Lease) -> bytes:
        """Return the job's document. Raises FullTextError if it is no longer available, StorageError if its file store
        is not configured."""
        if lease.document is not None:
            return lease.document
        if lease.document_file is None:
            raise Defect(f"Job {lease.job} has neither an idea nor a document.", "Please report it.")
        if self.submitted is None:
            raise StorageError(
                f"The document of job {lease.job} is in a file store that is not configured in this process.",
                "Set ASSAYER_BATCHES__DOCUMENTS to the value used by the process that accepted the document.",
            )
        return await self.submitted.read(lease.document_file)


def _build_ranking_inputs(request: RankingRequest) -> RankingInputs:
    return RankingInputs(
        ideas=request.ideas,
        shortlist_size=request.shortlist_size,
        scores={IdeaId(idea): score for idea, score in request.scores.items()},
        known=request.known,
        comparisons_per_idea=request.comparisons_per_idea,
    )


def make_performer(settings: Settings, database: Database, engine: Engine) -> EnginePerformer:
    llm, embedder = engine.backends.llm, engine.backends.embedder
    return EnginePerformer(
        engine,
        Ranker(settings, llm, embedder, engine.clock),
        RewardJobs(settings, RewardJudge(settings, llm, embedder, engine.clock), PgRewards(database)),
        CurationJobs(Curator(settings, llm, engine.clock), database),
        DocumentLimits(),
        open_documents(settings, database),
    )


def make_worker(
    name: str,
    settings: Settings,
    database: Database,
    listener: NotificationListener,
    performer: EnginePerformer,
    batch_only: bool = False,
    overnight_only: bool = False,
) -> Worker:
    """Create a worker that leases jobs and runs as many of them concurrently as the settings allow."""
    return Worker(
        name=name,
        max_jobs=settings.overnight_places if overnight_only else settings.evaluation.concurrency,
        performer=performer,
        leases=PgLeases(database, settings.queue, keep_documents=settings.batches.document_days != 0),
        events=PgEvents(database),
        listener=listener,
        settings=settings.work,
        lease_seconds=settings.queue.lease_seconds,
        batch_only=batch_only,
        overnight_only=overnight_only,
    )
