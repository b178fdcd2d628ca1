"""An outbox: what is owed is written in the transaction of what it tells of, then tried until it is taken, or given up.

Mails and messages to webhooks are owed in this way. Here is what follows a try; the rows are in
`orchestrator.store.outbox`.
"""

from typing import NamedTuple, Protocol, TypeAlias, TypeVar
from uuid import UUID

from orchestrator.settings import RedeliverySettings

__all__ = ["Claimed", "Delivered", "DeliveryOutcome", "GivenUp", "Outbox", "RetryLater", "outcome_of_failure"]


class Claimed(Protocol):
    """What is due, claimed for a while by one process."""

    @property
    def id(self) -> UUID: ...

    @property
    def attempt(self) -> int:
        """From 1: this one."""
        ...


class Delivered(NamedTuple):
    detail: str


class RetryLater(NamedTuple):
    """Where another attempt follows."""

    seconds: float
    detail: str


class GivenUp(NamedTuple):
    detail: str


DeliveryOutcome: TypeAlias = Delivered | RetryLater | GivenUp
C_contra = TypeVar("C_contra", bound=Claimed, contravariant=True)


class Outbox(Protocol[C_contra]):
    async def settle(self, claimed: C_contra, outcome: DeliveryOutcome) -> bool:
        """False when the claim no longer held. Raises StorageError."""
        ...


def outcome_of_failure(detail: str, attempt: int, draw: float, settings: RedeliverySettings) -> RetryLater | GivenUp:
    """After attempt number `attempt`, from 1. `detail` says in a sentence why it failed; `draw` is uniform in
    [0, 1)."""
    if attempt >= settings.tries:
        return GivenUp(f"{detail} That was try {attempt} of {settings.tries}.")
    wait = settings.first_seconds * settings.factor ** (attempt - 1)
    return RetryLater(wait * (1 + settings.jitter * (2 * draw - 1)), detail)
