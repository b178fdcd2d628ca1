"""The share of prompt tokens with which an earlier call began."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.overnight.prefixes import prompt_of, shares

COMMON = "c" * 8_000


def test_each_call_is_compared_with_all_before_it_whatever_their_order() -> None:
    found = shares([COMMON + "first ideas", "another one", COMMON + "second idea", COMMON + "first thought"])
    assert found.calls == 4
    assert found.ever == pytest.approx((2_000 + 2_001) / found.tokens)
    assert found.in_steps == pytest.approx(2 * 1_920 / found.tokens)


def test_a_small_cache_keeps_more_where_calls_that_begin_alike_stand_together() -> None:
    prompts = [f"{'ab'[number % 2] * 4_000}{number}" for number in range(8)]
    found = shares(prompts, recent=1)
    assert found.recent_as_asked == 0
    assert found.recent_sorted == found.ever > 0.7


@given(st.lists(st.text("ab", min_size=4, max_size=40), min_size=1, max_size=12))
def test_in_a_files_order_the_call_before_is_all_that_need_be_kept(prompts: list[str]) -> None:
    assert shares(prompts, recent=1).recent_sorted == pytest.approx(shares(prompts, recent=12).recent_sorted)


def test_a_prompt_is_its_messages_in_their_order() -> None:
    body = {"model": "m", "messages": [{"role": "system", "content": "ü"}, {"role": "user", "content": "b"}]}
    assert prompt_of(body) == '{"role": "system", "content": "ü"}{"role": "user", "content": "b"}'
