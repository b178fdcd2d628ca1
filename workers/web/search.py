"""Web search through a Serper-style API (google.serper.dev).

Each page of ten results is requested with a POST of `{"q", "page", "tbs"}`, where `tbs` is the date window in Google's
notation. Google shows a date only for some results, as `Mar 3, 2023` or `3 days ago`."""

import calendar
import datetime as dt
import json
import re
from typing import ClassVar

from assayer.cutoff import keep_within_window
from assayer.models import OPEN, WebResult, Window
from workers.literature_apis.record_fields import (
    ApiObject,
    TextOrEmpty,
    ValidEntries,
    check_link,
    clean_line,
    compute_last_day,
)
from workers.outbound.source_requests import (
    RequestContext,
    SourceFetcher,
    SourceRequest,
    SourceResponse,
    fetch_parsed,
    parse_json,
)

_PAGE_RESULTS = 10
_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_DAY = re.compile(r"(?P<month>[a-z]{3})[a-z]*\.? (?P<day>\d{1,2}), (?P<year>\d{4})")
_DAY_FIRST = re.compile(r"(?P<day>\d{1,2}) (?P<month>[a-z]{3})[a-z]*\.?,? (?P<year>\d{4})")
_MONTH = re.compile(r"(?P<month>[a-z]{3})[a-z]*\.? (?P<year>\d{4})")
_TIME_AGO = re.compile(r"(?P<count>\d{1,3}) (?P<unit>minute|min|hour|day|week|month|year)s? ago")
_DAYS_PER_UNIT = {"minute": 0, "min": 0, "hour": 0, "day": 1, "week": 7, "month": 28, "year": 365}
"""Minimum number of days per unit, so that a result is not dated too early."""


class _Organic(ApiObject):
    title: TextOrEmpty = ""
    link: str
    snippet: TextOrEmpty = ""
    date: TextOrEmpty = ""


class _Answer(ApiObject):
    organic: ValidEntries[_Organic]
    """Search results. A response without this field is not a search response."""


class WebSearch:
    name: ClassVar[str] = "web"

    def __init__(self, remote: SourceFetcher) -> None:
        self._remote = remote

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[WebResult]:
        """Return results, best first, without duplicate URLs. Dated results lie within the window; `published` is None
        for undated results."""
        results_by_url: dict[str, WebResult] = {}
        for page in range(1, -(-limit // _PAGE_RESULTS) + 1):
            organic = await fetch_parsed(
                self._remote, _build_search_request(query, page, window), context, _parse_results
            )
            results = filter(None, organic)
            for result in keep_within_window(results, window, lambda item: item.published, undated=True):
                results_by_url.setdefault(result.url, result)
            if len(organic) < _PAGE_RESULTS or len(results_by_url) >= limit:
                break
        return list(results_by_url.values())[:limit]


def _build_search_request(query: str, page: int, window: Window) -> SourceRequest:
    body: dict[str, str | int] = {"q": query, "gl": "us", "hl": "en", "page": page}
    if window != OPEN:
        body["tbs"] = _build_date_filter(window)
    return SourceRequest("web", "web", "search", body=json.dumps(body))


def _build_date_filter(window: Window) -> str:
    bounds = (("cd_min", window.after), ("cd_max", window.before))
    return ",".join(["cdr:1", *(f"{name}:{day.month}/{day.day}/{day.year}" for name, day in bounds if day)])


def _parse_results(response: SourceResponse) -> list[WebResult | None]:
    """Return one result per entry in the response; None for an entry without a URL."""
    answer = None if response.status == 404 else parse_json(response, _Answer, WebSearch.name)
    return [_parse_result(item, response.fetched_at.date()) for item in answer.organic] if answer else []


def _parse_result(organic: _Organic, seen_on: dt.date) -> WebResult | None:
    url = check_link(organic.link)
    if not url:
        return None
    published = parse_shown_date(organic.date, seen_on)
    return WebResult(title=clean_line(organic.title), url=url, snippet=clean_line(organic.snippet), published=published)


def parse_shown_date(text: str, seen_on: dt.date) -> dt.date | None:
    """Parse a date as Google displays it on the day `seen_on`; return None for other text."""
    text = " ".join(text.lower().split())
    for form in (_DAY, _DAY_FIRST, _MONTH):
        if (match := form.fullmatch(text)) and (month := _MONTHS.get(match["month"])):
            day = match.groupdict().get("day")
            return compute_last_day(int(match["year"]), month, int(day) if day else None)
    if text == "yesterday":
        return seen_on - dt.timedelta(days=1)
    if match := _TIME_AGO.fullmatch(text):
        return seen_on - dt.timedelta(days=int(match["count"]) * _DAYS_PER_UNIT[match["unit"]])
    return None
