"""Which responses of a source are retried, after how long, and the circuit breaker of a source that keeps failing."""

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_exponential_jitter

from workers.remote.settings import SourceSettings

__all__ = [
    "BreakerPermit",
    "CircuitBreaker",
    "RateLimited",
    "ResponseKind",
    "RetryPolicy",
    "TransientSourceFailure",
    "classify_response",
    "retry_after",
]


ResponseKind = Literal["answer", "redirect", "rate_limited", "transient", "refused"]

_ANSWERS = frozenset({200, 404, 410})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TRANSIENT = frozenset({408, 425})
_UNIX_TIMES = 1e9
"""Some sources give the reset as Unix time, some as seconds from now; nobody shuts us out for thirty years."""


class TransientSourceFailure(Exception):
    """The same request may succeed later."""


class RateLimited(TransientSourceFailure):
    """Too many requests, says the source."""


def classify_response(status: int, headers: Mapping[str, str]) -> ResponseKind:
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


class RetryPolicy:
    """How often a source is asked again after a failure that may pass, and after how long."""

    def __init__(self, settings: SourceSettings) -> None:
        self.attempts = settings.attempts
        self._backoff = wait_exponential_jitter(
            multiplier=settings.backoff_initial_seconds,
            max=settings.backoff_max_seconds,
            jitter=settings.backoff_initial_seconds,
        )

    def retrying(self) -> AsyncRetrying:
        """The attempts for one request."""
        return AsyncRetrying(
            stop=stop_after_attempt(self.attempts),
            wait=self._wait,
            retry=retry_if_exception_type(TransientSourceFailure),
            reraise=True,
        )

    def backoff(self, state: RetryCallState) -> float:
        """Seconds, growing with the attempts of the state."""
        return self._backoff(state)

    def _wait(self, state: RetryCallState) -> float:
        """Nothing after a 429: then it is the shared rate limit that holds everybody back."""
        failure = state.outcome.exception() if state.outcome is not None else None
        return 0.0 if isinstance(failure, RateLimited) else self._backoff(state)


@dataclass(eq=False)
class BreakerPermit:
    """Leave to send one request; ends with one of its methods."""

    _breaker: "CircuitBreaker"
    _probe: bool
    _open: bool = True

    def succeeded(self) -> None:
        if self._end():
            self._breaker.failures = 0
            self._breaker.opened_at = None

    def failed(self, now: float) -> None:
        if self._end():
            self._breaker.count_failure(now, self._probe)

    def dropped(self) -> None:
        """Nothing was learnt. Does nothing after one of the others."""
        self._end()

    def _end(self) -> bool:
        open_, self._open = self._open, False
        if open_ and self._probe:
            self._breaker.probing = False
        return open_


class CircuitBreaker:
    """A synchronous state machine; times are seconds of any clock."""

    def __init__(self, threshold: int, pause: float) -> None:
        self._threshold = threshold
        self._pause = pause
        self.failures = 0
        """In a row."""
        self.opened_at: float | None = None
        self.probing = False

    def state(self, now: float) -> Literal["closed", "open", "half_open"]:
        if self.opened_at is None:
            return "closed"
        return "open" if now < self.opened_at + self._pause else "half_open"

    def admit(self, now: float) -> BreakerPermit | None:
        """None: the source is to be left alone."""
        state = self.state(now)
        if state == "open" or (state == "half_open" and self.probing):
            return None
        self.probing = self.probing or state == "half_open"
        return BreakerPermit(self, state == "half_open")

    def remaining(self, now: float) -> float:
        """Seconds until the next probe may go."""
        return 0.0 if self.opened_at is None else max(0.0, self.opened_at + self._pause - now)

    def count_failure(self, now: float, probe: bool) -> None:
        self.failures += 1
        if probe or (self.opened_at is None and self.failures >= self._threshold):
            self.opened_at = now
