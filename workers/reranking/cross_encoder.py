"""A cross-encoder, one forward pass at a time. Importing this module does not import torch."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from assayer.errors import ConfigurationError
from workers._inference import chosen_device, chosen_dtype, first_line, libraries
from workers._passes import Passes, Ready, padded, read
from workers.reranking.settings import RerankerSettings

__all__ = ["CrossEncoder", "Pair"]

_WIDTH_STEP = 64
"""Tokens."""
_CPU_TOKENS, _GPU_TOKENS = 1_024, 16_384
"""Of one forward pass."""


class Pair(NamedTuple):
    query: str
    text: str


class CrossEncoder:
    """A `workers.microbatching.Model`. Loads at first use. Not thread-safe: the owner calls it from one thread."""

    def __init__(self, model: str, settings: RerankerSettings) -> None:
        self._name = model
        self._settings = settings
        self._model: Any = None
        self._tokenizer: Any = None
        self._passes = Passes(_WIDTH_STEP, 0, 0)

    def ready(self, pairs: Sequence[Pair]) -> Sequence[Ready]:
        """Raises ConfigurationError without the model."""
        self._load()
        queries, texts = zip(*pairs, strict=True)
        most = self._passes.widest
        return read(self._tokenizer(list(queries), list(texts), truncation="longest_first", max_length=most))

    def shape(self, one: Ready) -> int:
        return self._passes.width(one)

    def rows(self, shape: int) -> int:
        return self._passes.rows(shape)

    def compute(self, shape: int, some: Sequence[Ready]) -> Sequence[float]:
        """0 to 1: the logistic function of the model's one output."""
        import torch

        features = padded(some, self.rows(shape), shape, self._tokenizer.pad_token_id or 0)
        with torch.inference_mode():
            told = {key: torch.from_numpy(values).to(self._model.device) for key, values in features.items()}
            logits = self._model(**told).logits[: len(some), 0].cpu().numpy()
        scores: list[float] = expit(logits.astype(np.float64)).tolist()  # torch's depends on a number's place
        return scores

    def _load(self) -> None:
        if self._model is not None:
            return
        torch, transformers = libraries("Reranking", threads=self._settings.threads)
        device = chosen_device(self._settings.device, torch)
        dtype = chosen_dtype(self._settings.precision, device, torch)
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
        self._passes = Passes(_WIDTH_STEP, widest, _GPU_TOKENS if device == "cuda" else _CPU_TOKENS)
        self._tokenizer = tokenizer
        self._model = _exact_at_the_end(model.to(device).eval())


def _exact_at_the_end(model: Any) -> Any:
    """What follows the encoder computes in float32, whatever the encoder does: in bfloat16 a logit between 4 and 8 has
    steps of 1/32, and different texts would get the same score."""
    encoder = model.base_model
    for part in (getattr(encoder, "pooler", None), *model.children()):
        if part is not None and part is not encoder:
            part.float().register_forward_pre_hook(lambda _, given: tuple(one.float() for one in given))
    return model
