"""Evaluator pool. Each process leases as many jobs as it has slots, and uses the other pools for expensive
components."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from ray.serve.handle import DeploymentHandle

from cluster.database import open_database
from cluster.engine import Engine, open_engine
from cluster.engine_components import SharedComponents
from cluster.evaluator import Evaluator, open_evaluator
from cluster.methods import METHOD_DESCRIPTIONS
from cluster.service import check_readiness, make_process_name
from cluster.serving.embedder_and_reranker_pools import EmbedderReplica, PooledEmbedder, PooledReranker, RerankerReplica
from cluster.serving.index_pool import IndexReplica, make_pooled_corpora
from cluster.serving.literature_pools import DocumentsReplica, LiteratureReplica, PooledDocuments, PooledSourceGateway
from cluster.serving.pool_client import PoolClient
from cluster.serving.queue_scaling import JOBS_IN_HAND
from cluster.serving.replica import BackgroundContext, Replica, ReplicaConfig, ensure_running, run_background_task
from cluster.settings import Settings
from orchestrator.event_loop_lag import watch_event_loop
from orchestrator.problems import Check
from orchestrator.store import Database, NotificationListener


@dataclass(frozen=True)
class _EvaluatorContext:
    database: Database
    engine: Engine
    evaluator: Evaluator
    working: "asyncio.Task[None]"


class EvaluatorReplica(Replica):
    async def __init__(  # type: ignore[misc]  # Serve awaits it
        self,
        config: ReplicaConfig,
        embedder: DeploymentHandle[EmbedderReplica] | None = None,
        reranker: DeploymentHandle[RerankerReplica] | None = None,
        index: Sequence[DeploymentHandle[IndexReplica]] = (),
        literature: DeploymentHandle[LiteratureReplica] | None = None,
        full_texts: DeploymentHandle[DocumentsReplica] | None = None,
        batch_only: bool = False,
        batch_evaluator: "DeploymentHandle[EvaluatorReplica] | None" = None,
    ) -> None:
        """Start the evaluator. `batch_evaluator` is never called; it is passed only so that Serve deploys it."""
        settings = _set_concurrency(self.begin(config), batch_only)
        serving = settings.serving
        pool_client_options = (serving.call_seconds, serving.patience_seconds)
        patient = (settings.full_texts.work_seconds, serving.patience_seconds)
        components = SharedComponents(
            embedder=await PooledEmbedder.open(PoolClient(embedder, *pool_client_options)) if embedder else None,
            reranker=await PooledReranker.open(PoolClient(reranker, *pool_client_options)) if reranker else None,
            corpora=make_pooled_corpora([PoolClient(handle, *pool_client_options) for handle in index], settings)
            if index
            else None,
            remote=PooledSourceGateway(PoolClient(literature, *patient)) if literature else None,
            documents=PooledDocuments(PoolClient(full_texts, *patient)) if full_texts else None,
        )
        self._context = await BackgroundContext.open(_open_evaluator(settings, components, batch_only))

    async def drain(self, seconds: float) -> None:
        """Stop leasing, wait up to `seconds` for running jobs, then return unfinished ones to the queue."""
        await self._context.value.evaluator.drain(seconds)

    async def record_autoscaling_stats(self) -> dict[str, float]:
        """Return the statistics, besides the queue depth, that `QueueScaling` uses. Serve calls this regularly."""
        return {JOBS_IN_HAND: float(self._context.value.evaluator.worker.running_count)}

    async def examine(self) -> list[Check]:
        """Check what evaluations require, as seen by this process."""
        context = self._context.value
        return await check_readiness(context.database, context.engine)

    async def check_health(self) -> None:
        context = self._context.value
        ensure_running(self._context.task, "The evaluator")
        ensure_running(context.working, "Its work")

    async def __del__(self) -> None:
        await self._context.close()


@asynccontextmanager
async def _open_evaluator(
    settings: Settings, components: SharedComponents, batch_only: bool
) -> AsyncIterator[_EvaluatorContext]:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        listener = await stack.enter_async_context(NotificationListener(database))
        opening = open_engine(settings, tuple(METHOD_DESCRIPTIONS), database, for_service=True, components=components)
        engine = await stack.enter_async_context(opening)
        evaluating = open_evaluator(make_process_name(), settings, database, listener, engine, engine.clock, batch_only)
        evaluator = await stack.enter_async_context(evaluating)
        working = await stack.enter_async_context(run_background_task(evaluator.run()))
        await stack.enter_async_context(run_background_task(watch_event_loop()))
        stack.push_async_callback(evaluator.drain, settings.serving.drain_seconds)
        yield _EvaluatorContext(database, engine, evaluator, working)


def _set_concurrency(settings: Settings, batch_only: bool) -> Settings:
    pool = settings.serving.batch_evaluator if batch_only else settings.serving.evaluator
    concurrency_setting = {"concurrency": pool.ongoing}
    return settings.model_copy(update={"evaluation": settings.evaluation.model_copy(update=concurrency_setting)})
