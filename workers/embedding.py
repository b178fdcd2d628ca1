"""Embeds texts with a sentence-transformers model on this machine."""

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from assayer.ports import Vectors
from assayer.urgency import somebody_waits
from workers._passes import Ready
from workers._sentence_model import Row, SentenceModel, Text
from workers.embedding_models import adapted
from workers.embedding_settings import EmbedderSettings
from workers.microbatching import MicroBatcher

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
        queries = SentenceModel(settings, "query") if adapted(settings.model) else passages
        self._model = queries
        self._passages = self._batcher(passages)
        self._queries = self._passages if queries is passages else self._batcher(queries)
        self._memo: OrderedDict[str, Row] = OrderedDict()
        self._dimensions: int | None = None

    def _batcher(self, model: SentenceModel) -> MicroBatcher[Text, Ready, Row]:
        return MicroBatcher[Text, Ready, Row](model, self._thread, _WINDOW_SECONDS)

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def dimensions(self) -> int:
        """Loads the model, and blocks meanwhile, unless its folder is at hand."""
        if self._dimensions is None:
            self._dimensions = self._thread.submit(self._model.dimensions).result()
        return self._dimensions

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        if kind == "passage":
            return np.stack(await self._asked(texts, "passage"))
        known = {query: self._memo[query] for query in texts if query in self._memo}
        missing = list(dict.fromkeys(query for query in texts if query not in known))
        if missing:
            known |= zip(missing, await self._asked(missing, "query"), strict=True)
        self._remember(known)
        return np.stack([known[query] for query in texts])

    async def _asked(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[Row]:
        batcher = self._queries if kind == "query" else self._passages
        return await batcher.ask([Text(text, kind) for text in texts], urgent=somebody_waits())

    def _remember(self, rows: dict[str, Row]) -> None:
        for query, row in rows.items():
            self._memo[query] = row
            self._memo.move_to_end(query)
        while len(self._memo) > self._settings.memo:
            self._memo.popitem(last=False)

    def close(self) -> None:
        """Ends the thread; texts still waiting are not computed."""
        self._thread.shutdown(wait=False, cancel_futures=True)
