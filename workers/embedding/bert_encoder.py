"""Encoder for the packaged embedding model that needs only torch.

Importing sentence-transformers takes four times as long as importing torch, because it loads compilers, quantisers,
scikit-learn and pandas, which a small BERT does not need. This module performs the same operations in the same order,
so the vectors are identical to the last bit; `tests/contract/test_embedding.py` compares them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional


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

    def __call__(self, features: Mapping[str, Tensor]) -> dict[str, Tensor]:
        mask = features["attention_mask"]
        tokens = self._encode(features["input_ids"], features["token_type_ids"], mask)
        return {"sentence_embedding": functional.normalize(_mean(tokens, mask), p=2, dim=1)}

    def _encode(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        rows, width = ids.shape
        attended = None if bool(mask.all()) else mask.bool()[:, None, None, :].expand(rows, 1, width, width)
        words = functional.embedding(ids, self._weights["embeddings.word_embeddings.weight"])
        kind = functional.embedding(kinds, self._weights["embeddings.token_type_embeddings.weight"])
        places = self._weights["embeddings.position_embeddings.weight"][None, :width]
        hidden = self._norm("embeddings", words + kind + places)
        for number in range(self._layers):
            layer = f"encoder.layer.{number}"
            hidden = self._norm(f"{layer}.attention.output", self._attention(layer, hidden, attended) + hidden)
            wide = functional.gelu(self._linear(f"{layer}.intermediate.dense", hidden))
            hidden = self._norm(f"{layer}.output", self._linear(f"{layer}.output.dense", wide) + hidden)
        return hidden

    def _attention(self, layer: str, hidden: Tensor, attended: Tensor | None) -> Tensor:
        rows, width, size = hidden.shape
        query, key, value = (
            self._linear(f"{layer}.attention.self.{name}", hidden)
            .view(rows, width, self._heads, size // self._heads)
            .transpose(1, 2)
            for name in ("query", "key", "value")
        )
        found: Any = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=attended, scale=(size // self._heads) ** -0.5
        )
        found = found.transpose(1, 2).contiguous().reshape(rows, width, size).contiguous()
        return self._linear(f"{layer}.attention.output.dense", found)

    def _linear(self, name: str, inputs: Tensor) -> Tensor:
        return functional.linear(inputs, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _norm(self, name: str, inputs: Tensor) -> Tensor:
        weight, bias = self._weights[f"{name}.LayerNorm.weight"], self._weights[f"{name}.LayerNorm.bias"]
        return functional.layer_norm(inputs, (inputs.shape[-1],), weight, bias, self._epsilon)


def _mean(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over non-padding tokens, summed in float32 whatever the dtype of the tokens."""
    counted = mask.unsqueeze(-1).to(tokens.dtype)
    total = (tokens * counted).sum(dim=1, dtype=torch.float32)
    return (total / torch.clamp(counted.sum(dim=1, dtype=torch.float32), min=1e-9)).to(tokens.dtype)
