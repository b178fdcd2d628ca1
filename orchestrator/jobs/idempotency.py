"""A request that is sent twice is done once, and answered the same."""

from typing import NamedTuple

from assayer.errors import AssayerError, InputError

__all__ = ["KeyReused", "Once", "QueueFull", "Replay"]


class Once(NamedTuple):
    """What to keep of a request that carries an idempotency key: who it was, and what it was answered."""

    key: str
    request: bytes
    """SHA-256 of all that the request means."""
    status: int
    body: bytes
    location: str


class Replay(NamedTuple):
    """What the same request was answered before."""

    status: int
    body: bytes
    location: str


class KeyReused(InputError):
    """The idempotency key belongs to another request."""


class QueueFull(AssayerError):
    """The tenant has as many jobs queued as it may; nothing was added."""

    reason = "the queue was full"

    def __init__(self, queued: int, added: int, most: int) -> None:
        super().__init__(
            f"{queued:,} jobs are queued; {added:,} more would pass the {most:,} that may be.",
            "Send them when some are done." if added <= most else "Send them in smaller parts.",
        )
        self.args = (queued, added, most)
        self.queued, self.added, self.most = queued, added, most
