"""Pool of API processes. Any number of them can run, because all state is in the database."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from typing import Any

from fastapi import FastAPI
from ray.serve.handle import DeploymentHandle

from assayer.errors import ComponentUnavailable
from cluster.clock import SystemClock
from cluster.corpus_source import create_corpus_version_cache
from cluster.database import open_database
from cluster.service import build_api_services
from cluster.serving.embedder_and_reranker_pools import EmbedderReplica, PooledEmbedder
from cluster.serving.evaluator_pool import EvaluatorReplica
from cluster.serving.index_pool import IndexReplica, PooledCorpora, make_pooled_corpora
from cluster.serving.pool_client import PoolClient
from cluster.serving.replica import BackgroundContext, Replica, ReplicaConfig, ensure_running, run_background_task
from cluster.settings import Settings
from orchestrator.application import create_app
from orchestrator.event_loop_lag import watch_event_loop
from orchestrator.problems import Check
from orchestrator.store import Database, NotificationListener
from orchestrator.web.searchable_corpus import SearchableCorpora
from workers.embedding.embedder import LocalEmbedder, create_local_embedder

_READY_SECONDS = 10.0


class IngressReplica(Replica):
    async def __init__(  # type: ignore[misc]  # Serve awaits it
        self,
        config: ReplicaConfig,
        evaluator: DeploymentHandle[EvaluatorReplica],
        index: Sequence[DeploymentHandle[IndexReplica]] = (),
        embedder: DeploymentHandle[EmbedderReplica] | None = None,
        batch_evaluator: DeploymentHandle[EvaluatorReplica] | None = None,
    ) -> None:
        """Start the API process. `batch_evaluator` is never called; it is passed only so that Serve deploys it."""
        settings = self.begin(config)
        serving = settings.serving
        pool_client_options = (serving.call_seconds, serving.patience_seconds)
        corpora = None
        if index:
            query_embedder = (
                await PooledEmbedder.open(PoolClient(embedder, *pool_client_options))
                if embedder
                else _build_own_embedder(settings)
            )
            corpora = make_pooled_corpora([PoolClient(handle, *pool_client_options) for handle in index], settings)(
                query_embedder
            )
        self._app = await BackgroundContext.open(_open_app(settings, evaluator, corpora))

    def __serve_build_asgi_app__(self) -> FastAPI:
        return self._app.value

    async def check_health(self) -> None:
        ensure_running(self._app.task, "The API")

    async def __del__(self) -> None:
        await self._app.close()


@asynccontextmanager
async def _open_app(
    settings: Settings, evaluator: DeploymentHandle[EvaluatorReplica], corpora: PooledCorpora | None
) -> AsyncIterator[FastAPI]:
    async with open_database(settings) as database, open_api(settings, database, evaluator, corpora) as app:
        yield app


@asynccontextmanager
async def open_api(
    settings: Settings,
    database: Database,
    evaluator: DeploymentHandle[EvaluatorReplica],
    corpora: SearchableCorpora | None = None,
) -> AsyncIterator[FastAPI]:
    """Open the API in this process. It calls `evaluator` only for readiness checks. Without `corpora`, it searches the
    corpus itself, and loads the embedding model at the first search."""
    evaluators = PoolClient(evaluator, _READY_SECONDS, _READY_SECONDS)
    async with AsyncExitStack() as stack:
        listener = await stack.enter_async_context(NotificationListener(database))
        await stack.enter_async_context(run_background_task(watch_event_loop()))
        if corpora is None:
            own_versions = create_corpus_version_cache(
                settings, stack.enter_context(closing(_build_own_embedder(settings)))
            )
            stack.push_async_callback(own_versions.aclose)
            corpora = own_versions

        async def ready() -> list[Check]:
            try:
                return await evaluators.call_once(EvaluatorReplica.examine)
            except ComponentUnavailable as error:
                return [Check(name="evaluators", ok=False, detail=str(error))]

        yield create_app(build_api_services(settings, database, listener, SystemClock(), corpora, ready))


def _build_own_embedder(settings: Settings) -> LocalEmbedder[Any]:
    """Return an embedder that loads its model at the first search and uses only one thread, because evaluators compute
    on the same machine."""
    embedder = create_local_embedder(settings.embedder)
    embedder.share_processors(lambda: False)
    return embedder
