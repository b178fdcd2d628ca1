"""What delivering asks of the world."""

from collections.abc import Collection, Mapping
from typing import Protocol

from orchestrator.webhooks.models import Dispatch, WebhookId
from orchestrator.webhooks.schedule import Next

__all__ = ["Outbox", "Post", "Wake"]


class Post(Protocol):
    async def __call__(self, url: str, body: bytes, headers: Mapping[str, str], seconds: float) -> int:
        """The status of the answer; redirects are answers. Raises AssayerError when none came within the time, or the
        address may not be visited."""
        ...


class Outbox(Protocol):
    """All raise StorageError. What is owed for a job is there as soon as it has ended."""

    async def owe_batches(self) -> int:
        """Puts down what is owed for batches that have finished and were not told yet; gives how many messages."""
        ...

    async def claim(
        self, most: int, most_per_webhook: int, busy: Collection[WebhookId], seconds: float
    ) -> list[Dispatch]:
        """Deliveries that are due, none to `busy` webhooks; nobody else gets them for so long."""
        ...

    async def settle(self, dispatch: Dispatch, step: Next) -> bool:
        """Whether it was still the dispatch of whoever settles it."""
        ...


class Wake(Protocol):
    async def next(self, timeout: float) -> object:
        """Returns when there may be something to deliver, at the latest after so many seconds."""
        ...
