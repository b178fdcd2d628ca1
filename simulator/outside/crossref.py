"""Crossref's REST API: `/works` and `/works/DOI`.

Modelled on its documentation and recorded responses. Callers who state an email address are in the polite pool; each
pool has separate limits for single records and lists. `query.bibliographic` has no query language: any word counts.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from aiohttp import web

from simulator.outside.crossref_works import FIELDS, Deposit, build_record, get_first_day, get_type, list_deposits
from simulator.outside.knobs import Knobs
from simulator.outside.library import Library
from simulator.outside.simulated_service import SimulatedService, build_retry_header

_PARAMS = """
    query.bibliographic filter rows select mailto
"""
_FILTERS = "doi type from-pub-date until-pub-date"
_MAX_ROWS = 1000

_SHARES = {"polite-array": 3 / 3, "polite-single": 10 / 3, "public-array": 1 / 3, "public-single": 5 / 3}
"""Rate limits as shares of the knob `per_second`, which is the limit of lists in the polite pool."""

_Test = Callable[[Deposit], bool]


class _InvalidRequest(Exception):
    """Error for an invalid request, with Crossref's type, the invalid value and a message."""

    def __init__(self, kind: str, value: str, message: str) -> None:
        super().__init__(kind, value, message)
        self.problem = {"type": kind, "value": value, "message": message}


class Crossref(SimulatedService):
    name: ClassVar[str] = "crossref"
    prefix: ClassVar[str] = "crossref"
    knobs = Knobs(per_second=3.0, concurrent=3)

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._deposits = {deposit.doi: deposit for deposit in list_deposits(library)}

    def list_routes(self) -> Sequence[web.RouteDef]:
        return [
            web.get("/{version:(?:v1/)?}works", self.works),
            web.get("/{version:(?:v1/)?}works/{doi:.+}", self.work),
        ]

    def identify_caller(self, request: web.Request) -> str:
        return f"{_get_pool(request)}:{_get_mailto(request)}"

    def get_limits(self, request: web.Request) -> Knobs:
        pool, rate, concurrent = _get_pool(request), self.knobs.per_second, self.knobs.concurrent
        is_public = concurrent is not None and pool.startswith("public")
        return self.knobs.model_copy(
            update={"per_second": rate and rate * _SHARES[pool], "concurrent": 1 if is_public else concurrent}
        )

    def build_limit_headers(self, request: web.Request, spent: int) -> Mapping[str, str]:
        knobs = self.get_limits(request)
        if knobs.per_second is None or knobs.concurrent is None:
            return {"x-api-pool": _get_pool(request)}
        return {
            "x-api-pool": _get_pool(request),
            "x-rate-limit-limit": str(round(knobs.per_second)),
            "x-rate-limit-interval": "1s",
            "x-concurrency-limit": str(knobs.concurrent),
        }

    def refuse_over_limit(self, retry_after: float | None) -> web.Response:
        page = (
            "<html><body><h1>429 Too Many Requests</h1>\n"
            "You have sent too many requests in a given amount of time.\n</body></html>\n"
        )
        return web.Response(text=page, status=429, content_type="text/html", headers=build_retry_header(retry_after))

    def build_error(self, status: int, message: str, retry_after: float | None = None) -> web.Response:
        return web.Response(
            text=message, status=status, content_type="text/plain", headers=build_retry_header(retry_after)
        )

    async def work(self, request: web.Request) -> web.Response:
        deposit = self._deposits.get(request.match_info["doi"].lower())
        if deposit is None:
            return self.build_error(404, "Resource not found.")
        body = {"status": "ok", "message-type": "work", "message-version": "1.0.0"}
        return web.json_response(body | {"message": build_record(self.library, deposit)})

    async def works(self, request: web.Request) -> web.Response:
        try:
            return self._list_works(request)
        except _InvalidRequest as invalid:
            body = {"status": "failed", "message-type": "validation-failure", "message": [invalid.problem]}
            return web.json_response(body, status=400)

    def _list_works(self, request: web.Request) -> web.Response:
        for name in request.query:
            if name not in _PARAMS.split():
                raise _InvalidRequest("parameter-not-allowed", name, "This route does not support " + name)
        fields = _parse_fields(request)
        rows = _parse_integer(request, "rows", 20, _MAX_ROWS)
        query = request.query.get("query.bibliographic")
        deposits = self._find_deposits(query, _build_tests(request.query.get("filter", "")))
        items = [build_record(self.library, deposit, 30.0 / (1 + rank)) for rank, deposit in enumerate(deposits[:rows])]
        message: dict[str, object] = {
            "facets": {},
            "total-results": len(deposits),
            "items": [{name: value for name, value in item.items() if not fields or name in fields} for item in items],
            "items-per-page": rows,
            "query": {"start-index": 0, "search-terms": query},
        }
        body = {"status": "ok", "message-type": "work-list", "message-version": "1.0.0"}
        return web.json_response(body | {"message": message})

    def _find_deposits(self, query: str | None, tests: Sequence[_Test]) -> list[Deposit]:
        deposits = list(self._deposits.values())
        if query is not None:
            deposits = [self._deposits[deposit.doi] for deposit in self.library.search(query) if deposit.doi]
        return [deposit for deposit in deposits if all(test(deposit) for test in tests)]


