"""Semantics of Semantic Scholar's filters."""

import calendar
import datetime as dt
import re
from typing import NamedTuple

from aiohttp import web

_PART = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


class Period(NamedTuple):
    """Period between two days, both included; None means open."""

    first: dt.date | None = None
    last: dt.date | None = None

    def contains(self, day: dt.date | None) -> bool:
        if day is None:
            return self == Period()
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)


def parse_period(dates: str) -> Period:
    """Return the period of `publicationDateOrYear` (`2016-03-05:2020-06`). Raises HTTPBadRequest with the service's
    wording."""
    first, separator, last = dates.partition(":")
    if not separator:
        last = first
    try:
        return Period(_parse_day(first, is_start=True), _parse_day(last, is_start=False))
    except ValueError as error:
        raise web.HTTPBadRequest(text=f"Unacceptable query params: [publicationDateOrYear={dates}]") from error


def _parse_day(text: str, is_start: bool) -> dt.date | None:
    if not text:
        return None
    match = _PART.fullmatch(text)
    if match is None:
        raise ValueError(text)
    year = int(match[1])
    month = int(match[2] or (1 if is_start else 12))
    day = int(match[3]) if match[3] else 1 if is_start else calendar.monthrange(year, month)[1]
    return dt.date(year, month, day)
