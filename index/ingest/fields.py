"""Values of foreign records in the types of our columns; what does not fit is empty, never an error."""

import datetime as dt
import re
from typing import Any, NamedTuple

from index.reading.records import last_day

__all__ = ["IdentifierRow", "count", "day", "entries", "link", "named", "text"]

_LINK = re.compile(r"https?://[^\s<>\"]{3,2000}", re.IGNORECASE)
_MOST = 2**31 - 1


class IdentifierRow(NamedTuple):
    """In the order of `Identifiers`."""

    doi: str = ""
    arxiv: str = ""
    s2: str = ""
    openalex: str = ""
    pubmed: str = ""
    pmc: str = ""
    acl: str = ""
    openreview: str = ""


def text(value: Any) -> str:
    """Numbers come where texts are meant."""
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int else ""


def entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def named(value: Any, key: str) -> list[str]:
    """The texts under one key of a list of objects, each once, in order."""
    found = (text(one.get(key)).strip() for one in entries(value) if isinstance(one, dict))
    return list(dict.fromkeys(name for name in found if name))


def count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= _MOST else None


def day(date: Any, year: Any = None) -> dt.date | None:
    """Of the period the last day, as records have it; None when neither says one."""
    for said in (date, year):
        try:
            if found := text(said).strip():
                return last_day(found)
        except (ValueError, OverflowError):
            continue
    return None


def link(value: Any) -> str:
    found = text(value).strip()
    return found if _LINK.fullmatch(found) and found.isprintable() else ""
