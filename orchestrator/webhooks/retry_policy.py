"""What follows an attempt to deliver: success, another attempt, or giving up. Pure."""

from http import HTTPStatus
from typing import NamedTuple, TypeAlias

from orchestrator.settings import RedeliverySettings

__all__ = ["Delivered", "DeliveryOutcome", "GivenUp", "RetryLater", "delivery_outcome", "outcome_of_failure"]


class Delivered(NamedTuple):
    detail: str


class RetryLater(NamedTuple):
    """Where another attempt follows."""

    seconds: float
    detail: str


class GivenUp(NamedTuple):
    detail: str


DeliveryOutcome: TypeAlias = Delivered | RetryLater | GivenUp


def delivery_outcome(answer: int | str, attempt: int, draw: float, settings: RedeliverySettings) -> DeliveryOutcome:
    """After attempt number `attempt`, from 1. `answer` is the receiver's status, or why there is none; `draw` is
    uniform in [0, 1)."""
    if isinstance(answer, int) and 200 <= answer < 300:
        return Delivered(f"It answered {answer}.")
    detail = f"It answered {answer}." if isinstance(answer, int) else answer
    if answer == HTTPStatus.GONE:
        return GivenUp(f"{detail} That means that nobody receives messages there any more.")
    return outcome_of_failure(detail, attempt, draw, settings)


def outcome_of_failure(detail: str, attempt: int, draw: float, settings: RedeliverySettings) -> RetryLater | GivenUp:
    """`detail` says in a sentence why the attempt failed."""
    if attempt >= settings.tries:
        return GivenUp(f"{detail} That was try {attempt} of {settings.tries}.")
    wait = settings.first_seconds * settings.factor ** (attempt - 1)
    return RetryLater(wait * (1 + settings.jitter * (2 * draw - 1)), detail)
