"""Embeds texts with bge-m3 on this machine: vectors and lexical weights."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from assayer.ports import Vectors, WeighedTexts
from assayer.run.context_variables import is_urgent
from workers.batching.micro_batcher import MicroBatcher
from workers.batching.padded_batches import TokenizedText
from workers.embedding.bge_m3 import BgeM3Model, WeighedText
from workers.embedding.query_memo import QueryMemo
from workers.embedding.sentence_model import EmbeddingInput
from workers.embedding.settings import EmbedderSettings

__all__ = ["BgeM3Embedder"]

_WINDOW_SECONDS = 0.003


class BgeM3Embedder:
    """`assayer.ports.Embedder` and `LexicalEmbedder`; concurrent callers share forward passes, which run in one thread.
    Whoever is waited for passes the others.

    The model loads at first use. Raises ConfigurationError when it, or FlagEmbedding, is not there.
    """

    def __init__(self, settings: EmbedderSettings) -> None:
        self._settings = settings
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        self._model = BgeM3Model(settings)
        self._batcher = MicroBatcher[EmbeddingInput, TokenizedText, WeighedText](
            self._model, self._thread, _WINDOW_SECONDS
        )
        self._memo = QueryMemo[WeighedText](settings.memo)
        self._dimensions: int | None = None

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
        """A pass takes all processors whoever else computes: it is too long for one."""

    def preload(self) -> None:
        """Nothing: what FlagEmbedding imports is more than may be imported beside others."""

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        return (await self.embed_with_weights(texts, kind)).vectors

    async def embed_with_weights(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> WeighedTexts:
        if not texts:
            return WeighedTexts(np.empty((0, self.dimensions), np.float32), ())
        if kind == "passage":
            rows = await self._computed(texts, "passage")
        else:
            rows = await self._memo.rows(texts, lambda missing: self._computed(missing, "query"))
        return WeighedTexts(np.stack([row.vector for row in rows]), [row.lexical for row in rows])

    async def _computed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[WeighedText]:
        return await self._batcher.compute([EmbeddingInput(text, kind) for text in texts], urgent=is_urgent())

    def close(self) -> None:
        """Ends the thread; texts still waiting are not computed."""
        self._thread.shutdown(wait=False, cancel_futures=True)
