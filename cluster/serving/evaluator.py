"""Evaluators as a pool: each works on as many jobs as it has places, with the parts that it shares with the others."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from ray.serve.handle import DeploymentHandle

from cluster.database import open_database
from cluster.desk import OFFERED, examine
from cluster.engine import Engine, open_engine
from cluster.parts import Parts
from cluster.performing import worker_of
from cluster.service import process_name
from cluster.serving.attending import attended, check_on
from cluster.serving.calling import Caller
from cluster.serving.holding import Holding
from cluster.serving.index import IndexReplica, served_corpora
from cluster.serving.line import LineReplica, ServedLine
from cluster.serving.models import EmbedderReplica, RerankerReplica, ServedEmbedder, ServedReranker
from cluster.serving.outside import DocumentsReplica, LiteratureReplica, ServedDocuments, ServedRemote
from cluster.serving.replica import Replica
from cluster.serving.where import Where
from cluster.settings import Settings
from orchestrator.api.resources import Check
from orchestrator.jobs.models import Lease
from orchestrator.store import Database, Listener
from orchestrator.work.ports import Handed
from orchestrator.work.worker import Worker

__all__ = ["EvaluatorReplica"]

_LINE_SECONDS = 900.0
"""For which a question may wait for its turn in the line, beside the time that the endpoint may take."""


@dataclass(frozen=True)
class _Workshop:
    database: Database
    engine: Engine
    worker: Worker
    working: "asyncio.Task[None]"


class EvaluatorReplica(Replica):
    async def __init__(  # type: ignore[misc]  # Serve awaits it
        self,
        where: Where,
        line: DeploymentHandle[LineReplica] | None = None,
        embedder: DeploymentHandle[EmbedderReplica] | None = None,
        reranker: DeploymentHandle[RerankerReplica] | None = None,
        index: Sequence[DeploymentHandle[IndexReplica]] = (),
        literature: DeploymentHandle[LiteratureReplica] | None = None,
        full_texts: DeploymentHandle[DocumentsReplica] | None = None,
    ) -> None:
        settings = _with_places(self.begin(where))
        serving = settings.serving
        shared = (serving.call_seconds, serving.patience_seconds)
        patient = (settings.full_texts.work_seconds, serving.patience_seconds)
        parts = Parts(
            line=_line(line, settings),
            embedder=await ServedEmbedder.open(Caller(embedder, *shared)) if embedder else None,
            reranker=await ServedReranker.open(Caller(reranker, *shared)) if reranker else None,
            corpora=served_corpora([Caller(one, *shared) for one in index], settings) if index else None,
            remote=ServedRemote(Caller(literature, *patient)) if literature else None,
            documents=ServedDocuments(Caller(full_texts, *patient)) if full_texts else None,
        )
        self._workshop = await Holding.open(_workshop(settings, parts))

    async def perform(self, lease: Lease) -> Handed:
        """To the end of the work, or `refused` when every place is taken."""
        return await self._workshop.value.worker.perform(lease)

    async def examine(self) -> list[Check]:
        """What evaluations need, as this process sees it."""
        shop = self._workshop.value
        return await examine(shop.database, shop.engine)

    async def check_health(self) -> None:
        shop = self._workshop.value
        check_on(self._workshop.task, "The evaluator")
        check_on(shop.working, "The worker")

    async def __del__(self) -> None:
        await self._workshop.close()


@asynccontextmanager
async def _workshop(settings: Settings, parts: Parts) -> AsyncIterator[_Workshop]:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        listener = await stack.enter_async_context(Listener(database))
        opening = open_engine(settings, tuple(OFFERED), database, for_service=True, parts=parts)
        engine = await stack.enter_async_context(opening)
        worker = worker_of(process_name(), settings, database, listener, engine)
        working = await stack.enter_async_context(attended(worker.run()))
        stack.push_async_callback(worker.drain, 0)
        yield _Workshop(database, engine, worker, working)


def _with_places(settings: Settings) -> Settings:
    places = {"concurrency": settings.serving.evaluator.ongoing}
    return settings.model_copy(update={"evaluation": settings.evaluation.model_copy(update=places)})


def _line(handle: DeploymentHandle[LineReplica] | None, settings: Settings) -> ServedLine | None:
    if handle is None or settings.llm is None:
        return None
    seconds = settings.llm.request_timeout_seconds + _LINE_SECONDS
    return ServedLine(Caller(handle, seconds, settings.serving.patience_seconds), settings.llm.base_url)
