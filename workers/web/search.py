"""Web search through an API in the manner of Serper (google.serper.dev).

One POST of `{"q", "page", "tbs"}` a page of ten results; `tbs` holds the window of dates as Google writes it. Google
shows a date for some results only, as `Mar 3, 2023` or `3 days ago`.
"""

import calendar
import datetime as dt
import json
import re
from typing import ClassVar

from assayer.models import WebResult
from workers.remote.call import Ask, Call, Remote, Reply
from workers.sources.answers import Entries, Shape, Text, read_known
from workers.sources.asking import ask_for
from workers.sources.fields import last_day, line, link
from workers.sources.source import Window

__all__ = ["WebSearch", "read_shown_date"]

_PAGE = 10
_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_DAY = re.compile(r"(?P<month>[a-z]{3})[a-z]*\.? (?P<day>\d{1,2}), (?P<year>\d{4})")
_DAY_FIRST = re.compile(r"(?P<day>\d{1,2}) (?P<month>[a-z]{3})[a-z]*\.?,? (?P<year>\d{4})")
_MONTH = re.compile(r"(?P<month>[a-z]{3})[a-z]*\.? (?P<year>\d{4})")
_AGO = re.compile(r"(?P<count>\d{1,3}) (?P<unit>minute|min|hour|day|week|month|year)s? ago")
_DAYS = {"minute": 0, "min": 0, "hour": 0, "day": 1, "week": 7, "month": 28, "year": 365}
"""The fewest days of each: no result is taken for older than it may be."""


class _Organic(Shape):
    title: Text = ""
    link: str
    snippet: Text = ""
    date: Text = ""


class _Answer(Shape):
    organic: Entries[_Organic]
    """Without it, it is no answer of a search."""


class WebSearch:
    name: ClassVar[str] = "web"

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    async def search(self, query: str, limit: int, window: Window, ask: Ask) -> list[WebResult]:
        """Best first, each address once. Dated results lie in the window; undated ones have no `published`."""
        found: dict[str, WebResult] = {}
        for page in range(1, -(-limit // _PAGE) + 1):
            organic = await ask_for(self._remote, _call(query, page, window), ask, _results)
            for result in organic:
                if result and (result.published is None or window.holds(result.published)):
                    found.setdefault(result.url, result)
            if len(organic) < _PAGE or len(found) >= limit:
                break
        return list(found.values())[:limit]


def _call(query: str, page: int, window: Window) -> Call:
    body: dict[str, str | int] = {"q": query, "gl": "us", "hl": "en", "page": page}
    if window != Window():
        body["tbs"] = _tbs(window)
    return Call("web", "web", "search", body=json.dumps(body))


def _tbs(window: Window) -> str:
    bounds = (("cd_min", window.after), ("cd_max", window.before))
    return ",".join(["cdr:1", *(f"{name}:{day.month}/{day.day}/{day.year}" for name, day in bounds if day)])


def _results(reply: Reply) -> list[WebResult | None]:
    """One for each that was sent, None without an address."""
    answer = read_known(reply, _Answer, WebSearch.name)
    return [_result(one, reply.fetched_at.date()) for one in answer.organic] if answer else []


def _result(organic: _Organic, seen: dt.date) -> WebResult | None:
    url = link(organic.link)
    if not url:
        return None
    published = read_shown_date(organic.date, seen)
    return WebResult(title=line(organic.title), url=url, snippet=line(organic.snippet), published=published)


def read_shown_date(text: str, seen: dt.date) -> dt.date | None:
    """A date as Google shows it on the day `seen`; None for anything else."""
    text = " ".join(text.lower().split())
    for form in (_DAY, _DAY_FIRST, _MONTH):
        if (match := form.fullmatch(text)) and (month := _MONTHS.get(match["month"])):
            day = match.groupdict().get("day")
            return last_day(int(match["year"]), month, int(day) if day else None)
    if text == "yesterday":
        return seen - dt.timedelta(days=1)
    if match := _AGO.fullmatch(text):
        return seen - dt.timedelta(days=int(match["count"]) * _DAYS[match["unit"]])
    return None
