"""What follows a try to deliver: nothing, another try, or giving up. Pure."""

from http import HTTPStatus
from typing import NamedTuple, TypeAlias

from orchestrator.webhooks.settings import DeliverySettings

__all__ = ["Dead", "Delivered", "Later", "Next", "next_step"]


class Delivered(NamedTuple):
    said: str


class Later(NamedTuple):
    seconds: float
    said: str


class Dead(NamedTuple):
    said: str


Next: TypeAlias = Delivered | Later | Dead


def next_step(answer: int | str, attempt: int, draw: float, settings: DeliverySettings) -> Next:
    """After try number `attempt`, from 1. `answer` is the receiver's status, or why there is none; `draw` is uniform
    in [0, 1)."""
    if isinstance(answer, int) and 200 <= answer < 300:
        return Delivered(f"It answered {answer}.")
    said = f"It answered {answer}." if isinstance(answer, int) else answer
    if answer == HTTPStatus.GONE:
        return Dead(f"{said} That says that nobody listens there any more.")
    if attempt >= settings.tries:
        return Dead(f"{said} That was try {attempt} of {settings.tries}.")
    wait = settings.first_seconds * settings.factor ** (attempt - 1)
    return Later(wait * (1 + settings.jitter * (2 * draw - 1)), said)
