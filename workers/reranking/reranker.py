"""Reranks with a cross-encoder on this machine, one for all evaluations: implements `assayer.ports.Reranker`.

Importing this module does not import torch.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from assayer.errors import ConfigurationError
from assayer.run.context_variables import is_urgent
from workers.batching.micro_batcher import MicroBatcher
from workers.batching.padded_batches import BatchShapes, TokenizedText, pad_batch, tokenized_texts
from workers.reranking.settings import RerankerSettings
from workers.torch_runtime import choose_device, choose_dtype, first_line, import_torch

__all__ = ["CrossEncoder", "CrossEncoderReranker", "QueryTextPair"]


_WIDTH_STEP = 64
"""Tokens."""
_CPU_TOKENS, _GPU_TOKENS = 1_024, 16_384
"""Of one forward pass."""


class QueryTextPair(NamedTuple):
    query: str
    text: str


class CrossEncoder:
    """A `workers.batching.micro_batcher.BatchModel`. Loads at first use. Not thread-safe: called from one thread."""

    def __init__(self, model: str, settings: RerankerSettings) -> None:
        self._name = model
        self._settings = settings
        self._model: Any = None
        self._tokenizer: Any = None
        self._passes = BatchShapes(_WIDTH_STEP, 0, 0)

    def prepare(self, pairs: Sequence[QueryTextPair]) -> Sequence[TokenizedText]:
        """Raises ConfigurationError without the model."""
        self._load()
        queries, texts = zip(*pairs, strict=True)
        most = self._passes.widest
        return tokenized_texts(self._tokenizer(list(queries), list(texts), truncation="longest_first", max_length=most))

    def shape(self, one: TokenizedText) -> int:
        return self._passes.width(one)

    def rows(self, shape: int) -> int:
        return self._passes.rows(shape)

    def compute(self, shape: int, some: Sequence[TokenizedText]) -> Sequence[float]:
        """0 to 1: the logistic function of the model's one output."""
        import torch

        features = pad_batch(some, self.rows(shape), shape, self._tokenizer.pad_token_id or 0)
        with torch.inference_mode():
            tensors = {key: torch.from_numpy(values).to(self._model.device) for key, values in features.items()}
            logits = self._model(**tensors).logits[: len(some), 0].cpu().numpy()
        scores: list[float] = expit(logits.astype(np.float64)).tolist()  # torch's depends on a number's place
        return scores

    def _load(self) -> None:
        if self._model is not None:
            return
        torch, transformers = import_torch("Reranking", "transformers", threads=self._settings.threads)
        device = choose_device(self._settings.device, torch)
        dtype = choose_dtype(self._settings.precision, device, torch)
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(self._name)
            model = transformers.AutoModelForSequenceClassification.from_pretrained(self._name, dtype=dtype)
        except (OSError, ValueError, RuntimeError) as error:
            raise ConfigurationError(
                f"The reranking model {self._name!r} could not be loaded: {first_line(error)}",
                "Check its name, and that it has been downloaded where HF_HUB_OFFLINE is set.",
            ) from error
        if model.config.num_labels != 1:
            raise ConfigurationError(
                f"{self._name!r} is no reranking model: it has {model.config.num_labels} outputs, and one is needed.",
                "Name a cross-encoder such as BAAI/bge-reranker-v2-m3, or leave ASSAYER_RERANKER__MODEL out.",
            )
        widest = min(self._settings.max_tokens, tokenizer.model_max_length)
        self._passes = BatchShapes(_WIDTH_STEP, widest, _GPU_TOKENS if device == "cuda" else _CPU_TOKENS)
        self._tokenizer = tokenizer
        self._model = _with_head_in_float32(model.to(device).eval())


def _with_head_in_float32(model: Any) -> Any:
    """What follows the encoder computes in float32, whatever the encoder does: in bfloat16 a logit between 4 and 8 has
    steps of 1/32, and different texts would get the same score."""
    encoder = model.base_model
    for part in (getattr(encoder, "pooler", None), *model.children()):
        if part is not None and part is not encoder:
            part.float().register_forward_pre_hook(lambda _, given: tuple(one.float() for one in given))
    return model


_WINDOW_SECONDS = 0.003


class CrossEncoderReranker:
    """Concurrent callers share forward passes, which run in one thread. Whoever is waited for passes the others.

    The model loads at first use. Raises ConfigurationError when it is not there; where a folder is named, at once.
    """

    def __init__(self, settings: RerankerSettings) -> None:
        if settings.model is None:
            raise ConfigurationError("No reranking model is configured.", "Set ASSAYER_RERANKER__MODEL.")
        if settings.model.startswith(("/", ".", "~")) and not Path(settings.model).is_dir():
            raise ConfigurationError(
                f"There is no folder {settings.model} with a reranking model.",
                "Correct ASSAYER_RERANKER__MODEL, or name a model such as BAAI/bge-reranker-v2-m3.",
            )
        self._name = settings.model
        self._max_tokens = settings.max_tokens
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reranker")
        self._batcher = MicroBatcher[QueryTextPair, TokenizedText, float](
            CrossEncoder(settings.model, settings), self._thread, _WINDOW_SECONDS
        )

    @property
    def name(self) -> str:
        """Model, and how much of a pair it reads where that is not the usual. The precision is left out, as it is of
        the embedder's name."""
        usual = RerankerSettings.model_fields["max_tokens"].default
        return self._name if self._max_tokens == usual else f"{self._name} tokens={self._max_tokens}"

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        return await self._batcher.compute([QueryTextPair(query, text) for text in texts], urgent=is_urgent())

    def close(self) -> None:
        """Ends the thread; pairs still waiting are not computed."""
        self._thread.shutdown(wait=False, cancel_futures=True)
