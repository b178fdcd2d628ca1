"""Retry rules: which failures are temporary, how long to wait, and when to give up."""

import logging
import random
from typing import Any

from tenacity import RetryCallState, retry_if_exception, stop_after_attempt, stop_any, stop_before_delay

from assayer_client.errors import ApiProblem, ServiceUnreachable
from assayer_client.settings import RetryPolicy

_LOG = logging.getLogger(__name__)
_FIRST_POLL, _LAST_POLL = 0.2, 5.0


def may_retry(error: BaseException) -> bool:
    return isinstance(error, ApiProblem | ServiceUnreachable) and error.retryable


def compute_pause(retries: RetryPolicy, failures: int, error: BaseException | None) -> float:
    """Return a random delay in seconds after this many failures. It is at least the service's Retry-After, plus a
    random part, so that clients rejected at the same time do not retry at the same time."""
    backoff: float = min(retries.longest_pause, retries.first_pause * 2 ** min(failures - 1, 30))
    requested = error.retry_after if isinstance(error, ApiProblem | ServiceUnreachable) else None
    spread = random.random()  # noqa: S311 - not for secrets
    return backoff * spread if requested is None else requested + min(backoff, 1.0) * spread


def build_retry_options(retries: RetryPolicy) -> dict[str, Any]:
    """Return keyword arguments for tenacity's AsyncRetrying."""

    def wait(state: RetryCallState) -> float:
        return compute_pause(retries, state.attempt_number, state.outcome.exception() if state.outcome else None)

    def log_retry(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        _LOG.info("%s Trying again in %.1f s.", error, state.upcoming_sleep)

    return {
        "before_sleep": log_retry,
        "retry": retry_if_exception(may_retry),
        "wait": wait,
        "stop": stop_any(stop_after_attempt(retries.attempts), stop_before_delay(retries.seconds)),
        "reraise": True,
    }


def compute_next_poll(elapsed: float, limit: float | None, job: str = "It") -> float:
    """Return the seconds until the next poll: a tenth of the time already waited, but at least 0.2 and at limit 5.
    Raises TimeoutError, which names the job, after `limit` seconds."""
    if limit is None:
        return min(max(_FIRST_POLL, elapsed / 10), _LAST_POLL)
    if elapsed >= limit:
        raise TimeoutError(f"{job} did not finish within {limit:g} seconds; it is still running.")
    return min(max(_FIRST_POLL, elapsed / 10), _LAST_POLL, limit - elapsed)
