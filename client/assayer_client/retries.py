"""When a request is sent again: what passes, how long to wait, when to give up."""

import random
from typing import Any

from tenacity import RetryCallState, retry_if_exception, stop_after_attempt, stop_any, stop_before_delay

from assayer_client.errors import ApiProblem, ServiceUnreachable
from assayer_client.settings import RetryPolicy

__all__ = ["may_retry", "next_poll", "options", "pause"]

_FIRST_POLL, _LAST_POLL = 0.2, 5.0


def may_retry(error: BaseException) -> bool:
    return isinstance(error, ApiProblem | ServiceUnreachable) and error.retryable


def pause(retries: RetryPolicy, failures: int, error: BaseException | None) -> float:
    """Seconds before the next attempt after so many failed ones; longer than the service asks for, so that those who
    were refused together do not return together."""
    own: float = min(retries.longest_pause, retries.first_pause * 2 ** min(failures - 1, 30))
    told = error.retry_after if isinstance(error, ApiProblem | ServiceUnreachable) else None
    spread = random.random()  # noqa: S311 - not for secrets
    return own * spread if told is None else told + min(own, 1.0) * spread


def options(retries: RetryPolicy) -> dict[str, Any]:
    """For tenacity's Retrying and AsyncRetrying alike."""

    def wait(state: RetryCallState) -> float:
        return pause(retries, state.attempt_number, state.outcome.exception() if state.outcome else None)

    return {
        "retry": retry_if_exception(may_retry),
        "wait": wait,
        "stop": stop_any(stop_after_attempt(retries.attempts), stop_before_delay(retries.seconds)),
        "reraise": True,
    }


def next_poll(elapsed: float, most: float | None, job: str = "It") -> float:
    """Seconds until whoever waits for a verdict looks again: what they lose by it is a tenth of what they waited.
    Raises TimeoutError, which names the job, when `most` seconds have passed."""
    if most is None:
        return min(max(_FIRST_POLL, elapsed / 10), _LAST_POLL)
    if elapsed >= most:
        raise TimeoutError(f"{job} has not ended within {most:g} seconds; the work goes on.")
    return min(max(_FIRST_POLL, elapsed / 10), _LAST_POLL, most - elapsed)
