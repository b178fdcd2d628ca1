"""The API as a pool: any number of processes answer requests; what they know is in the database."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from ray.serve.handle import DeploymentHandle

from assayer.errors import PartUnavailable
from assayer.ports import Embedder
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.desk import api_services
from cluster.serving.attending import check_on
from cluster.serving.calling import Caller
from cluster.serving.dispatcher import DispatcherReplica
from cluster.serving.evaluator import EvaluatorReplica
from cluster.serving.holding import Holding
from cluster.serving.index import IndexReplica, ServedCorpora, served_corpora
from cluster.serving.models import EmbedderReplica, ServedEmbedder
from cluster.serving.replica import Replica
from cluster.serving.where import Where
from cluster.settings import Settings
from orchestrator.api.application import application
from orchestrator.api.resources import Check
from orchestrator.store import Listener
from workers.embedding import SentenceTransformerEmbedder

__all__ = ["IngressReplica"]

_READY_SECONDS = 10.0


class IngressReplica(Replica):
    async def __init__(  # type: ignore[misc]  # Serve awaits it
        self,
        where: Where,
        evaluator: DeploymentHandle[EvaluatorReplica],
        index: Sequence[DeploymentHandle[IndexReplica]] = (),
        embedder: DeploymentHandle[EmbedderReplica] | None = None,
        dispatcher: DeploymentHandle[DispatcherReplica] | None = None,
    ) -> None:
        """`dispatcher` is not asked for anything; every deployment has to be reached from the first one."""
        settings = self.begin(where)
        serving = settings.serving
        shared = (serving.call_seconds, serving.patience_seconds)
        corpora = None
        if index:
            asking = await ServedEmbedder.open(Caller(embedder, *shared)) if embedder else _own(settings)
            corpora = served_corpora([Caller(one, *shared) for one in index], settings)(asking)
        self._front = await Holding.open(_front(settings, corpora, Caller(evaluator, _READY_SECONDS, _READY_SECONDS)))

    def __serve_build_asgi_app__(self) -> FastAPI:
        return self._front.value

    async def check_health(self) -> None:
        check_on(self._front.task, "The API")

    async def __del__(self) -> None:
        await self._front.close()


@asynccontextmanager
async def _front(
    settings: Settings, corpora: ServedCorpora | None, evaluators: Caller[EvaluatorReplica]
) -> AsyncIterator[FastAPI]:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        listener = await stack.enter_async_context(Listener(database))

        async def ready() -> list[Check]:
            try:
                return await evaluators.once(EvaluatorReplica.examine)
            except PartUnavailable as error:
                return [Check(name="evaluators", ok=False, detail=str(error))]

        yield application(api_services(settings, database, listener, SystemClock(), corpora, ready))


def _own(settings: Settings) -> Embedder:
    """Its model is loaded when somebody searches."""
    return SentenceTransformerEmbedder(settings.embedder)
