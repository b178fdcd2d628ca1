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
from simulator.outside.openalex_queries import QueryRefused, combine_searches, parse_conditions
from simulator.outside.openalex_works import FIELDS, build_work, find_entry, get_former_id
from simulator.outside.simulated_service import SimulatedService, build_retry_header

_PARAMS = """
    api_key filter mailto page per_page search select sort
"""
_MAX_URL_LENGTH = 4096
_MAX_RESULTS = 10_000
_USD_PER_CREDIT = 0.0001
"""Price of a credit in US dollars."""
_KEYLESS_SHARE = 10


class OpenAlex(SimulatedService):
    name: ClassVar[str] = "openalex"
    prefix: ClassVar[str] = "openalex"
    knobs = Knobs(per_second=100.0, burst=100, per_day=10_000)

    def list_routes(self) -> Sequence[web.RouteDef]:
        return [web.get("/works", self.works), web.get("/works/{work:.+}", self.work)]

    def identify_caller(self, request: web.Request) -> str:
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return request.query.get("api_key") or bearer

    def get_limits(self, request: web.Request) -> Knobs:
        if self.identify_caller(request) or self.knobs.per_day is None:
            return self.knobs
        return self.knobs.model_copy(update={"per_day": max(1, self.knobs.per_day // _KEYLESS_SHARE)})

    def get_cost(self, request: web.Request) -> int:
        if request.path.removeprefix(f"/{self.prefix}").startswith("/works/"):
            return 0
        is_search = any(name.startswith("search") for name in request.query) or ".search:" in request.query_string
        return 10 if is_search else 1

    def build_limit_headers(self, request: web.Request, spent: int) -> Mapping[str, str]:
        limit, cost = self.get_limits(request).per_day, self.get_cost(request)
        if limit is None:
            return {}
        remaining = max(0, limit - spent)
        return {
            "X-RateLimit-Limit": str(limit),
            "X-RateLimit-Remaining": str(remaining),
            "X-RateLimit-Credits-Used": str(cost),
            "X-RateLimit-Reset": str(_count_seconds_to_midnight()),
            "X-RateLimit-Limit-USD": f"{limit * _USD_PER_CREDIT:g}",
            "X-RateLimit-Remaining-USD": f"{remaining * _USD_PER_CREDIT:g}",
            "X-RateLimit-Cost-USD": f"{cost * _USD_PER_CREDIT:g}",
        }

    def refuse_caller(self, request: web.Request, knobs: Knobs) -> web.Response | None:
        key = self.identify_caller(request)
        if knobs.api_key is not None and key and key != knobs.api_key:
            return web.json_response({"error": "Unauthorized", "message": "Invalid or missing API key"}, status=401)
        return None

    def refuse_over_limit(self, retry_after: float | None) -> web.Response:
        message = (
            "Insufficient budget. This request costs $0.001 but you only have $0 remaining. Resets at midnight UTC."
        )
        if retry_after is None or retry_after <= 60:
            message = "You have made too many requests in the last second."
        body = {"error": "Rate limit exceeded", "message": message, "retryAfter": retry_after}
        return web.json_response(body, status=429, headers=build_retry_header(retry_after))

    def build_error(self, status: int, message: str, retry_after: float | None = None) -> web.Response:
        if status == 404:
            page = "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n"
            return web.Response(text=page, status=404, content_type="text/html")
        body = {"error": "Invalid query parameters error.", "message": message}
        return web.json_response(body, status=status, headers=build_retry_header(retry_after))

    async def work(self, request: web.Request) -> web.Response:
        kind, value = _parse_id(request.match_info["work"])
        entry = find_entry(self.library, kind, value)
        if entry is None:
            survivor = next((entry for entry in self.library.entries if get_former_id(entry) == value.upper()), None)
            if survivor is None:
                return self.build_error(404, "")
            query = f"?{request.query_string}" if request.query_string else ""
            return web.Response(status=301, headers={"Location": f"/{self.prefix}/works/{survivor.openalex}{query}"})
        try:
            fields = _parse_fields(request)
        except QueryRefused as refusal:
            return self.build_error(400, str(refusal))
        return web.json_response(_select_fields(build_work(self.library, entry, str(request.url.origin())), fields))

    async def works(self, request: web.Request) -> web.Response:
        if len(request.raw_path) > _MAX_URL_LENGTH:
            return web.Response(text="Request-URI Too Large", status=414)
        try:
            return self._list_works(request)
        except QueryRefused as refusal:
            return self.build_error(400, str(refusal))

    def _list_works(self, request: web.Request) -> web.Response:
        unknown_name = next((name for name in request.query if name not in _PARAMS.split()), None)
        if unknown_name is not None:
            raise QueryRefused(
                f"{unknown_name} is not a valid parameter. Valid parameters are: {', '.join(_PARAMS.split())}."
            )
        fields, entries = _parse_fields(request), self._find_sorted(request)
        size = _parse_integer(request, "per_page", 25, 200)
        page = _parse_integer(request, "page", 1, _MAX_RESULTS)
        if page * size > _MAX_RESULTS:
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
            "cost_usd": self.get_cost(request) * _USD_PER_CREDIT,
        }
        origin, is_search = str(request.url.origin()), "search" in request.query
        results = [
            _select_fields(
                build_work(self.library, entry, origin, 1000.0 / (1 + start + rank) if is_search else None), fields
            )
            for rank, entry in enumerate(page_entries)
        ]
        return web.json_response({"meta": meta, "results": results, "group_by": []})

    def _find_sorted(self, request: web.Request) -> list[Entry]:
        """Return the results in the requested order; searches by relevance, others in library order."""
        query, order = request.query.get("search"), request.query.get("sort", "")
        filters = parse_conditions(self.library, request.query.get("filter", ""))
        entries = list(self.library.entries)
        if query is not None:
            matches_search = combine_searches(query)
            entries = [entry for entry in self.library.search(query) if matches_search(entry)]
        entries = [entry for entry in entries if all(condition(entry) for condition in filters)]
        if order == "publication_date:desc":
            entries.sort(key=_get_day_key, reverse=True)
        elif order:
            raise QueryRefused(f"{order} is not a valid sort.")
        return entries


def _get_day_key(entry: Entry) -> str:
    return (entry.known_day or dt.date.min).isoformat()


def _parse_id(text: str) -> tuple[str, str]:
    """Return the kind and value of an id: `W1`, `doi:10.1/x`, `pmid:3`, or any of them as a URL."""
    kind, colon, value = text.partition(":")
    if colon and kind in {"doi", "pmid", "openalex"}:
        return kind, value
    if "doi.org/" in text:
        return "doi", text.split("doi.org/", 1)[1]
    return ("pmid" if "pubmed" in text else "openalex"), text


def _parse_fields(request: web.Request) -> tuple[str, ...]:
    fields = tuple(name.strip() for name in request.query.get("select", "").split(",") if name)
    for name in fields:
        if name not in FIELDS.split():
            valid = ", ".join(FIELDS.split())
            raise QueryRefused(f"{name} is not a valid select field. Valid fields for select are: {valid}.")
    return fields


def _select_fields(record: Mapping[str, object], fields: Sequence[str]) -> dict[str, object]:
    return {name: value for name, value in record.items() if not fields or name in fields}


def _parse_integer(request: web.Request, name: str, default: int, maximum: int) -> int:
    text = request.query.get(name) or str(default)
    if not text.isdecimal() or not 1 <= int(text) <= maximum:
        raise QueryRefused(f"{name} parameter must be between 1 and {maximum}")
    return int(text)


def _count_seconds_to_midnight() -> int:
    now = dt.datetime.now(dt.UTC)
    return 86_400 - (now.hour * 3600 + now.minute * 60 + now.second)
