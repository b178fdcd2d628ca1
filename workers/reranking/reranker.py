"""Reranker that uses a model on this machine, shared by all evaluations. Implements `assayer.ports.Reranker`.

Importing this module does not import torch."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from assayer.errors import ConfigurationError
from assayer.run.context_variables import is_urgent
from workers.batching.micro_batcher import BatchModel, MicroBatcher
from workers.batching.padded_batches import TokenizedText
from workers.reranking.cross_encoder import CrossEncoder, QueryTextPair
from workers.reranking.llm_reranker import LlmRerankingModel
from workers.reranking.settings import RerankerSettings

_WINDOW_SECONDS = 0.003


class LocalReranker:
    """Reranker whose concurrent callers share forward passes, which run in one thread, urgent requests first.

    The model is loaded at first use. Raises ConfigurationError if the model is missing: immediately if it is a folder,
    otherwise at first use."""

    def __init__(self, settings: RerankerSettings) -> None:
        if settings.model is None:
            raise ConfigurationError("No reranking model is configured.", "Set ASSAYER_RERANKER__MODEL.")
        if settings.model.startswith(("/", ".", "~")) and not Path(settings.model).is_dir():
            raise ConfigurationError(
                f"The reranking model folder {settings.model} does not exist.",
                "Correct ASSAYER_RERANKER__MODEL, or set it to a model such as BAAI/bge-reranker-v2-m3.",
            )
        self._name = settings.model
        self._max_tokens = settings.max_tokens
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reranker")
        model_class = LlmRerankingModel if settings.library == "FlagEmbedding" else CrossEncoder
        model: BatchModel[QueryTextPair, TokenizedText, float] = model_class(settings.model, settings)
        self._batcher = MicroBatcher[QueryTextPair, TokenizedText, float](model, self._thread, _WINDOW_SECONDS)

    @property
    def name(self) -> str:
        """Return the model's name, with the maximum number of tokens in a pair if that is not the default. As in the
        embedder's name, the precision is not included."""
        usual = RerankerSettings.model_fields["max_tokens"].default
        return self._name if self._max_tokens == usual else f"{self._name} tokens={self._max_tokens}"

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        return await self._batcher.compute([QueryTextPair(query, text) for text in texts], urgent=is_urgent())

    def close(self) -> None:
        """Stop the thread. Pairs that are still queued are not computed."""
        self._thread.shutdown(wait=False, cancel_futures=True)
