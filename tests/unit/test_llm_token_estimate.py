"""The estimate of tokens holds in any script."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.llm.chat_completion import estimate_tokens

COUNTED_TEXTS = [
    (load["kind"], load["text"], load["tokens"])
    for load in json.loads((Path(__file__).parent / "token_counts.json").read_text("utf-8"))
]
"""Kind, text, and the highest token count by the tokenizers cl100k, o200k, Qwen's and DeepSeek's."""


@pytest.mark.parametrize(
    ("text", "tokens"), [item[1:] for item in COUNTED_TEXTS], ids=[item[0] for item in COUNTED_TEXTS]
)
def test_estimate_is_at_least_the_count_of_known_tokenizers(text: str, tokens: int) -> None:
    assert tokens <= estimate_tokens(text) <= 3.5 * tokens


def test_chinese_text_is_not_estimated_as_english() -> None:
    assert estimate_tokens("论" * 1_800) >= 1_800


@given(st.lists(st.text()))
def test_combined_estimate_is_bounded_by_parts_and_bytes(texts: list[str]) -> None:
    sum_of_parts = sum(estimate_tokens(text) for text in texts)
    assert 1 <= estimate_tokens(*texts) <= max(1, sum_of_parts)
    assert estimate_tokens(*texts) <= 1.25 * len("".join(texts).encode("utf-8", "surrogatepass")) + 1


def test_estimate_of_a_long_prompt_grows_with_its_length() -> None:
    single_estimate = estimate_tokens(json.dumps({"text": "论文 and a paper. " * 1_000}))
    assert estimate_tokens(json.dumps({"text": "论文 and a paper. " * 2_000})) == pytest.approx(
        2 * single_estimate, rel=0.01
    )
