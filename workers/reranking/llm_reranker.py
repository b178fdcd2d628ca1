"""Score pairs of a query and a text with a language model, using its logit for the answer "Yes" to the question whether
the passage answers the query.

Supports bge-reranker-v2-gemma and similar models, loaded with FlagEmbedding. Importing this module does not import
torch."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from assayer.errors import ConfigurationError
from workers.batching.padded_batches import PaddedModel, TokenizedText, pad_batch
from workers.flag_embedding import find_model_folder, import_flag_embedding, load_model
from workers.reranking.cross_encoder import QueryTextPair, choose_pair_shapes
from workers.reranking.settings import RerankerSettings
from workers.torch_runtime import choose_device, choose_dtype

_MODEL_SETTING = "ASSAYER_RERANKER__MODEL"
_ROUNDING_TOLERANCE = 0.05
"""Relative tolerance for rounding of a logit in half precision."""
_QUESTION = (
    "Given a query A and a passage B, determine whether the passage contains an answer to the query by providing a "
    "prediction of either 'Yes' or 'No'."
)
"""Question on which these models were trained; it must not be changed."""


class LlmRerankingModel(PaddedModel):
    """Language model reranker as a `workers.batching.micro_batcher.BatchModel`. It is loaded at first use, and must be
    called from only one thread."""

    def __init__(self, model: str, settings: RerankerSettings) -> None:
        self._name = model
        self._settings = settings
        self._model: Any = None
        self._tokenizer: Any = None
        self._device = "cpu"
        self._yes_token_id = 0
        """Id of the token whose logit is the score."""
        self._prefix_ids: list[int] = []
        self._separator_ids: list[int] = []
        """Tokens between the query, the text and the question."""
        self._question_ids: list[int] = []
        self._batch_shapes = choose_pair_shapes("cpu", 0)

    def prepare(self, pairs: Sequence[QueryTextPair]) -> Sequence[TokenizedText]:
        """Tokenize the pairs. Raises ConfigurationError if the model is not available."""
        self._load()
        max_tokens = self._settings.max_tokens
        queries = self._tokenize([f"A: {pair.query}" for pair in pairs], max_tokens * 3 // 4)
        texts = self._tokenize([f"B: {pair.text}" for pair in pairs], max_tokens)
        return [self._build_prompt(*item) for item in zip(queries, texts, strict=True)]

    def compute(self, shape: int, tokenized_texts: Sequence[TokenizedText]) -> Sequence[float]:
        """Return scores from 0 to 1: the logistic function of the logit."""
        import torch

        row_count = self._batch_shapes.count_rows(shape)
        features = pad_batch(tokenized_texts, row_count, shape, self._tokenizer.pad_token_id or 0)
        last_positions = [item.length - 1 for item in tokenized_texts]
        last_positions += last_positions[:1] * (
            row_count - len(tokenized_texts)
        )  # for all rows, because a smaller product would differ in its last bits
        with torch.inference_mode():
            tensors = {key: torch.from_numpy(values).to(self._device) for key, values in features.items()}
            hidden = self._model.base_model(**tensors).last_hidden_state
            last_states = hidden[
                torch.arange(row_count, device=hidden.device), torch.tensor(last_positions, device=hidden.device)
            ]
            logits = self._compute_yes_logits(self._model, last_states).cpu().numpy()[: len(tokenized_texts)]
        scores: list[float] = expit(logits.astype(np.float64)).tolist()
        return scores

    def _tokenize(self, texts: Sequence[str], limit: int) -> list[list[int]]:
        encoded = self._tokenizer(list(texts), add_special_tokens=False, truncation=True, max_length=limit)
        tokens: list[list[int]] = encoded["input_ids"]
        return tokens

    def _build_prompt(self, query: Sequence[int], text: Sequence[int]) -> TokenizedText:
        """Build the prompt. If it is too long, only the text is truncated, never the query or the question."""
        query_part, text_part = [*self._prefix_ids, *query], [*self._separator_ids, *text]
        excess = len(query_part) + len(text_part) - (self._settings.max_tokens + len(self._question_ids))
        if 0 < excess < len(text_part):
            text_part = text_part[:-excess]
        tokens = np.array([*query_part, *text_part, *self._question_ids], np.int32)
        return TokenizedText({"input_ids": tokens, "attention_mask": np.ones(len(tokens), np.int32)})

    def _load(self) -> None:
        if self._model is not None:
            return
        settings = self._settings
        torch, library = import_flag_embedding("Reranking with a language model", settings.threads)
        folder = find_language_model_folder(self._name)
        device = choose_device(settings.device, torch)
        dtype = choose_dtype(settings.precision, device, torch)
        library_reranker = load_model(
            self._name,
            _MODEL_SETTING,
            lambda: library.FlagLLMReranker(str(folder), devices=[device], use_bf16=dtype is torch.bfloat16),
        )
        model, tokenizer = library_reranker.model, library_reranker.tokenizer
        library_reranker.model = None  # otherwise its destructor would move the model to the CPU
        self._tokenizer, self._device, self._yes_token_id = tokenizer, device, int(library_reranker.yes_loc)
        bos_id = tokenizer.bos_token_id
        self._prefix_ids = [] if bos_id in (None, tokenizer.pad_token_id) else [bos_id]
        self._separator_ids = self._tokenize(["\n"], 8)[0]
        self._question_ids = [*self._separator_ids, *self._tokenize([_QUESTION], 512)[0]]
        widest = settings.max_tokens + 2 * len(self._question_ids)
        self._batch_shapes = choose_pair_shapes(device, widest)
        model = model.to(device=device, dtype=dtype).eval()
        self._refuse_other_logits(model, torch)
        self._model = model

    def _compute_yes_logits(self, model: Any, last_states: Any) -> Any:
        """Compute the logit of the token "Yes" at the last position. The library would compute the logits of all
        256,000 tokens at all positions: 33 GB for 128 pairs."""
        return (last_states.float() * model.get_output_embeddings().weight[self._yes_token_id].float()).sum(dim=1)

    def _refuse_other_logits(self, model: Any, torch: Any) -> None:
        """Raise ConfigurationError if the model changes its logits after the last layer, so that `_compute_yes_logits`
        differs from its own result."""
        tokens = torch.tensor([self._question_ids], device=self._device)
        with torch.inference_mode():
            library_logit = model(input_ids=tokens).logits[0, -1, self._yes_token_id].float().item()
            own_logit = self._compute_yes_logits(
                model, model.base_model(input_ids=tokens).last_hidden_state[:, -1]
            ).item()
        if abs(library_logit - own_logit) > _ROUNDING_TOLERANCE * max(1.0, abs(library_logit)):
            raise ConfigurationError(
                f"{self._name!r} changes its logits after the last layer, which is not supported.",
                "Choose a model such as BAAI/bge-reranker-v2-gemma.",
            )


def find_language_model_folder(name: str) -> Path:
    """Return the model's folder. Raises ConfigurationError if the model is not a language model, because FlagEmbedding
    would give a cross-encoder a randomly initialised output layer."""
    folder = find_model_folder(name, _MODEL_SETTING)
    config = folder / "config.json"
    config_fields = json.loads(config.read_bytes()) if config.is_file() else {}
    if "auto_map" in config_fields:
        raise ConfigurationError(
            f"{name!r} contains its own code, as layer-wise rerankers do; such code is not run.",
            "Choose a model such as BAAI/bge-reranker-v2-gemma.",
        )
    architectures = config_fields.get("architectures") or []
    if not any(architecture.endswith("ForCausalLM") for architecture in architectures):
        raise ConfigurationError(
            f"{name!r} is not a language model: {folder} contains {', '.join(architectures) or 'no model'}.",
            "Choose a model such as BAAI/bge-reranker-v2-gemma, or set "
            "ASSAYER_RERANKER__LIBRARY=sentence-transformers for a cross-encoder.",
        )
    return folder
