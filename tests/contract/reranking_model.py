"""A cross-encoder of the kind that is used, as small as can be: XLM-RoBERTa with weights drawn from a seed."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from tokenizers.models import Unigram
from tokenizers.pre_tokenizers import Metaspace
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import UnigramTrainer
from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaForSequenceClassification

__all__ = ["LONGEST", "small_model"]

LONGEST = 256
"""Tokens."""
_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
_WORDS = "bees pollinate orchards in spring while compilers fuse the loops of tensor programs and reviewers read ideas"


def small_model(folder: Path, outputs: int = 1) -> Path:
    """Written to the folder as a downloaded one would lie there."""
    tokenizer = _tokenizer()
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    settings: dict[str, Any] = {"num_labels": outputs, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    config = XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=LONGEST + 2,
        type_vocab_size=1,
        initializer_range=0.3,
        **settings,
    )
    XLMRobertaForSequenceClassification(config).save_pretrained(folder)
    return folder


def _tokenizer() -> Any:
    model = Tokenizer(Unigram())
    model.pre_tokenizer = Metaspace()
    trainer = UnigramTrainer(vocab_size=400, special_tokens=_SPECIAL, unk_token="<unk>", show_progress=False)  # noqa: S106
    model.train_from_iterator([_WORDS, _WORDS.title(), "0123456789"] * 20, trainer)
    model.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    fast: Any = PreTrainedTokenizerFast
    return fast(
        tokenizer_object=model,
        model_max_length=LONGEST,
        bos_token="<s>",  # noqa: S106
        eos_token="</s>",  # noqa: S106
        cls_token="<s>",  # noqa: S106
        sep_token="</s>",  # noqa: S106
        pad_token="<pad>",  # noqa: S106
        unk_token="<unk>",  # noqa: S106
        model_input_names=["input_ids", "attention_mask"],
    )
