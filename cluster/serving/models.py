"""Embedding and reranking as pools: one model loaded for all, its passes shared by whoever asks at the time."""

import os
from collections.abc import Sequence
from typing import Literal, NamedTuple, Self

from assayer.ports import Vectors
from cluster.serving.calling import Caller
from cluster.serving.replica import Replica
from cluster.serving.settings import Pool
from cluster.serving.where import Where
from workers.embedding import SentenceTransformerEmbedder
from workers.reranking.reranker import CrossEncoderReranker

__all__ = ["EmbedderReplica", "RerankerReplica", "ServedEmbedder", "ServedReranker"]


class EmbedderName(NamedTuple):
    name: str
    dimensions: int


def _threads(pool: Pool) -> int | None:
    """Ray lets a process that asks for less than a processor compute in one thread; ours share the machine instead."""
    return None if pool.cpus >= 1 else os.cpu_count()


class EmbedderReplica(Replica):
    """What is asked at the same time is computed together by the embedder itself."""

    def __init__(self, where: Where) -> None:
        settings = self.begin(where)
        threads = settings.embedder.threads or _threads(settings.serving.embedder)
        self._embedder = SentenceTransformerEmbedder(settings.embedder.model_copy(update={"threads": threads}))

    async def describe(self) -> EmbedderName:
        return EmbedderName(self._embedder.name, self._embedder.dimensions)

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        return await self._embedder.embed(texts, kind)

    def __del__(self) -> None:
        self._embedder.close()


class ServedEmbedder:
    """Implements assayer.ports.Embedder."""

    def __init__(self, caller: Caller[EmbedderReplica], described: EmbedderName) -> None:
        self._caller = caller
        self.name, self.dimensions = described

    @classmethod
    async def open(cls, caller: Caller[EmbedderReplica]) -> Self:
        return cls(caller, await caller.ask(EmbedderReplica.describe))

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        return await self._caller.ask(EmbedderReplica.embed, list(texts), kind)


class RerankerReplica(Replica):
    def __init__(self, where: Where) -> None:
        settings = self.begin(where)
        threads = settings.reranker.threads or _threads(settings.serving.reranker)
        self._reranker = CrossEncoderReranker(settings.reranker.model_copy(update={"threads": threads}))

    async def describe(self) -> str:
        return self._reranker.name

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return await self._reranker.score(query, texts)

    def __del__(self) -> None:
        self._reranker.close()


class ServedReranker:
    """Implements assayer.ports.Reranker."""

    def __init__(self, caller: Caller[RerankerReplica], name: str) -> None:
        self._caller = caller
        self.name = name

    @classmethod
    async def open(cls, caller: Caller[RerankerReplica]) -> Self:
        return cls(caller, await caller.ask(RerankerReplica.describe))

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return await self._caller.ask(RerankerReplica.score, query, list(texts))
