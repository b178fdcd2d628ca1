"""Parsing of refusals by the client."""

import datetime as dt

import pytest

from assayer_client.errors import build_problem, parse_retry_after

NOW = dt.datetime(2026, 5, 4, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        (" 7 ", 7.0),
        ("Mon, 04 May 2026 12:00:30 GMT", 30.0),
        ("Mon, 04 May 2026 12:00:30", 30.0),
        ("Mon, 04 May 2026 11:00:00 GMT", 0.0),
        ("tomorrow", None),
        ("Mon, 01 Jan 99999999999999 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_read_in_either_form_and_ignored_otherwise(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, NOW) == seconds


def test_error_with_invalid_retry_after_and_deeply_nested_body_is_still_parsed() -> None:
    headers = {
        "content-type": "application/problem+json",
        "retry-after": "Mon, 01 Jan 99999999999999 00:00:00 GMT",
    }
    problem = build_problem(429, headers, b"[" * 200_000, NOW)
    assert (problem.status, problem.retry_after, problem.retryable) == (429, None, True)
