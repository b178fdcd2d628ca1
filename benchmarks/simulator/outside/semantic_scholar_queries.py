"""What Semantic Scholar's filters and the query language of its bulk search mean."""

import calendar
import datetime as dt
import re
from collections.abc import Iterable
from typing import NamedTuple, Self

from aiohttp import web

from benchmarks.simulator.outside.library import Entry
from benchmarks.simulator.outside.lookup import words

__all__ = ["Order", "Period", "matches", "period"]

_PART = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


class Period(NamedTuple):
    """Both days included; None is open."""

    first: dt.date | None = None
    last: dt.date | None = None

    def holds(self, day: dt.date | None) -> bool:
        if day is None:
            return self == Period()
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)


def period(dates: str, years: str) -> Period:
    """Of `publicationDateOrYear` (`2016-03-05:2020-06`) or else `year` (`2016-2020`, `2010-`).

    Raises HTTPBadRequest in its words.
    """
    if dates:
        first, separator, last = dates.partition(":")
        wrong = f"publicationDateOrYear={dates}"
    else:
        first, separator, last = years.partition("-")
        wrong = f"year={years}"
    if not separator:
        last = first
    try:
        return Period(_day(first, of_start=True), _day(last, of_start=False))
    except ValueError as error:
        raise web.HTTPBadRequest(text=f"Unacceptable query params: [{wrong}]") from error


def _day(text: str, of_start: bool) -> dt.date | None:
    if not text:
        return None
    match = _PART.fullmatch(text)
    if match is None:
        raise ValueError(text)
    year = int(match[1])
    month = int(match[2] or (1 if of_start else 12))
    day = int(match[3]) if match[3] else 1 if of_start else calendar.monthrange(year, month)[1]
    return dt.date(year, month, day)


class Order(NamedTuple):
    """Of a bulk search; equal ones by id, those without a value last."""

    field: str
    descending: bool

    @classmethod
    def asked(cls, text: str) -> Self:
        """Raises HTTPBadRequest in its words."""
        field, _, way = text.partition(":")
        if field not in {"paperId", "publicationDate", "citationCount"} or way not in {"", "asc", "desc"}:
            raise web.HTTPBadRequest(text=f"Unacceptable query params: [sort={text}]")
        return cls(field, way == "desc")

    def sort(self, entries: Iterable[Entry]) -> list[Entry]:
        valued = [(self._value(one), one) for one in sorted(entries, key=lambda one: one.s2)]
        known = [(value, one) for value, one in valued if value is not None]
        known.sort(key=lambda pair: pair[0], reverse=self.descending)
        return [one for _, one in known] + [one for value, one in valued if value is None]

    def _value(self, entry: Entry) -> str | int | None:
        if self.field == "citationCount":
            return entry.record.citation_count
        if self.field == "paperId":
            return entry.s2
        return str(entry.record.publication_date) if entry.day_known else None


def matches(query: str, entry: Entry) -> bool:
    """Every plain word occurs, no word behind `-` does; the rest of the language is not simulated."""
    text = {_stem(word) for word in words(f"{entry.record.title} {entry.record.abstract}")}
    for part in query.replace("+", " ").split():
        wanted = all(_stem(word) in text for word in words(part.lstrip("-")))
        if wanted == part.startswith("-"):
            return False
    return True


def _stem(word: str) -> str:
    return word.removesuffix("s")
