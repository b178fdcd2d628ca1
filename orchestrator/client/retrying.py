"""When a request is sent again: what passes, how long to wait, when to give up."""

import random
from typing import Any

from tenacity import RetryCallState, retry_if_exception, stop_after_attempt, stop_any, stop_before_delay

from orchestrator.client.failures import ApiProblem, ServiceUnreachable
from orchestrator.client.settings import Patience

__all__ = ["next_look", "options", "passes", "pause"]

_FIRST_LOOK, _LAST_LOOK = 0.2, 5.0


def passes(error: BaseException) -> bool:
    return isinstance(error, ApiProblem | ServiceUnreachable) and error.passing


def pause(patience: Patience, failures: int, error: BaseException | None) -> float:
    """Seconds before the next attempt after so many failed ones; longer than the service asks for, so that those who
    were refused together do not return together."""
    own: float = min(patience.longest_pause, patience.first_pause * 2 ** min(failures - 1, 30))
    told = error.retry_after if isinstance(error, ApiProblem | ServiceUnreachable) else None
    spread = random.random()  # noqa: S311 - not for secrets
    return own * spread if told is None else told + min(own, 1.0) * spread


def options(patience: Patience) -> dict[str, Any]:
    """For tenacity's Retrying and AsyncRetrying alike."""

    def wait(state: RetryCallState) -> float:
        return pause(patience, state.attempt_number, state.outcome.exception() if state.outcome else None)

    return {
        "retry": retry_if_exception(passes),
        "wait": wait,
        "stop": stop_any(stop_after_attempt(patience.attempts), stop_before_delay(patience.seconds)),
        "reraise": True,
    }


def next_look(elapsed: float, most: float | None) -> float:
    """Seconds until whoever waits for a verdict looks again: what they lose by it is a tenth of what they waited.
    Raises TimeoutError when `most` seconds have passed."""
    if most is None:
        return min(max(_FIRST_LOOK, elapsed / 10), _LAST_LOOK)
    if elapsed >= most:
        raise TimeoutError(f"It has not ended within {most:g} seconds; the work goes on.")
    return min(max(_FIRST_LOOK, elapsed / 10), _LAST_LOOK, most - elapsed)
