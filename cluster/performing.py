"""Does the jobs of the service with the engine and the ranker."""

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import assert_never

from assayer.errors import Defect
from assayer.models import Idea, IdeaId
from assayer.ports import Progress
from assayer.urgency import waiting
from cluster.commission import Begun, Commission
from cluster.engine import Engine
from cluster.ranking import Ranker, Wanted
from cluster.settings import Settings
from orchestrator.jobs.models import JobVerdict, Lease
from orchestrator.jobs.requests import ComparisonRequest, EvaluationRequest, RankingRequest
from orchestrator.jobs.results import RankingResult
from orchestrator.store import Database, Listener, PgEvents, PgLeases, PgLedger
from orchestrator.work.accounts import LedgerAccounts
from orchestrator.work.worker import Worker
from workers.documents import DocumentLimits
from workers.documents.reading import idea_of_pdf

__all__ = ["EnginePerformer", "worker_of"]


@dataclass(frozen=True)
class EnginePerformer:
    """Implements `orchestrator.work.ports.Performer`."""

    engine: Engine
    ranker: Ranker
    documents: DocumentLimits
    _parsers: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_parsers", asyncio.Semaphore(self.documents.pdfs_at_once))

    async def perform(self, lease: Lease, progress: Progress, begun: Begun) -> JobVerdict:
        with waiting(lease.priority == "interactive"):
            return await self._perform(lease, progress, begun)

    async def _perform(self, lease: Lease, progress: Progress, begun: Begun) -> JobVerdict:
        commission = partial(Commission, job=lease.job, purse=lease.max_usd, begun=begun)
        match lease.work:
            case EvaluationRequest() as work:
                idea = work.idea or await self._read(lease, work)
                wanted = commission(limits=work.limits, corpus=_corpus_of(lease))
                evaluation = await self.engine.evaluate(idea, work.method, work.cutoff, progress, wanted)
                return JobVerdict(state="done", run_id=evaluation.report.evaluation_id)
            case ComparisonRequest() as work:
                ideas = (work.first, work.second)
                result = await self.ranker.compare(ideas, work.both_orders, progress, commission(limits=work.limits))
                return JobVerdict(state="done", result=result.model_dump(mode="json"))
            case RankingRequest() as work:
                ranked = await self.ranker.rank(_wanted(work), progress, commission(limits=work.limits))
                both = RankingResult(ranking=ranked.ranking, comparisons=ranked.comparisons)
                return JobVerdict(state="done", result=both.model_dump(mode="json"))
            case _:
                assert_never(lease.work)

    async def _read(self, lease: Lease, work: EvaluationRequest) -> Idea:
        """Raises Unreadable, or InputError where its text is no idea."""
        if lease.document is None:
            raise Defect(f"Job {lease.job} has neither an idea nor a document.", "Please report it.")
        async with self._parsers:
            return await idea_of_pdf(lease.document, work.source or "The document", self.documents.pdf)


def _corpus_of(lease: Lease) -> str:
    """The version that the job began with, if it has begun before."""
    return str((lease.pinned or {}).get("corpus") or "")


def _wanted(work: RankingRequest) -> Wanted:
    return Wanted(
        ideas=work.ideas,
        cut=work.cut,
        scores={IdeaId(idea): score for idea, score in work.scores.items()},
        known=work.known,
        calls_per_idea=work.calls_per_idea,
    )


def worker_of(name: str, settings: Settings, database: Database, listener: Listener, engine: Engine) -> Worker:
    """Has as many places as the settings allow ideas in flight."""
    performer = EnginePerformer(
        engine, Ranker(settings, engine.world.llm, engine.world.embedder, engine.clock), DocumentLimits()
    )
    return Worker(
        name=name,
        places=settings.evaluation.concurrency,
        performer=performer,
        leases=PgLeases(database, settings.queue),
        events=PgEvents(database),
        accounts=LedgerAccounts(PgLedger(database)),
        listener=listener,
        settings=settings.work,
        lease_seconds=settings.queue.lease_seconds,
        clock=engine.clock,
    )
