"""What the doors to remote sources keep in a shared store."""

import datetime as dt
from typing import Literal, NamedTuple

__all__ = ["CachedResponse", "VersionedText"]


class CachedResponse(NamedTuple):
    """A source's answer as it stands in the shared cache."""

    source: str
    status: Literal[200, 404]
    body: bytes
    fetched_at: dt.datetime


class VersionedText(NamedTuple):
    """A text that many processes change, one after the other."""

    now: float
    """Unix time by the clock that all these processes share, taken before the text was read."""
    version: int
    """0 while there is none."""
    text: str
