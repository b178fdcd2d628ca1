"""Encoder for the packaged embedding model, which needs only torch.

Importing sentence-transformers takes four times as long as importing torch, because it loads compilers, quantisers,
scikit-learn and pandas, which a small BERT does not need. This module performs the same operations in the same order,
so the vectors are equal up to rounding. They are also identical to the last bit whichever texts share the pass (in
float32, measured with at most 4 threads). `tests/contract/test_embedding.py` compares them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from workers.batching.padded_batches import TokenizedText

_ROW_MULTIPLE = 32
"""The number of rows in every matrix is a multiple of this, because kernels may treat remaining rows differently."""


class BertTokenizer:
    """Tokenizer with the part of the transformers interface that `SentenceModel` uses."""

    model_input_names = ("input_ids", "token_type_ids", "attention_mask")

    def __init__(self, folder: Path) -> None:
        config = json.loads((folder / "tokenizer_config.json").read_bytes())
        self.model_max_length = int(config["model_max_length"])
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self.pad_token_id = self._tokenizer.token_to_id(config["pad_token"])

    def __call__(self, texts: Sequence[str], *, truncation: bool, max_length: int) -> dict[str, list[list[int]]]:
        if truncation:
            self._tokenizer.enable_truncation(max_length)
        else:
            self._tokenizer.no_truncation()
        encoded = self._tokenizer.encode_batch(list(texts))
        return {
            "input_ids": [item.ids for item in encoded],
            "token_type_ids": [item.type_ids for item in encoded],
            "attention_mask": [item.attention_mask for item in encoded],
        }


class BertEncoder:
    """Encoder that returns the mean of the last layer's token vectors, normalised to unit length. Runs only on the
    CPU."""

    prompts: Mapping[str, str | None] = MappingProxyType({})

    def __init__(self, folder: Path, dtype: torch.dtype) -> None:
        config = json.loads((folder / "config.json").read_bytes())
        self.tokenizer = BertTokenizer(folder)
        self.max_seq_length = int(json.loads((folder / "sentence_bert_config.json").read_bytes())["max_seq_length"])
        self.device = torch.device("cpu")
        self._layers = int(config["num_hidden_layers"])
        self._heads = int(config["num_attention_heads"])
        self._epsilon = float(config["layer_norm_eps"])
        weights = load_file(folder / "model.safetensors")
        self._weights = {
            name: value.to(dtype) if value.is_floating_point() else value for name, value in weights.items()
        }

    def encode(self, texts: Sequence[TokenizedText]) -> Tensor:
        """Return one row per text. All texts' tokens are concatenated in one matrix, padded to a multiple of
        `_ROW_MULTIPLE` rows, so that no text is padded. Only attention treats the texts one by one."""
        lengths = [text.length for text in texts]
        filler_rows = -sum(lengths) % _ROW_MULTIPLE
        ids, kinds = (
            _concatenate([text.inputs[name] for text in texts], filler_rows) for name in ("input_ids", "token_type_ids")
        )
        positions = _concatenate([np.arange(length) for length in lengths], filler_rows)
        tokens = self._encode(ids, kinds, positions, [*lengths, filler_rows])
        means = [
            text_tokens.sum(dim=0, dtype=torch.float32) / len(text_tokens)
            for text_tokens in tokens.split([*lengths, filler_rows])[:-1]
        ]
        return functional.normalize(torch.stack(means).to(tokens.dtype), p=2, dim=1)

    def _encode(self, ids: Tensor, kinds: Tensor, positions: Tensor, lengths: Sequence[int]) -> Tensor:
        word_embeddings = functional.embedding(ids, self._weights["embeddings.word_embeddings.weight"])
        kind_embeddings = functional.embedding(kinds, self._weights["embeddings.token_type_embeddings.weight"])
        position_embeddings = functional.embedding(positions, self._weights["embeddings.position_embeddings.weight"])
        hidden = self._apply_norm("embeddings", word_embeddings + kind_embeddings + position_embeddings)
        for number in range(self._layers):
            layer = f"encoder.layer.{number}"
            hidden = self._apply_norm(
                f"{layer}.attention.output", self._apply_attention(layer, hidden, lengths) + hidden
            )
            expanded = functional.gelu(self._apply_linear(f"{layer}.intermediate.dense", hidden))
            # oneDNN and MKL may split these long sums differently for each number of rows, so the number is fixed.
            reduced = torch.cat(
                [self._apply_linear(f"{layer}.output.dense", rows) for rows in expanded.split(_ROW_MULTIPLE)]
            )
            hidden = self._apply_norm(f"{layer}.output", reduced + hidden)
        return hidden

    def _apply_attention(self, layer: str, hidden: Tensor, lengths: Sequence[int]) -> Tensor:
        size = hidden.shape[-1] // self._heads
        query, key, value = (
            self._apply_linear(f"{layer}.attention.self.{name}", hidden).view(-1, self._heads, size).transpose(0, 1)
            for name in ("query", "key", "value")
        )
        attended = [
            functional.scaled_dot_product_attention(q[None], k[None], v[None], scale=size**-0.5)[0].transpose(0, 1)
            for q, k, v in zip(*(part.split(list(lengths), dim=1) for part in (query, key, value)), strict=True)
        ]
        return self._apply_linear(f"{layer}.attention.output.dense", torch.cat(attended).reshape(hidden.shape))

    def _apply_linear(self, name: str, inputs: Tensor) -> Tensor:
        return functional.linear(inputs, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _apply_norm(self, name: str, inputs: Tensor) -> Tensor:
        weight, bias = self._weights[f"{name}.LayerNorm.weight"], self._weights[f"{name}.LayerNorm.bias"]
        return functional.layer_norm(inputs, (inputs.shape[-1],), weight, bias, self._epsilon)


def _concatenate(parts: Sequence[NDArray[Any]], filler: int) -> Tensor:
    """Concatenate the parts, followed by `filler` zeros."""
    return torch.from_numpy(np.concatenate([*parts, np.zeros(filler, np.int64)], dtype=np.int64))
