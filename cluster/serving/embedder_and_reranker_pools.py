"""Embedding and reranking pools. Each process loads one model for all callers and batches their concurrent requests."""

import os
from collections.abc import Sequence
from typing import Literal, NamedTuple, Self

from assayer.ports import LexicalEmbedder, Vectors, WeighedTexts
from cluster.serving.pool_client import PoolClient
from cluster.serving.replica import Replica, ReplicaConfig
from cluster.serving.settings import PoolSettings
from workers.embedding.embedder import create_local_embedder
from workers.reranking.reranker import LocalReranker


class EmbedderDescription(NamedTuple):
    name: str
    dimensions: int
    lexical: bool
    """Whether the embedder's model also weights tokens."""


def _choose_thread_count(pool: PoolSettings) -> int | None:
    """Return the number of threads for a model; None for the default. Ray would give a process that requests less than
    one CPU only one thread, so it is allowed one per CPU of the machine."""
    return None if pool.cpus >= 1 else os.cpu_count()


class EmbedderReplica(Replica):
    """Process that embeds texts. The embedder itself batches concurrent requests."""

    def __init__(self, config: ReplicaConfig) -> None:
        settings = self.begin(config)
        # One thread, because a second one increases the processor time for small batches by half.
        threads = settings.embedder.threads or (None if settings.serving.embedder.cpus >= 1 else 1)
        self._embedder = create_local_embedder(settings.embedder.model_copy(update={"threads": threads}))

    async def describe(self) -> EmbedderDescription:
        embedder = self._embedder
        return EmbedderDescription(embedder.name, embedder.dimensions, isinstance(embedder, LexicalEmbedder))

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        return await self._embedder.embed(texts, kind)

    async def embed_with_weights(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> WeighedTexts:
        """Embed texts with token weights. Called only if `describe` reports a lexical embedder."""
        if not isinstance(self._embedder, LexicalEmbedder):
            raise TypeError(f"{self._embedder.name} does not weigh tokens")
        return await self._embedder.embed_with_weights(texts, kind)

    def __del__(self) -> None:
        self._embedder.close()


class PooledEmbedder:
    """Embedder that uses the embedder pool. Implements `assayer.ports.Embedder`."""

    def __init__(self, pool: PoolClient[EmbedderReplica], description: EmbedderDescription) -> None:
        self._pool = pool
        self.name, self.dimensions = description.name, description.dimensions

    @classmethod
    async def open(cls, pool: PoolClient[EmbedderReplica]) -> "PooledEmbedder":
        """Open the pool's embedder. Returns a PooledLexicalEmbedder if the model assigns weights to tokens."""
        description = await pool.ask(EmbedderReplica.describe)
        return PooledLexicalEmbedder(pool, description) if description.lexical else PooledEmbedder(pool, description)

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        return await self._pool.ask(EmbedderReplica.embed, list(texts), kind)


class PooledLexicalEmbedder(PooledEmbedder):
    """Pooled embedder that also returns token weights, computed in the same pass of the model. Also implements
    `assayer.ports.LexicalEmbedder`."""

    async def embed_with_weights(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> WeighedTexts:
        return await self._pool.ask(EmbedderReplica.embed_with_weights, list(texts), kind)


class RerankerReplica(Replica):
    def __init__(self, config: ReplicaConfig) -> None:
        settings = self.begin(config)
        threads = settings.reranker.threads or _choose_thread_count(settings.serving.reranker)
        self._reranker = LocalReranker(settings.reranker.model_copy(update={"threads": threads}))

    async def describe(self) -> str:
        return self._reranker.name

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return await self._reranker.score(query, texts)

    def __del__(self) -> None:
        self._reranker.close()


class PooledReranker:
    """Reranker that uses the reranker pool. Implements `assayer.ports.Reranker`."""

    def __init__(self, pool: PoolClient[RerankerReplica], name: str) -> None:
        self._pool = pool
        self.name = name

    @classmethod
    async def open(cls, pool: PoolClient[RerankerReplica]) -> Self:
        return cls(pool, await pool.ask(RerankerReplica.describe))

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return await self._pool.ask(RerankerReplica.score, query, list(texts))
