"""Pagination of lists, with cursors for two orders: newest first, and batch rows in order."""

import datetime as dt
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import TypeVar

from assayer_client.resources import Page
from orchestrator.jobs.models import Job
from orchestrator.jobs.submissions import BatchStatus, Cursor
from orchestrator.problems import HttpProblem
from orchestrator.store.panels import PanelCursor

J = TypeVar("J", Job, BatchStatus)
R = TypeVar("R")

_CURSOR = re.compile(r"(?P<moment>[\d:T.-]{19,26}\+00:00) (?P<id>\w{1,64})", re.ASCII)
_PANEL_CURSOR = re.compile(r"(?P<row>\d{0,9}) (?P<id>\w{1,64})", re.ASCII)


def build_page(items: Sequence[J], limit: int, build_resource: Callable[[J], R]) -> Page[R]:
    """Return a page with up to `limit` items. `items` contains one item more if there is another page."""
    page = items[:limit]
    return Page(
        items=tuple(map(build_resource, page)),
        next=encode_cursor(Cursor.from_item(page[-1])) if len(items) > limit else None,
    )


def encode_cursor(cursor: Cursor) -> str:
    """Encode a cursor. It is opaque to clients, because its format may change."""
    return _encode(f"{cursor.created_at.isoformat()} {cursor.id}")


def encode_panel_cursor(position: PanelCursor) -> str:
    """Encode a cursor for a panel's rows. It is opaque to clients."""
    return _encode(f"{'' if position.row is None else position.row} {position.evaluation}")


def decode_cursor(cursor: str | None) -> Cursor | None:
    """Decode a cursor; None for the first page. Raises HttpProblem if it is invalid."""
    return _decode(cursor, _CURSOR, lambda match: Cursor(dt.datetime.fromisoformat(match["moment"]), match["id"]))


def decode_panel_cursor(cursor: str | None) -> PanelCursor | None:
    """Decode a cursor for a panel's rows; None for the first page. Raises HttpProblem if it is invalid."""
    return _decode(
        cursor, _PANEL_CURSOR, lambda match: PanelCursor(int(match["row"]) if match["row"] else None, match["id"])
    )


def _encode(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decode(cursor: str | None, pattern: re.Pattern[str], build_cursor: Callable[[re.Match[str]], R]) -> R | None:
    if cursor is None:
        return None
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        if match := pattern.fullmatch(urlsafe_b64decode(padded).decode("ascii")):
            return build_cursor(match)
    except ValueError:
        pass
    raise HttpProblem.invalid_parameter("after", "The cursor is invalid. Use `next` from the previous page, unchanged.")
