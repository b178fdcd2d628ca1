"""Cross-encoders of the kinds that are used, as small as can be: XLM-RoBERTa and BERT with weights from a seed."""

from pathlib import Path
from typing import Any, Literal

__all__ = ["LONGEST", "Kind", "small_model"]

Kind = Literal["xlm-roberta", "bert"]

LONGEST = 256
"""Tokens."""
_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
_WORDS = "bees pollinate orchards in spring while compilers fuse the loops of tensor programs and reviewers read ideas"


def small_model(folder: Path, outputs: int = 1, kind: Kind = "xlm-roberta") -> Path:
    """Written to the folder as a downloaded one would lie there."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    tokenizer = _tokenizer()
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    settings: dict[str, Any] = {"num_labels": outputs, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    config = AutoConfig.for_model(
        kind,
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
    models: Any = AutoModelForSequenceClassification
    models.from_config(config).save_pretrained(folder)
    return folder


def _tokenizer() -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.pre_tokenizers import Metaspace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    words = [f"▁{word}" for word in (*_WORDS.split(), *_WORDS.title().split())]
    pieces = [*dict.fromkeys((*words, "▁", *sorted(set(_WORDS + _WORDS.upper() + "0123456789.?:"))))]
    model = Tokenizer(Unigram([*((item, 0.0) for item in _SPECIAL), *((piece, -5.0) for piece in pieces)], unk_id=3))
    model.pre_tokenizer = Metaspace()
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
