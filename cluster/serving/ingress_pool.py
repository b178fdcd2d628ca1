"""The API as a pool: any number of processes answer requests; what they know is in the database."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from ray.serve.handle import DeploymentHandle

from assayer.errors import PartUnavailable
from assayer.ports import Embedder
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.service import api_services
from cluster.serving.evaluator_pool import EvaluatorReplica
from cluster.serving.index_pool import IndexReplica, PooledCorpora, pooled_corpora
from cluster.serving.model_pools import EmbedderReplica, PooledEmbedder
from cluster.serving.pool_client import PoolClient
from cluster.serving.replica import BackgroundContext, Replica, ReplicaConfig, background_task, ensure_running
from cluster.settings import Settings
from orchestrator.api.application import create_app
from orchestrator.api.common_schemas import Check
from orchestrator.event_loop_lag import watch_event_loop
from orchestrator.store import NotificationListener
from workers.embedding.local_embedder import local_embedder

__all__ = ["IngressReplica"]

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
        """`batch_evaluator` is asked nothing: it is given so that Serve knows of it."""
        settings = self.begin(config)
        serving = settings.serving
        shared = (serving.call_seconds, serving.patience_seconds)
        corpora = None
        if index:
            asking = await PooledEmbedder.open(PoolClient(embedder, *shared)) if embedder else _own_embedder(settings)
            corpora = pooled_corpora([PoolClient(one, *shared) for one in index], settings)(asking)
        self._app = await BackgroundContext.open(
            _open_app(settings, corpora, PoolClient(evaluator, _READY_SECONDS, _READY_SECONDS))
        )

    def __serve_build_asgi_app__(self) -> FastAPI:
        return self._app.value

    async def check_health(self) -> None:
        ensure_running(self._app.task, "The API")

    async def __del__(self) -> None:
        await self._app.close()


@asynccontextmanager
async def _open_app(
    settings: Settings, corpora: PooledCorpora | None, evaluators: PoolClient[EvaluatorReplica]
) -> AsyncIterator[FastAPI]:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        listener = await stack.enter_async_context(NotificationListener(database))
        await stack.enter_async_context(background_task(watch_event_loop()))

        async def ready() -> list[Check]:
            try:
                return await evaluators.once(EvaluatorReplica.examine)
            except PartUnavailable as error:
                return [Check(name="evaluators", ok=False, detail=str(error))]

        yield create_app(api_services(settings, database, listener, SystemClock(), corpora, ready))


def _own_embedder(settings: Settings) -> Embedder:
    """Its model is loaded when somebody searches."""
    return local_embedder(settings.embedder)
