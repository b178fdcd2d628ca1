"""A language model of two layers and its tokenizer, made on the spot with random weights: nothing is downloaded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assayer.models.learning_curve import LearningPoint

_SPECIAL = ("<pad>", "<eos>", "<unk>")


class TinyPolicy(NamedTuple):
    model: Any
    tokenizer: Any

    def save(self, folder: Path) -> Path:
        """Save as a model folder, which a configuration can name."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        return folder


def make_tiny_policy(words: tuple[str, ...], seed: int, *, width: int = 32, positions: int = 128) -> TinyPolicy:
    """Return a policy with one token per word; the same seed gives the same weights."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate((*_SPECIAL, *words))}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token=_SPECIAL[2]))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = dict(zip(("pad_token", "eos_token", "unk_token"), _SPECIAL, strict=True))
    fast: Any = PreTrainedTokenizerFast
    tokenizer = fast(tokenizer_object=raw, padding_side="left", **special)
    return TinyPolicy(make_random_llama(len(vocabulary), seed, width=width, positions=positions), tokenizer)


def make_random_llama(vocabulary: int, seed: int, *, width: int = 32, positions: int = 128) -> Any:
    """Return a model of two layers; token 0 is padding, token 1 ends a text."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=positions,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=1,
    )
    return LlamaForCausalLM(config)


def compute_mean_reward(points: Sequence[LearningPoint]) -> float:
    """Return the mean reward of the points that have one."""
    rewards = [point.reward for point in points if point.reward is not None]
    return sum(rewards) / len(rewards)
