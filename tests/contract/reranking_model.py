"""Cross-encoders of the kinds that are used, as small as can be: XLM-RoBERTa and BERT with weights from a seed."""

from pathlib import Path
from typing import Any, Literal

from tests.contract.bge_models import create_small_tokenizer

Kind = Literal["xlm-roberta", "bert"]

LONGEST = 256
"""Tokens."""
_WORDS = "bees pollinate orchards in spring while compilers fuse the loops of tensor programs and reviewers read ideas"


def create_small_model(folder: Path, outputs: int = 1, kind: Kind = "xlm-roberta") -> Path:
    """Written to the folder as a downloaded one would lie there."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    tokenizer = create_small_tokenizer(folder, (_WORDS, _WORDS.title()), LONGEST)
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
