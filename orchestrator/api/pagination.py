"""Pages of a list that begins with the newest, and their cursors."""

import datetime as dt
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Never, TypeVar

from orchestrator.api.common_schemas import Page
from orchestrator.api.problems import HttpProblem
from orchestrator.jobs.models import Job
from orchestrator.jobs.submissions import BatchStatus, Cursor

__all__ = ["decode_cursor", "encode_cursor", "page_of"]

J = TypeVar("J", Job, BatchStatus)
R = TypeVar("R")

_CURSOR = re.compile(r"(?P<moment>[\d:T.-]{19,26}\+00:00) (?P<id>\w{1,64})", re.ASCII)


def page_of(listed: Sequence[J], limit: int, resource_of: Callable[[J], R]) -> Page[R]:
    """`listed` has one more than `limit` where there is another page."""
    page = listed[:limit]
    return Page(
        items=tuple(map(resource_of, page)), next=encode_cursor(Cursor.of(page[-1])) if len(listed) > limit else None
    )


def encode_cursor(cursor: Cursor) -> str:
    """Opaque to clients: its format may change."""
    return urlsafe_b64encode(f"{cursor.created_at.isoformat()} {cursor.id}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> Cursor | None:
    """Raises HttpProblem."""
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        match = _CURSOR.fullmatch(urlsafe_b64decode(padded).decode("ascii"))
        return Cursor(dt.datetime.fromisoformat(match["moment"]), match["id"]) if match else _invalid_cursor()
    except ValueError:
        return _invalid_cursor()


def _invalid_cursor() -> Never:
    raise HttpProblem.parameter("after", "It is not a cursor. Use `next` of the page before, unchanged.") from None
