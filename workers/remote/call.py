"""What is asked of a remote API, on whose behalf, and what comes back."""

import datetime as dt
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from assayer.models import Operation

__all__ = ["Ask", "Call", "Remote", "Reply"]


class Ask(NamedTuple):
    """On whose behalf, and how long that one would wait for a turn."""

    asker: str
    """Evaluation id; turns at a source go round between askers."""
    patience: float
    """Seconds that a turn may be away; beyond them SourceBusy at once, without waiting them out."""


@dataclass(frozen=True)
class Call:
    """One request. All of it may be cached, shared and logged: the door adds keys and e-mail addresses."""

    source: str
    """Whose limits, key, address and lifetime of answers apply: `semantic_scholar`, `arxiv`, …"""
    operation: Operation
    path: str
    """Below the source's base URL, without a leading slash."""
    params: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    """JSON; makes it a POST."""
    lifetime: dt.timedelta | None = None
    """How long the answer stays fresh; the source's default when not given."""
    max_bytes: int = 16 * 2**20


class Reply(NamedTuple):
    status: Literal[200, 404]
    """404 is an answer: the source does not know what was asked for. It is cached like any other."""
    body: bytes
    fetched_at: dt.datetime
    cached: bool
    """Whether it came from the shared cache, or from another asker's request in flight."""


class Remote(Protocol):
    async def fetch(self, call: Call, ask: Ask) -> Reply:
        """Raises SourceUnavailable, SourceBusy or SourceRefused; StorageError when the cache's database is gone."""
        ...
