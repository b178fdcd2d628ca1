"""The trace that a request is part of (W3C Trace Context)."""

import re

from fastapi import Request

__all__ = ["traceparent_of"]

_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def traceparent_of(request: Request) -> str | None:
    """None where it names none, or not as the standard says: that is no reason to refuse anything."""
    said = request.headers.get("traceparent", "")
    return said if _TRACEPARENT.fullmatch(said) else None
