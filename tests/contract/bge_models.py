"""Models of BAAI's kinds, as small as can be: random weights from a seed, a tokenizer of the words of a few sentences.

They show shapes, equality with FlagEmbedding and determinism. What real ones are worth they do not show.
"""

import string
from collections.abc import Iterable
from pathlib import Path
from typing import Any

LONGEST = 512
"""Tokens."""
SENTENCES = (
    "Bees pollinate orchards in spring.",
    "Orchards are pollinated by bees and other insects.",
    "A compiler pass fuses the loops of a tensor program.",
    "Graph neural networks predict the properties of molecules.",
    "Reviewers read ideas and say whether they are sound.",
    "Ein Satz mit Umlauten: Bäume, Flüsse, 漢字.",
    "Given a query A and a passage B, determine whether the passage contains an answer: 'Yes' or 'No'.",
)
_WIDTH = 64
SHAPE: dict[str, Any] = {
    "hidden_size": _WIDTH,
    "num_attention_heads": 4,
    "intermediate_size": 2 * _WIDTH,
    "pad_token_id": 1,
    "initializer_range": 0.3,
}


def create_small_bge_m3(folder: Path, with_heads: bool = True) -> Path:
    """Create a small model in a folder, laid out like a downloaded model."""
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaModel

    tokenizer = create_small_tokenizer(folder, (*SENTENCES, "Yes No", "and on"), LONGEST)
    torch.manual_seed(3)
    config = XLMRobertaConfig(
        vocab_size=len(tokenizer),
        num_hidden_layers=2,
        max_position_embeddings=LONGEST + 2,
        type_vocab_size=1,
        bos_token_id=0,
        eos_token_id=2,
        **SHAPE,
    )
    model: Any = XLMRobertaModel(config)
    model.save_pretrained(folder)
    if with_heads:
        torch.save(torch.nn.Linear(_WIDTH, _WIDTH).state_dict(), folder / "colbert_linear.pt")
        torch.save(torch.nn.Linear(_WIDTH, 1).state_dict(), folder / "sparse_linear.pt")
    return folder


def create_small_llm_reranker(folder: Path) -> Path:
    import torch
    from transformers import GemmaConfig, GemmaForCausalLM

    tokenizer = create_small_tokenizer(folder, (*SENTENCES, "Yes No", "and on"), LONGEST)
    torch.manual_seed(4)
    config = GemmaConfig(
        vocab_size=len(tokenizer),
        num_hidden_layers=2,
        num_key_value_heads=1,
        head_dim=16,
        bos_token_id=0,
        eos_token_id=2,
        **SHAPE,
    )
    model: Any = GemmaForCausalLM(config)
    model.save_pretrained(folder)
    return folder


def create_small_tokenizer(folder: Path, texts: Iterable[str], max_length: int) -> Any:
    """Write a tokenizer to a folder and return it.

    Its words are those of the texts, and every character: training is never done twice alike."""
    from tokenizers import Tokenizer
    from tokenizers.decoders import Metaspace as MetaspaceDecoder
    from tokenizers.models import Unigram
    from tokenizers.normalizers import NFKC
    from tokenizers.pre_tokenizers import Metaspace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    words = sorted({f"\u2581{word}" for text in texts for word in text.split()})
    characters = sorted({*"".join(words), *string.ascii_letters, *string.digits})
    token_scores = [(special, 0.0), (words, -8.0), (characters, -9.0)]
    vocabulary = [(token, score) for tokens, score in token_scores for token in tokens]
    new_tokenizer = Tokenizer(Unigram(vocabulary, special.index("<unk>")))
    new_tokenizer.normalizer, new_tokenizer.pre_tokenizer, new_tokenizer.decoder = (
        NFKC(),
        Metaspace(),
        MetaspaceDecoder(),
    )
    new_tokenizer.add_special_tokens(special)
    new_tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    fast: Any = PreTrainedTokenizerFast
    tokenizer = fast(
        tokenizer_object=new_tokenizer,
        model_max_length=max_length,
        bos_token="<s>",  # noqa: S106
        eos_token="</s>",  # noqa: S106
        cls_token="<s>",  # noqa: S106
        sep_token="</s>",  # noqa: S106
        pad_token="<pad>",  # noqa: S106
        unk_token="<unk>",  # noqa: S106
        mask_token="<mask>",  # noqa: S106
        model_input_names=["input_ids", "attention_mask"],
    )
    tokenizer.save_pretrained(folder)
    return tokenizer
