"""Outcomes of attempts to deliver emails and webhook messages. The rows are stored by `orchestrator.store.outbox`."""

from typing import NamedTuple, TypeAlias

from orchestrator.settings import RedeliverySettings

JITTER = 0.2
"""Maximum random change to each wait, as a fraction, so that messages do not all arrive at once when a receiver
recovers."""


class Delivered(NamedTuple):
    detail: str


class RetryLater(NamedTuple):
    """Outcome of a failed attempt that will be retried."""

    seconds: float
    detail: str


class Abandoned(NamedTuple):
    detail: str


DeliveryOutcome: TypeAlias = Delivered | RetryLater | Abandoned


def decide_after_failure(
    detail: str, attempt: int, random_fraction: float, settings: RedeliverySettings
) -> RetryLater | Abandoned:
    """Return the outcome of a failed attempt; `attempt` is its number, from 1. `detail` is a sentence that states the
    reason. `random_fraction` is a uniform random number in [0, 1)."""
    if attempt >= settings.tries:
        return Abandoned(f"{detail} That was attempt {attempt} of {settings.tries}.")
    wait_seconds = settings.first_seconds * settings.factor ** (attempt - 1)
    return RetryLater(wait_seconds * (1 + JITTER * (2 * random_fraction - 1)), detail)
