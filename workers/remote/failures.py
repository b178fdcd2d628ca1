"""What a source's answers mean when they are not the answer."""

import datetime as dt
import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Literal

__all__ = ["Meaning", "RateLimited", "TransientFailure", "meaning", "retry_after"]

Meaning = Literal["answer", "redirect", "rate_limited", "transient", "refused"]

_ANSWERS = frozenset({200, 404, 410})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TRANSIENT = frozenset({408, 425})
_UNIX_TIMES = 1e9
"""Some sources give the reset as Unix time, some as seconds from now; nobody shuts us out for thirty years."""


class TransientFailure(Exception):
    """The same request may succeed later."""


class RateLimited(TransientFailure):
    """Too many requests, says the source."""


def meaning(status: int, headers: Mapping[str, str]) -> Meaning:
    if status in _ANSWERS:
        return "answer"
    if status in _REDIRECTS:
        return "redirect"
    # GitHub's and OpenAlex's rate limits may come as 403.
    limits = "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    if status == 429 or (status == 403 and limits):
        return "rate_limited"
    return "transient" if status >= 500 or status in _TRANSIENT else "refused"


def retry_after(headers: Mapping[str, str], now: dt.datetime) -> float | None:
    """Seconds, never negative; from Retry-After (a number or an HTTP date), else from the time of a spent limit's
    renewal. None when the source does not say."""
    said = headers.get("retry-after", "")
    seconds = _number(said)
    if seconds is None:
        seconds = _until(said, now)
    if seconds is None and headers.get("x-ratelimit-remaining") == "0":
        seconds = _number(headers.get("x-ratelimit-reset", ""))
        if seconds is not None and seconds >= _UNIX_TIMES:
            seconds -= now.timestamp()
    return None if seconds is None else max(0.0, seconds)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _until(text: str, now: dt.datetime) -> float | None:
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return ((at if at.tzinfo else at.replace(tzinfo=dt.UTC)) - now).total_seconds()
