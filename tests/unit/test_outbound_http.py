"""Meaning of responses, retry times, and the circuit breaker."""

import datetime as dt
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from workers.outbound.http import ResponseKind, classify_response, find_retry_after, read_json, redact_secrets
from workers.outbound.source_retries import CircuitBreaker

NOW = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (200, {}, "answer"),
        (404, {}, "missing"),
        (301, {}, "redirect"),
        (429, {}, "rate_limited"),
        (403, {"Retry-After": "60"}, "rate_limited"),
        (403, {"X-RateLimit-Remaining": "0"}, "rate_limited"),
        (403, {"X-RateLimit-Remaining": "17"}, "refused"),
        (403, {}, "refused"),
        (400, {}, "refused"),
        (202, {}, "refused"),
        (408, {}, "transient"),
        (409, {}, "transient"),
        (500, {}, "transient"),
        (503, {"Retry-After": "5"}, "transient"),
    ],
)
def test_response_status_is_classified(status: int, headers: dict[str, str], expected: ResponseKind) -> None:
    assert classify_response(status, CIMultiDict(headers)) == expected


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "12"}, 12.0),
        ({"Retry-After-Ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Retry-After": "Mon, 01 Jan 99999999999999 00:00:00 GMT"}, None),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": format_datetime(NOW + dt.timedelta(seconds=90))}, 90.0),
        ({"Retry-After": "Fri, 20 Nov 2026 12:01:30 GMT"}, 90.0),
        ({"Retry-After": "Fri, 20 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "Fri, 20 Nov 2026 12:01:30 GMT", "Date": "Fri, 20 Nov 2026 12:01:00 GMT"}, 30.0),
        ({"Retry-After": "2026-11-20T12:01:30Z"}, 90.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({}, None),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW.timestamp()) + 40)}, 40.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{int(NOW.timestamp()) + 40}000"}, 40.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "40"}, 40.0),
        ({"X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "40"}, None),
        ({"RateLimit-Remaining": "0", "RateLimit-Reset": "40"}, 40.0),
        ({"X-RateLimit-Remaining-Requests": "0", "X-RateLimit-Reset-Requests": "6m0s"}, 360.0),
        ({"X-RateLimit-Remaining-Tokens": "0", "X-RateLimit-Reset-Tokens": "7.66s"}, 7.66),
        (
            {
                "X-RateLimit-Remaining-Requests": "9",
                "X-RateLimit-Reset-Requests": "2h",
                "X-RateLimit-Remaining-Tokens": "0",
                "X-RateLimit-Reset-Tokens": "120ms",
            },
            0.12,
        ),
        (
            {
                "Anthropic-RateLimit-Tokens-Remaining": "0",
                "Anthropic-RateLimit-Tokens-Reset": "2026-11-20T12:01:30Z",
                "Anthropic-RateLimit-Requests-Remaining": "0",
                "Anthropic-RateLimit-Requests-Reset": "2026-11-20T12:00:30Z",
            },
            90.0,
        ),
        ({"X-RateLimit-Remaining-Tokens": "0"}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert find_retry_after(CIMultiDict(headers), NOW) == seconds


@given(st.text())
def test_arbitrary_retry_after_is_none_or_non_negative(header: str) -> None:
    seconds = find_retry_after({"retry-after": header}, NOW)
    assert seconds is None or seconds >= 0


def test_invalid_or_deeply_nested_json_is_returned_as_text() -> None:
    assert read_json(b'{"error": 1}') == {"error": 1}
    assert read_json(b"<html>") == "<html>"
    assert read_json(b"[" * 200_000) == "[" * 200_000


def test_secrets_are_redacted_in_all_encodings() -> None:
    assert redact_secrets("a b/1 a%20b%2F1 a+b%2F1 c", "a b/1", "") == "… … … c"


def make_attempt(breaker: CircuitBreaker, now: float, succeeds: bool | None) -> bool | None:
    """Make an attempt that succeeds, fails, or ends without an outcome; return whether it was a probe."""
    with breaker.admit_attempt(now) as probe:
        if probe is not None and succeeds is not None:
            breaker.record_success() if succeeds else breaker.record_failure(now, probe)
        return probe


def test_breaker_opens_after_repeated_failures_and_closes_after_successful_probe() -> None:
    breaker = CircuitBreaker(threshold=2, pause=30)
    outcomes = [(0.0, False), (0.0, True), (0.0, False), (0.0, False)]
    assert [make_attempt(breaker, *outcome) for outcome in outcomes] == [False] * 4
    assert make_attempt(breaker, 29.9, True) is None
    assert breaker.compute_wait(10.0) == 20.0
    assert make_attempt(breaker, 30.0, None) is True
    assert make_attempt(breaker, 30.0, False) is True
    assert make_attempt(breaker, 59.9, True) is None
    with breaker.admit_attempt(60.0) as probe:
        assert probe is True
        assert make_attempt(breaker, 61.0, True) is None
    assert make_attempt(breaker, 62.0, True) is True
    assert (breaker.failures, make_attempt(breaker, 62.0, True)) == (0, False)