def _get_mailto(request: web.Request) -> str:
    agent = request.headers.get("User-Agent", "")
    return request.query.get("mailto") or (agent.partition("mailto:")[2].rstrip(")") if "mailto:" in agent else "")


def _get_pool(request: web.Request) -> str:
    is_list = request.path.rstrip("/").endswith("/works")
    return f"{'polite' if _get_mailto(request) else 'public'}-{'array' if is_list else 'single'}"


def _parse_fields(request: web.Request) -> tuple[str, ...]:
    fields = tuple(name for name in request.query.get("select", "").split(",") if name)
    for name in fields:
        if name not in FIELDS.split():
            valid = ", ".join(FIELDS.split())
            raise _InvalidRequest(
                "select-not-available",
                name,
                f"Select {name} specified but there is no such select for this route. Valid selects are: {valid}",
            )
    return fields


def _parse_integer(request: web.Request, name: str, default: int, maximum: int) -> int:
    text = request.query.get(name, str(default))
    if not text.isdecimal() or int(text) > maximum:
        message = f"Integer specified as {text} but must be a positive integer less than or equal to {maximum}."
        raise _InvalidRequest("integer-not-valid", text, message)
    return int(text)


def _build_tests(text: str) -> list[_Test]:
    """Return the tests of a filter: values of the same name are alternatives, different names must all hold."""
    values: dict[str, list[str]] = {}
    for part in text.split(",") if text else ():
        name, _, value = part.partition(":")
        if name not in _FILTERS.split():
            message = f"Filter {name} specified but there is no such filter for this route."
            raise _InvalidRequest(
                "filter-not-available", name, f"{message} Valid filters for this route are: {_FILTERS}"
            )
        values.setdefault(name, []).append(value)
    return [_build_test(name, alternatives) for name, alternatives in values.items()]


def _build_test(name: str, values: list[str]) -> _Test:
    match name:
        case "doi":
            dois = {value.lower() for value in values}
            return lambda deposit: deposit.doi in dois
        case "type":
            return lambda deposit: get_type(deposit) in values
        case _:
            day, first = _parse_day(values[0]), name.startswith("from")
            return lambda deposit: (
                (deposit_day := get_first_day(deposit)) is not None
                and (deposit_day >= day if first else deposit_day <= day)
            )


def _parse_day(text: str) -> dt.date:
    """Return the first day of `2020`, `2020-05` or `2020-05-17`. Raises _Invalid."""
    try:
        year, month, day = (*(int(part) for part in text.split("-")), 1, 1)[:3]
        return dt.date(year, month, day)
    except ValueError:
        message = f"Date specified as {text} but must be of the form: yyyy or yyyy-MM or yyyy-MM-dd"
        raise _InvalidRequest("date-not-valid", text, message) from None
