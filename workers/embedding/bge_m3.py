"""bge-m3 and models fine-tuned from it: vectors and lexical weights from one forward pass.

Importing this module does not import torch.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError
from assayer.ports import LexicalWeights
from workers.batching.padded_batches import BatchShapes, PaddedModel, TokenizedText, pad_batch, split_tokenized_texts
from workers.embedding.sentence_model import EmbeddingInput, EmbeddingVector
from workers.embedding.settings import EmbedderSettings
from workers.flag_embedding import find_model_folder, import_flag_embedding, load_model
from workers.torch_runtime import choose_device, choose_dtype

_MODEL_SETTING = "ASSAYER_EMBEDDER__MODEL"
_HEAD_FILES = ("sparse_linear.pt", "colbert_linear.pt")
_WIDTH_STEP = 32
"""Padded widths are multiples of this number of tokens."""
_CPU_TOKENS, _GPU_TOKENS = 256, 16_384
"""Maximum number of tokens in one forward pass, on CPU and GPU, for the reasons given in
`workers.embedding.sentence_model`."""
_POOLING_METHODS: Mapping[str, str] = MappingProxyType({"cls": "cls", "mean": "mean", "lasttoken": "last_token"})


class WeighedText(NamedTuple):
    vector: EmbeddingVector
    lexical_weights: LexicalWeights


class BgeM3Model(PaddedModel):
    """Model bge-m3 as a `workers.batching.micro_batcher.BatchModel`. It is loaded at first use, and must be called from
    only one thread."""

    def __init__(self, settings: EmbedderSettings) -> None:
        self._settings = settings
        self._profile = settings.profile
        self._model: Any = None
        self._tokenizer: Any = None
        self._device = "cpu"
        self._unweighed_tokens: NDArray[np.int32] = np.empty(0, np.int32)
        """Special tokens, which get no lexical weight."""
        self._batch_shapes = BatchShapes(_WIDTH_STEP, 0, 0)

    def read_stated_dimensions(self) -> int | None:
        """Return the dimensions stated in the model's folder; None if there is no folder."""
        config = Path(self._settings.model).expanduser() / "config.json"
        return int(json.loads(config.read_bytes())["hidden_size"]) if config.is_file() else None

    def get_dimensions(self) -> int:
        self.load()
        return int(self._model.config.hidden_size)

    def prepare(self, texts: Sequence[EmbeddingInput]) -> Sequence[TokenizedText]:
        """Tokenize the texts with their prefixes. Raises ConfigurationError if the model is not available."""
        self.load()
        prefixes = {"query": self._profile.query_prefix or "", "passage": self._profile.passage_prefix or ""}
        prefixed = [prefixes[text.kind] + text.text for text in texts]
        encoded = self._tokenizer(prefixed, truncation=True, max_length=self._batch_shapes.max_width)
        return split_tokenized_texts({key: encoded[key] for key in self._tokenizer.model_input_names})

    def compute(self, shape: int, tokenized_texts: Sequence[TokenizedText]) -> Sequence[WeighedText]:
        import torch

        features = pad_batch(tokenized_texts, self._batch_shapes.count_rows(shape), shape, self._tokenizer.pad_token_id)
        with torch.inference_mode():
            tensors = {key: torch.from_numpy(values).to(self._device) for key, values in features.items()}
            output = self._model(tensors, return_dense=True, return_sparse=True)
            rows = output["dense_vecs"].float().cpu().numpy()[: len(tokenized_texts)]
            weights = output["sparse_vecs"].squeeze(-1).float().cpu().numpy()[: len(tokenized_texts)]
        vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return [
            WeighedText(
                vector.copy(),
                self._compute_lexical_weights(
                    tokenized_text.inputs["input_ids"], text_weights[: tokenized_text.length]
                ),
            )
            for vector, text_weights, tokenized_text in zip(vectors, weights, tokenized_texts, strict=True)
        ]

    def _compute_lexical_weights(self, tokens: NDArray[np.int32], weights: NDArray[np.float32]) -> LexicalWeights:
        """Return each distinct token's weight; if the token occurs several times, the largest."""
        counts = (weights > 0) & ~np.isin(tokens, self._unweighed_tokens)
        distinct, positions = np.unique(tokens[counts], return_inverse=True)
        largest = np.zeros(len(distinct), np.float32)
        np.maximum.at(largest, positions, weights[counts])
        return LexicalWeights(distinct.astype(np.int32), largest)

    def load(self) -> None:
        if self._model is not None:
            return
        settings = self._settings
        torch, library = import_flag_embedding("Embedding with bge-m3", settings.threads)
        folder = find_folder_with_heads(settings.model)
        device = choose_device(settings.device, torch)
        dtype = choose_dtype(settings.precision, device, torch)

        def create_model() -> Any:
            return library.BGEM3FlagModel(
                str(folder),
                devices=[device],  # with several devices, it would start processes
                use_fp16=dtype is torch.float16,
                use_bf16=dtype is torch.bfloat16,
                pooling_method=_POOLING_METHODS[self._profile.pooling or "cls"],
            )

        wrapper = load_model(settings.model, _MODEL_SETTING, create_model)
        tokenizer, model = wrapper.tokenizer, wrapper.model
        wrapper.model = None  # otherwise, its destructor would move the model to the CPU
        special_tokens = (
            tokenizer.cls_token_id,
            tokenizer.eos_token_id,
            tokenizer.pad_token_id,
            tokenizer.unk_token_id,
        )
        self._unweighed_tokens = np.array([item for item in special_tokens if item is not None], np.int32)
        max_positions = model.config.max_position_embeddings - 2  # position numbers begin after that of the padding
        limits = (self._profile.max_tokens, tokenizer.model_max_length, max_positions)
        max_pass_tokens = _GPU_TOKENS if device == "cuda" else _CPU_TOKENS
        self._batch_shapes = BatchShapes(_WIDTH_STEP, min(limit for limit in limits if limit), max_pass_tokens)
        self._device, self._tokenizer = device, tokenizer
        self._model = model.to(device).eval()


def find_folder_with_heads(name: str) -> Path:
    """Return the model's folder. Raises ConfigurationError if a head is missing, because FlagEmbedding would silently
    initialise it randomly."""
    folder = find_model_folder(name, _MODEL_SETTING)
    missing = [head for head in _HEAD_FILES if not (folder / head).is_file()]
    if missing:
        raise ConfigurationError(
            f"{name!r} is neither bge-m3 nor fine-tuned from it: {folder} lacks {' and '.join(missing)}.",
            "Choose bge-m3 or a model fine-tuned from it, or set ASSAYER_EMBEDDER__LIBRARY=sentence-transformers to "
            "use dense vectors without token weights.",
        )
    return folder
