"""Fields of records in the form that Papers have them: texts cleaned, addresses checked, dates exact."""

import calendar
import datetime as dt
import re
from urllib.parse import quote, urlsplit

from assayer.models import Paper, PaperId
from assayer.sanitise import clean_text
from workers.sources.source import Window

__all__ = ["first_links", "in_window", "last_day", "line", "link", "paper_id", "prose", "read_date"]

_LINK = re.compile(r"https?://[^\s<>\"]{3,2000}", re.IGNORECASE)
_PERIOD = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?(?:T.*)?")
_UNQUOTABLE = re.compile(r"[\s\[\]%]")


def line(text: str) -> str:
    """On one line."""
    return " ".join(clean_text(text).split())


def prose(text: str) -> str:
    return clean_text(text).strip()


def link(text: str) -> str:
    """A web address as it stands; empty for anything else."""
    text = text.strip()
    if not _LINK.fullmatch(text) or not text.isprintable():
        return ""
    try:
        return text if urlsplit(text).hostname else ""
    except ValueError:
        return ""


def first_links(*addresses: str) -> tuple[str, ...]:
    """The usable addresses in their order, each once."""
    return tuple(dict.fromkeys(address for text in addresses if (address := link(text))))


def last_day(year: int, month: int | None = None, day: int | None = None) -> dt.date | None:
    """Of the period, so that no cutoff lets it in too early; None when there is no such day."""
    try:
        month = month or 12
        return dt.date(year, month, day or calendar.monthrange(year, month)[1])
    except (ValueError, OverflowError, IndexError):
        return None


def read_date(text: str) -> dt.date | None:
    """`2021-05-07`, `2021-05`, `2021`, each also with a time behind it."""
    match = _PERIOD.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day = (int(part or 0) for part in match.groups())
    return last_day(year, month or None, day or None)


def in_window(paper: Paper, window: Window) -> bool:
    """Undated papers are in an open window only."""
    day = paper.publication_date
    return window == Window() if day is None else window.holds(day)


def paper_id(prefix: str, name: str) -> PaperId:
    """Ids stand in citation marks, so white space and square brackets are percent-encoded."""
    return PaperId(f"{prefix}:{_UNQUOTABLE.sub(lambda match: quote(match[0], safe=''), name)}")
