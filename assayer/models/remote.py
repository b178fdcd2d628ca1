"""Responses from literature sources, as stored in a cache that several processes share."""

import datetime as dt
from typing import Literal, NamedTuple


class CachedResponse(NamedTuple):
    """Response from a source, as stored in the shared cache."""

    source: str
    status: Literal[200, 404]
    body: bytes
    fetched_at: dt.datetime
