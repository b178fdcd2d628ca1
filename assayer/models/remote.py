"""Responses of literature sources as stored in a shared cache."""

import datetime as dt
from typing import Literal, NamedTuple


class CachedResponse(NamedTuple):
    """Response of a source as stored in the shared cache."""

    source: str
    status: Literal[200, 404]
    body: bytes
    fetched_at: dt.datetime
