"""A cross-encoder behind one synchronous call. Importing this module does not import torch.

As with embeddings, every forward pass has a fixed shape that depends on the width of its rows alone, so a pair gets the
same score, to the last bit, whoever asks beside it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from assayer.errors import ConfigurationError
from workers._inference import chosen_device, chosen_dtype, first_line, libraries
from workers.reranking.settings import RerankerSettings

__all__ = ["CrossEncoder", "Pair"]

_WIDTH_STEP = 64
"""Tokens; padded widths are its multiples."""
_CPU_TOKENS, _GPU_TOKENS = 1_024, 16_384
"""Of one forward pass, as near as whole groups of rows come to it."""
_ROWS = 8
"""In a group: with fewer, or with a broken one, a row's place in the pass changes the last bits of its score."""


class Pair(NamedTuple):
    query: str
    text: str


class CrossEncoder:
    """Loads at first use. Not thread-safe: the owner calls it from one thread."""

    def __init__(self, model: str, settings: RerankerSettings) -> None:
        self._name = model
        self._settings = settings
        self._model: Any = None
        self._tokenizer: Any = None
        self._widest = settings.max_tokens
        self._tokens = _CPU_TOKENS

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        """0 to 1: the logistic function of the model's one output. Raises ConfigurationError without the model."""
        self._load()
        import torch

        queries, texts = zip(*pairs, strict=True)
        encoded = self._tokenizer(list(queries), list(texts), truncation="longest_first", max_length=self._widest)
        scores: dict[int, float] = {}
        with torch.inference_mode():
            for width, rows, places in self._passes([len(ids) for ids in encoded["input_ids"]]):
                logits = self._model(**self._features(encoded, places, rows, width)).logits
                scores |= zip(places, logits[: len(places), 0].float().sigmoid().tolist(), strict=True)
        return [scores[place] for place in range(len(pairs))]

    def _passes(self, lengths: Sequence[int]) -> Iterator[tuple[int, int, list[int]]]:
        """Padded width, number of rows, and the places of the pairs that share a pass: pairs of like length do."""
        by_width: dict[int, list[int]] = defaultdict(list)
        for place, length in enumerate(lengths):
            by_width[min(-(-length // _WIDTH_STEP) * _WIDTH_STEP, self._widest)].append(place)
        for width, places in sorted(by_width.items()):
            rows = max(_ROWS, self._tokens // width // _ROWS * _ROWS)
            for start in range(0, len(places), rows):
                yield width, rows, places[start : start + rows]

    def _features(self, encoded: Any, places: Sequence[int], rows: int, width: int) -> dict[str, Any]:
        """Padded to `width` columns, and to the full number of rows by repeating the first one."""
        import torch

        padding = {"input_ids": self._tokenizer.pad_token_id or 0}
        filled = [*places, *[places[0]] * (rows - len(places))]
        features = {}
        for key in encoded:
            values = np.full((rows, width), padding.get(key, 0), np.int64)
            for row, place in enumerate(filled):
                values[row, : len(encoded[key][place])] = encoded[key][place]
            features[key] = torch.from_numpy(values).to(self._model.device)
        return features

    def _load(self) -> None:
        if self._model is not None:
            return
        torch, transformers = libraries("Reranking")
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
        self._widest = min(self._settings.max_tokens, tokenizer.model_max_length)
        self._tokens = _GPU_TOKENS if device == "cuda" else _CPU_TOKENS
        self._tokenizer = tokenizer
        self._model = model.to(device).eval()
