"""What a source's refusals mean, and how long it wants to be left alone."""

import datetime as dt
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from workers.remote.failures import Meaning, meaning, retry_after

NOW = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (200, {}, "answer"),
        (404, {}, "answer"),
        (410, {}, "answer"),
        (301, {}, "redirect"),
        (308, {}, "redirect"),
        (429, {}, "rate_limited"),
        (403, {"Retry-After": "60"}, "rate_limited"),
        (403, {"X-RateLimit-Remaining": "0"}, "rate_limited"),
        (403, {"X-RateLimit-Remaining": "17"}, "refused"),
        (403, {}, "refused"),
        (401, {}, "refused"),
        (400, {}, "refused"),
        (202, {}, "refused"),
        (304, {}, "refused"),
        (408, {}, "transient"),
        (500, {}, "transient"),
        (503, {"Retry-After": "5"}, "transient"),
    ],
)
def test_status_means(status: int, headers: dict[str, str], expected: Meaning) -> None:
    assert meaning(status, CIMultiDict(headers)) == expected


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "12"}, 12.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": format_datetime(NOW + dt.timedelta(seconds=90))}, 90.0),
        ({"Retry-After": "Fri, 20 Nov 2026 12:01:30 GMT"}, 90.0),
        ({"Retry-After": "Fri, 20 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "Fri, 20 Nov 2026 12:01:30 +99999999999999999"}, None),
        ({}, None),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW.timestamp()) + 40)}, 40.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "40"}, 40.0),
        ({"X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "40"}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(CIMultiDict(headers), NOW) == seconds


@given(st.text())
def test_retry_after_of_anything_is_none_or_not_negative(said: str) -> None:
    seconds = retry_after({"retry-after": said}, NOW)
    assert seconds is None or seconds >= 0
