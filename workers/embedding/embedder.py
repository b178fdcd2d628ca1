"""Embedders that run a model on this machine. Importing this module does not import torch."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from assayer.ports import Vectors, WeighedTexts
from assayer.run.context_variables import is_urgent
from workers.batching.micro_batcher import BatchModel, MicroBatcher
from workers.batching.padded_batches import TokenizedText
from workers.embedding.bge_m3 import BgeM3Model, WeighedText
from workers.embedding.model_profiles import find_adapters
from workers.embedding.query_memo import QueryMemo
from workers.embedding.sentence_model import EmbeddingInput, EmbeddingVector, SentenceModel
from workers.embedding.settings import EmbedderSettings

_WINDOW_SECONDS = 0.003
Row = TypeVar("Row")
Kind = Literal["query", "passage"]


class LocalEmbedder(ABC, Generic[Row]):
    """Base class for embedders. Implements `assayer.ports.Embedder`. Concurrent callers share forward passes, which run
    in one thread, urgent requests first.

    The model is loaded at first use. Raises ConfigurationError if it is missing."""

    def __init__(self, settings: EmbedderSettings, queries: Any, passages: Any) -> None:
        """Create an embedder with a model for queries and a model for passages. Both may be the same model."""
        self._settings = settings
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        self._model = queries
        self._passages = self._build_batcher(passages)
        self._queries = self._passages if queries is passages else self._build_batcher(queries)
        self._memo = QueryMemo[Row](settings.memo)
        self._dimensions: int | None = None

    def _build_batcher(
        self, model: BatchModel[EmbeddingInput, TokenizedText, Row]
    ) -> MicroBatcher[EmbeddingInput, TokenizedText, Row]:
        return MicroBatcher(model, self._thread, _WINDOW_SECONDS)

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def dimensions(self) -> int:
        """Return the vectors' dimensions. If the model's folder does not state them, block until the model is
        loaded."""
        if self._dimensions is None:
            stated_dimensions = self._model.read_stated_dimensions()
            self._dimensions = stated_dimensions or self._thread.submit(self._model.get_dimensions).result()
        return self._dimensions

    @abstractmethod
    async def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Return unit vectors, one row per text."""

    async def _embed_cached(self, texts: Sequence[str], kind: Kind) -> list[Row]:
        """Return one result per text. Results for recent queries are cached."""
        if kind == "passage":
            return await self._compute_rows(texts, kind)
        return await self._memo.get_or_compute(texts, lambda missing: self._compute_rows(missing, kind))

    async def _compute_rows(self, texts: Sequence[str], kind: Kind) -> list[Row]:
        batcher = self._queries if kind == "query" else self._passages
        return await batcher.compute([EmbeddingInput(text, kind) for text in texts], urgent=is_urgent())

    def share_processors(self, is_alone: Callable[[], bool]) -> None:
        """Set a function that returns whether no other work is running in this process, so that the model can use fewer
        threads alongside other work. The default implementation ignores it."""

    def preload(self) -> None:
        """Start loading the model in the background, if it can be loaded alongside other work. Errors are raised when
        the model is first used."""

    def close(self) -> None:
        """Stop the thread. Texts that are still queued are not computed."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class SentenceTransformerEmbedder(LocalEmbedder[EmbeddingVector]):
    """Embedder that uses a sentence-transformers model. A model with adapters is loaded twice, for queries and for
    passages."""

    def __init__(self, settings: EmbedderSettings) -> None:
        passages = SentenceModel(settings)
        queries = SentenceModel(settings, "query") if find_adapters(settings.model) else passages
        self._models = {passages, queries}
        super().__init__(settings, queries, passages)

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        return np.stack(await self._embed_cached(texts, kind)) if texts else np.empty((0, self.dimensions), np.float32)

    def share_processors(self, is_alone: Callable[[], bool]) -> None:
        """Make later passes use one thread unless `is_alone()` is true. By default, passes use all threads allowed by
        the setting `threads`."""
        for model in self._models:
            model.is_alone = is_alone

    def preload(self) -> None:
        self._thread.submit(self._model.preload)


class BgeM3Embedder(LocalEmbedder[WeighedText]):
    """Embedder that uses bge-m3. Also implements `assayer.ports.LexicalEmbedder`. Also raises ConfigurationError if
    FlagEmbedding is missing. It is not preloaded, because FlagEmbedding's imports slow down other work."""

    def __init__(self, settings: EmbedderSettings) -> None:
        model = BgeM3Model(settings)
        super().__init__(settings, model, model)

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        return (await self.embed_with_weights(texts, kind)).vectors

    async def embed_with_weights(self, texts: Sequence[str], kind: Kind) -> WeighedTexts:
        if not texts:
            return WeighedTexts(np.empty((0, self.dimensions), np.float32), ())
        rows = await self._embed_cached(texts, kind)
        return WeighedTexts(np.stack([row.vector for row in rows]), [row.lexical_weights for row in rows])


def create_local_embedder(settings: EmbedderSettings) -> SentenceTransformerEmbedder | BgeM3Embedder:
    """Return the local embedder for the settings. Its model is loaded at first use."""
    return BgeM3Embedder(settings) if settings.library == "FlagEmbedding" else SentenceTransformerEmbedder(settings)
