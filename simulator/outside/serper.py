"""Serper's API for Google: `POST /search` with `{"q", "page", "tbs"}` returns the simulated papers' pages, and `POST
/scholar` with `{"q", "page", "as_ylo", "as_yhi"}` searches Google Scholar.
"""

import datetime as dt
import json
import re
from collections.abc import Sequence
from typing import Any

from aiohttp import web

from simulator.outside.knobs import Knobs
from simulator.outside.library import Entry
from simulator.outside.simulated_service import SimulatedService, build_retry_header

_PAGE_SIZE = 10
_BOUND = re.compile(r"cd_(min|max):(\d{1,2})/(\d{1,2})/(\d{4})")


class Serper(SimulatedService):
    name = "web"
    prefix = "serper"
    knobs = Knobs(per_second=300, burst=300)

    def list_routes(self) -> Sequence[web.RouteDef]:
        return [web.post("/search", self.search), web.post("/scholar", self.scholar)]

    def refuse_caller(self, request: web.Request, knobs: Knobs) -> web.Response | None:
        if knobs.api_key is not None and request.headers.get("X-API-KEY") != knobs.api_key:
            return self.build_error(403, "Unauthorized.")
        return None

    def build_error(self, status: int, message: str, retry_after: float | None = None) -> web.Response:
        body = {"message": message, "statusCode": status}
        return web.json_response(body, status=status, headers=build_retry_header(retry_after))

    async def search(self, request: web.Request) -> web.Response:
        request_parameters = await _read_parameters(request)
        query = request_parameters["q"]
        page = request_parameters.get("page", 1)
        first, last = _parse_period(str(request_parameters.get("tbs", "")))
        entries = [entry for entry in self.library.search(query) if _is_indexed(entry, first, last)]
        page_entries = entries[(page - 1) * _PAGE_SIZE : page * _PAGE_SIZE]
        return web.json_response(
            {
                "searchParameters": {"type": "search", "engine": "google", **request_parameters},
                "organic": [
                    _build_result(entry, position, f"{request.scheme}://{request.host}")
                    for position, entry in enumerate(page_entries, 1)
                ],
                "relatedSearches": [{"query": f"{query} survey"}] if entries else [],
                "credits": 1,
            }
        )

    async def scholar(self, request: web.Request) -> web.Response:
        request_parameters = await _read_parameters(request)
        query = request_parameters["q"]
        page, first, last = (
            request_parameters.get("page", 1),
            request_parameters.get("as_ylo", 0),
            request_parameters.get("as_yhi", 9_999),
        )
        entries = [entry for entry in self.library.search(query) if first <= (entry.record.year or 0) <= last]
        page_entries = entries[(page - 1) * _PAGE_SIZE : page * _PAGE_SIZE]
        parameters = {"type": "scholar", "engine": "google-scholar", **request_parameters}
        return web.json_response(
            {
                "searchParameters": parameters,
                "organic": [_describe_citation(entry) for entry in page_entries],
                "credits": 1,
            }
        )


async def _read_parameters(request: web.Request) -> dict[str, Any]:
    """Return the parameters in the request's body. Raises HTTPBadRequest."""
    try:
        parameters = json.loads(await request.read())
    except ValueError:
        raise web.HTTPBadRequest(text="Invalid JSON body") from None
    query = parameters.get("q") if isinstance(parameters, dict) else None
    if not isinstance(query, str) or not query.strip():
        raise web.HTTPBadRequest(text="Missing query parameter")
    return dict(parameters)


def _describe_citation(entry: Entry) -> dict[str, Any]:
    record = entry.record
    names = [f"{name[0]} {name.split()[-1]}" for name in record.authors]
    author_text = ", ".join(names[:3]) + ("…" if len(names) > 3 else "")
    venue = record.venue if len(record.venue) < 30 else f"{record.venue[:28]}…"
    link = f"https://arxiv.org/abs/{entry.arxiv}" if entry.arxiv else f"https://doi.org/{entry.doi or record.id}"
    result: dict[str, Any] = {
        "title": record.title,
        "link": link,
        "publicationInfo": f"{author_text} - {venue}, {record.year} - simulated.example.org",
        "snippet": f"{record.abstract[:180]}…",
        "year": record.year,
        "id": entry.s2[:12],
    }
    return result | {"citedBy": record.citation_count}


def _parse_period(tbs: str) -> tuple[dt.date, dt.date]:
    """Return the first and last day in `tbs`; bounds that it does not contain are open."""
    bounds = {side: dt.date(int(year), int(month), int(day)) for side, month, day, year in _BOUND.findall(tbs)}
    return bounds.get("min", dt.date.min), bounds.get("max", dt.date.max)


def _is_indexed(entry: Entry, first: dt.date, last: dt.date) -> bool:
    """Return whether the page is in the period, which applies to the day of indexing even if no date is shown."""
    return first <= (entry.date or dt.date.min) <= last


def _build_result(entry: Entry, position: int, host: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "title": entry.record.title,
        "link": f"{host}/pages/paper/{entry.record.id}",
        "snippet": f"{entry.record.abstract[:150]} ...",
        "position": position,
    }
    day = entry.record.publication_date
    if day and entry.is_day_known:
        result["date"] = f"{day:%b} {day.day}, {day.year}"
    return result
