"""The estimate of tokens holds in any script."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.llm.token_estimate import estimated_tokens

COUNTED = [
    (one["kind"], one["text"], one["tokens"])
    for one in json.loads((Path(__file__).parent / "token_counts.json").read_text("utf-8"))
]
"""What it is, the text, and the most tokens that cl100k, o200k, Qwen's or DeepSeek's tokenizer made of it."""


@pytest.mark.parametrize(("text", "tokens"), [one[1:] for one in COUNTED], ids=[one[0] for one in COUNTED])
def test_estimate_is_not_below_the_counts_of_known_tokenizers(text: str, tokens: int) -> None:
    assert tokens <= estimated_tokens(text) <= 3.5 * tokens


def test_chinese_is_not_taken_for_english() -> None:
    assert estimated_tokens("论" * 1_800) >= 1_800


@given(st.lists(st.text()))
def test_texts_are_counted_together_and_never_beyond_what_their_bytes_can_hold(texts: list[str]) -> None:
    alone = sum(estimated_tokens(text) for text in texts)
    assert 1 <= estimated_tokens(*texts) <= max(1, alone)
    assert estimated_tokens(*texts) <= 1.25 * len("".join(texts).encode("utf-8", "surrogatepass")) + 1


def test_estimate_of_a_long_prompt_grows_with_its_length() -> None:
    once = estimated_tokens(json.dumps({"text": "论文 and a paper. " * 1_000}))
    assert estimated_tokens(json.dumps({"text": "论文 and a paper. " * 2_000})) == pytest.approx(2 * once, rel=0.01)
