"""Score pairs of a query and a text with a cross-encoder, which reads both together and has a single output.

Importing this module does not import torch."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from assayer.errors import ConfigurationError
from workers.batching.padded_batches import BatchShapes, PaddedModel, TokenizedText, pad_batch, split_tokenized_texts
from workers.reranking.settings import RerankerSettings
from workers.torch_runtime import choose_device, choose_dtype, get_first_line, import_torch

_WIDTH_STEP = 64
"""Padded widths are multiples of this number of tokens."""
_CPU_TOKENS, _GPU_TOKENS = 1_024, 16_384
"""Maximum number of tokens in one forward pass, on CPU and on GPU."""


class QueryTextPair(NamedTuple):
    query: str
    text: str


def choose_pair_shapes(device: str, max_width: int) -> BatchShapes:
    return BatchShapes(_WIDTH_STEP, max_width, _GPU_TOKENS if device == "cuda" else _CPU_TOKENS)


class CrossEncoder(PaddedModel):
    """Cross-encoder as a `workers.batching.micro_batcher.BatchModel`. It is loaded at first use, and must be called
    from one thread only."""

    def __init__(self, model: str, settings: RerankerSettings) -> None:
        self._name = model
        self._settings = settings
        self._model: Any = None
        self._tokenizer: Any = None
        self._batch_shapes = choose_pair_shapes("cpu", 0)

    def prepare(self, pairs: Sequence[QueryTextPair]) -> Sequence[TokenizedText]:
        """Tokenize the pairs. Raises ConfigurationError if the model is not available."""
        self._load()
        queries, texts = zip(*pairs, strict=True)
        max_width = self._batch_shapes.max_width
        return split_tokenized_texts(
            self._tokenizer(list(queries), list(texts), truncation="longest_first", max_length=max_width)
        )

    def compute(self, shape: int, tokenized_texts: Sequence[TokenizedText]) -> Sequence[float]:
        """Return scores from 0 to 1: the logistic function of the model's single output."""
        import torch

        features = pad_batch(
            tokenized_texts, self._batch_shapes.count_rows(shape), shape, self._tokenizer.pad_token_id or 0
        )
        with torch.inference_mode():
            tensors = {key: torch.from_numpy(values).to(self._model.device) for key, values in features.items()}
            logits = self._model(**tensors).logits[: len(tokenized_texts), 0].cpu().numpy()
        scores: list[float] = expit(logits.astype(np.float64)).tolist()  # torch's result depends on position
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
                f"The reranking model {self._name!r} could not be loaded: {get_first_line(error)}",
                "Check its name. If HF_HUB_OFFLINE is set, it must already be downloaded.",
            ) from error
        if model.config.num_labels != 1:
            raise ConfigurationError(
                f"{self._name!r} is not a reranking model: it has {model.config.num_labels} outputs instead of one.",
                "Choose a cross-encoder such as BAAI/bge-reranker-v2-m3, or unset ASSAYER_RERANKER__MODEL.",
            )
        max_width = min(self._settings.max_tokens, tokenizer.model_max_length)
        self._batch_shapes = choose_pair_shapes(device, max_width)
        self._tokenizer = tokenizer
        self._model = _compute_head_in_float32(model.to(device).eval())


def _compute_head_in_float32(model: Any) -> Any:
    """Make the layers after the encoder compute in float32, whatever precision the encoder uses. In bfloat16, logits
    between 4 and 8 are multiples of 1/32, so different texts would get the same score."""
    encoder = model.base_model
    for part in (getattr(encoder, "pooler", None), *model.children()):
        if part is not None and part is not encoder:
            part.float().register_forward_pre_hook(lambda _, inputs: tuple(item.float() for item in inputs))
    return model
