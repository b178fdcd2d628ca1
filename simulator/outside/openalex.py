"""OpenAlex: `/works` and `/works/ID`.

Modelled on its documentation, source code and recorded responses. It counts credits per day: a single work is free, a
list costs 1, a search 10; the limit is 10,000 with a key and 1,000 without. The former id of a merged work redirects.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import ClassVar

from aiohttp import web

from simulator.outside.knobs import Knobs
from simulator.outside.library import Entry
from simulator.outside.openalex_queries import QueryRefused, combine_searches, conditions
from simulator.outside.openalex_works import FIELDS, former_id, known_as, work
from simulator.outside.simulated_service import SimulatedService, retry_header

_PARAMS = """
    api_key filter mailto page per_page search select sort
"""
_LONGEST_URL = 4096
_DEEPEST = 10_000
_DOLLARS = 0.0001
"""Price of a credit in US dollars."""
_KEYLESS_SHARE = 10


class OpenAlex(SimulatedService):
    name: ClassVar[str] = "openalex"
    prefix: ClassVar[str] = "openalex"
    knobs = Knobs(per_second=100.0, burst=100, per_day=10_000)

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get("/works", self.works), web.get("/works/{work:.+}", self.work)]

    def caller(self, request: web.Request) -> str:
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return request.query.get("api_key") or bearer

    def allowed(self, request: web.Request) -> Knobs:
        if self.caller(request) or self.knobs.per_day is None:
            return self.knobs
        return self.knobs.model_copy(update={"per_day": max(1, self.knobs.per_day // _KEYLESS_SHARE)})

    def cost(self, request: web.Request) -> int:
        if request.path.removeprefix(f"/{self.prefix}").startswith("/works/"):
            return 0
        is_search = any(name.startswith("search") for name in request.query) or ".search:" in request.query_string
        return 10 if is_search else 1

    def marks(self, request: web.Request, spent: int) -> Mapping[str, str]:
        limit, cost = self.allowed(request).per_day, self.cost(request)
        if limit is None:
            return {}
        remaining = max(0, limit - spent)
        return {
            "X-RateLimit-Limit": str(limit),
            "X-RateLimit-Remaining": str(remaining),
            "X-RateLimit-Credits-Used": str(cost),
            "X-RateLimit-Reset": str(_seconds_to_midnight()),
            "X-RateLimit-Limit-USD": f"{limit * _DOLLARS:g}",
            "X-RateLimit-Remaining-USD": f"{remaining * _DOLLARS:g}",
            "X-RateLimit-Cost-USD": f"{cost * _DOLLARS:g}",
        }

    def refusal(self, request: web.Request, knobs: Knobs) -> web.Response | None:
        key = self.caller(request)
        if knobs.api_key is not None and key and key != knobs.api_key:
            return web.json_response({"error": "Unauthorized", "message": "Invalid or missing API key"}, status=401)
        return None

    def too_many(self, retry_after: float | None) -> web.Response:
        message = (
            "Insufficient budget. This request costs $0.001 but you only have $0 remaining. Resets at midnight UTC."
        )
        if retry_after is None or retry_after <= 60:
            message = "You have made too many requests in the last second."
        body = {"error": "Rate limit exceeded", "message": message, "retryAfter": retry_after}
        return web.json_response(body, status=429, headers=retry_header(retry_after))

    def failure(self, status: int, message: str, retry_after: float | None = None) -> web.Response:
        if status == 404:
            page = "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n"
            return web.Response(text=page, status=404, content_type="text/html")
        body = {"error": "Invalid query parameters error.", "message": message}
        return web.json_response(body, status=status, headers=retry_header(retry_after))

    async def work(self, request: web.Request) -> web.Response:
        kind, value = _name(request.match_info["work"])
        entry = known_as(self.library, kind, value)
        if entry is None:
            survivor = next((item for item in self.library.entries if former_id(item) == value.upper()), None)
            if survivor is None:
                return self.failure(404, "")
            query = f"?{request.query_string}" if request.query_string else ""
            return web.Response(status=301, headers={"Location": f"/{self.prefix}/works/{survivor.openalex}{query}"})
        try:
            fields = _fields(request)
        except QueryRefused as refusal:
            return self.failure(400, str(refusal))
        return web.json_response(_select_fields(work(self.library, entry, str(request.url.origin())), fields))

    async def works(self, request: web.Request) -> web.Response:
        if len(request.raw_path) > _LONGEST_URL:
            return web.Response(text="Request-URI Too Large", status=414)
        try:
            return self._list(request)
        except QueryRefused as refusal:
            return self.failure(400, str(refusal))

    def _list(self, request: web.Request) -> web.Response:
        unknown = next((name for name in request.query if name not in _PARAMS.split()), None)
        if unknown is not None:
            raise QueryRefused(
                f"{unknown} is not a valid parameter. Valid parameters are: {', '.join(_PARAMS.split())}."
            )
        fields, entries = _fields(request), self._find_sorted(request)
        size = _integer(request, "per_page", 25, 200)
        page = _integer(request, "page", 1, _DEEPEST)
        if page * size > _DEEPEST:
            body = {"error": "Pagination error.", "message": "Maximum results size of 10,000 records is exceeded."}
            return web.json_response(body, status=400)
        start = (page - 1) * size
        page_entries = entries[start : start + size]
        meta: dict[str, object] = {
            "count": len(entries),
            "db_response_time_ms": 12,
            "page": page,
            "per_page": size,
            "groups_count": None,
            "cost_usd": self.cost(request) * _DOLLARS,
        }
        origin, is_search = str(request.url.origin()), "search" in request.query
        results = [
            _select_fields(work(self.library, item, origin, 1000.0 / (1 + start + rank) if is_search else None), fields)
            for rank, item in enumerate(page_entries)
        ]
        return web.json_response({"meta": meta, "results": results, "group_by": []})

    def _find_sorted(self, request: web.Request) -> list[Entry]:
        """Return the results in the requested order; searches by relevance, others in library order."""
        query, order = request.query.get("search"), request.query.get("sort", "")
        filters = conditions(self.library, request.query.get("filter", ""))
        entries = list(self.library.entries)
        if query is not None:
            holds = combine_searches(query)
            entries = [entry for entry in self.library.search(query) if holds(entry)]
        entries = [entry for entry in entries if all(condition(entry) for condition in filters)]
        if order == "publication_date:desc":
            entries.sort(key=_day_key, reverse=True)
        elif order:
            raise QueryRefused(f"{order} is not a valid sort.")
        return entries


def _day_key(entry: Entry) -> str:
    return (entry.known_day or dt.date.min).isoformat()


def _name(text: str) -> tuple[str, str]:
    """Return the kind and value of an id: `W1`, `doi:10.1/x`, `pmid:3`, or any of them as a URL."""
    kind, colon, value = text.partition(":")
    if colon and kind in {"doi", "pmid", "openalex"}:
        return kind, value
    if "doi.org/" in text:
        return "doi", text.split("doi.org/", 1)[1]
    return ("pmid" if "pubmed" in text else "openalex"), text


def _fields(request: web.Request) -> tuple[str, ...]:
    fields = tuple(name.strip() for name in request.query.get("select", "").split(",") if name)
    for name in fields:
        if name not in FIELDS.split():
            valid = ", ".join(FIELDS.split())
            raise QueryRefused(f"{name} is not a valid select field. Valid fields for select are: {valid}.")
    return fields


def _select_fields(record: Mapping[str, object], fields: Sequence[str]) -> dict[str, object]:
    return {name: value for name, value in record.items() if not fields or name in fields}


def _integer(request: web.Request, name: str, default: int, maximum: int) -> int:
    text = request.query.get(name) or str(default)
    if not text.isdecimal() or not 1 <= int(text) <= maximum:
        raise QueryRefused(f"{name} parameter must be between 1 and {maximum}")
    return int(text)


def _seconds_to_midnight() -> int:
    now = dt.datetime.now(dt.UTC)
    return 86_400 - (now.hour * 3600 + now.minute * 60 + now.second)
