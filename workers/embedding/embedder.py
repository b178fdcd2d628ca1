"""Embeds texts with a sentence-transformers model on this machine."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from assayer.ports import Vectors
from assayer.run.context_variables import is_urgent
from workers.batching.micro_batcher import MicroBatcher
from workers.batching.padded_batches import TokenizedText
from workers.embedding.model_profiles import adapters_of
from workers.embedding.query_memo import QueryMemo
from workers.embedding.sentence_model import EmbeddingInput, EmbeddingVector, SentenceModel
from workers.embedding.settings import EmbedderSettings

__all__ = ["EmbedderSettings", "SentenceTransformerEmbedder"]

_WINDOW_SECONDS = 0.003


class SentenceTransformerEmbedder:
    """`assayer.ports.Embedder`; concurrent callers share forward passes, which run in one thread. Whoever is waited for
    passes the others.

    The model loads at first use; one with adapters once for queries and once for passages, which lie in memory apart.
    Raises ConfigurationError when it is not there.
    """

    def __init__(self, settings: EmbedderSettings) -> None:
        self._settings = settings
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        passages = SentenceModel(settings)
        queries = SentenceModel(settings, "query") if adapters_of(settings.model) else passages
        self._model = queries
        self._models = {passages, queries}
        self._passages = self._batcher(passages)
        self._queries = self._passages if queries is passages else self._batcher(queries)
        self._memo = QueryMemo[EmbeddingVector](settings.memo)
        self._dimensions: int | None = None

    def _batcher(self, model: SentenceModel) -> MicroBatcher[EmbeddingInput, TokenizedText, EmbeddingVector]:
        return MicroBatcher[EmbeddingInput, TokenizedText, EmbeddingVector](model, self._thread, _WINDOW_SECONDS)

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def dimensions(self) -> int:
        """Loads the model, and blocks meanwhile, unless its folder is at hand."""
        if self._dimensions is None:
            stated = self._model.stated_dimensions()
            self._dimensions = stated or self._thread.submit(self._model.dimensions).result()
        return self._dimensions

    def share_processors(self, alone: Callable[[], bool]) -> None:
        """From now on passes take one thread unless `alone()`; without it they take all, as `threads` decides."""
        for model in self._models:
            model.alone = alone

    def preload(self) -> None:
        """Begins to load the model, and does not wait. What goes wrong is raised when it is first used."""
        self._thread.submit(self._model.preload)

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        if kind == "passage":
            return np.stack(await self._computed(texts, "passage"))
        return np.stack(await self._memo.rows(texts, lambda missing: self._computed(missing, "query")))

    async def _computed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[EmbeddingVector]:
        batcher = self._queries if kind == "query" else self._passages
        return await batcher.compute([EmbeddingInput(text, kind) for text in texts], urgent=is_urgent())

    def close(self) -> None:
        """Ends the thread; texts still waiting are not computed."""
        self._thread.shutdown(wait=False, cancel_futures=True)
