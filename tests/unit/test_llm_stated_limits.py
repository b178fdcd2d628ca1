"""Waits and context windows in endpoints' messages."""

import pytest

from workers.llm.stated_limits import find_stated_wait, find_stated_window, is_over_rate_limit
from workers.outbound.durations import parse_duration


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Please try again in 7m12s. Need more?", 432.0),
        ("please try again in 1h2m3.5s", 3_723.5),
        ("Please retry in 38.217843437s.", 38.217843437),
        ("Try again in 500 ms", 0.5),
        ("try again in about 5 minutes", 300.0),
        ("Please wait 2 minutes and 5 seconds before retrying.", 125.0),
        ("Please retry your request in 12 seconds", 12.0),
        ("The limit will reset in 45 seconds", 45.0),
        ("retry after 2 hours", 7_200.0),
        ("retry_after: 7", 7.0),
        ("try again later", None),
        ("You will regain access on 2099-01-01", None),
        ("retry after 2099-01-01", None),
        ("The limit is 30 requests in 10 seconds", None),
    ],
)
def test_wait_is_read_from_a_message(message: str, seconds: float | None) -> None:
    assert find_stated_wait(message) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("12", 12.0), (" 1.5s ", 1.5), ("3 milliseconds", 0.003), ("2d", 172_800.0), ("soon", None), ("", None)],
)
def test_duration_is_read_with_its_unit(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("message", "window"),
    [
        ("Input length (9300 tokens) exceeds the maximum allowed length (8186 tokens).", 8_186),
        ("default_max_tokens (-808) must be greater than 0, default_max_tokens = max_seq_len (8192) - 9000", 8_192),
        ("Prompt tokens (9100) exceed limit (8192)", 8_192),
        ("total tokens 9,100 exceed the model's limit of 8,192", 8_192),
        ("The input token count exceeds the maximum number of tokens allowed 1048576.", 1_048_576),
        ("maximum context length is 131072 tokens, you requested about 140000 (130000 of text input)", 131_072),
        ("Your input exceeds the context window of this model.", None),
        ("context window exceeds limit (2013)", None),
    ],
)
def test_context_window_is_read_from_a_message_with_several_numbers(message: str, window: int | None) -> None:
    assert find_stated_window(message, "invalid 2013") == window


@pytest.mark.parametrize(
    ("message", "exceeds"),
    [
        ("Limit 6000, Requested 6294, please reduce your message size", True),
        ("Limit 7000, Used 6148, Requested ~7895. Please try again in 1m0.3s.", True),
        ("Limit 30000, Used 29000, Requested 1400. Please try again in 1.2s.", False),
        ("Limit 200 / day. Please try again in 7m12s.", False),
    ],
)
def test_request_above_the_rate_limit_is_distinguished_from_an_exhausted_minute(message: str, exceeds: bool) -> None:
    assert is_over_rate_limit(message) == exceeds
