"""Outcomes of attempts to deliver emails and messages to webhooks. `orchestrator.store.outbox` stores the rows."""

from typing import NamedTuple, TypeAlias

from orchestrator.settings import RedeliverySettings

JITTER = 0.2
"""Maximum random change of each wait, as a fraction, so that messages do not all reach a recovered receiver
together."""


class Delivered(NamedTuple):
    detail: str


class RetryLater(NamedTuple):
    """Outcome of a failed attempt after which the delivery will be attempted again."""

    seconds: float
    detail: str


class GivenUp(NamedTuple):
    detail: str


DeliveryOutcome: TypeAlias = Delivered | RetryLater | GivenUp


def outcome_of_failure(detail: str, attempt: int, draw: float, settings: RedeliverySettings) -> RetryLater | GivenUp:
    """Return the outcome of failed attempt number `attempt`, from 1. `detail` is a sentence that states the reason;
    `draw` is a uniform random number in [0, 1)."""
    if attempt >= settings.tries:
        return GivenUp(f"{detail} That was attempt {attempt} of {settings.tries}.")
    wait = settings.first_seconds * settings.factor ** (attempt - 1)
    return RetryLater(wait * (1 + JITTER * (2 * draw - 1)), detail)
