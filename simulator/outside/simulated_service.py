"""Base class of simulated services, with their routes and the real services' error responses."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar

from aiohttp import web

from simulator.outside.knobs import Knobs
from simulator.outside.library import Library

DRAWS = "outside.draws"

_PHRASES = {500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Time-out"}


class SimulatedService:
    """Base class of simulated services. Subclasses define their name and routes, and override the responses in which
    the real service differs.

    Handlers are methods `async (request) -> response`; their names are the operations in the counters. Latency, limits
    and faults are added by `station.py`. Random choices of a handler must come from `get_random(request)`, so that the
    same request has the same outcome.
    """

    name: ClassVar[str]
    """Name in knobs and counters, such as `semantic_scholar`."""
    prefix: ClassVar[str]
    """First segment of the service's paths, such as `s2`. Its base URL may have further segments."""
    knobs: Knobs = Knobs()
    """Initial knobs: the real service's limits, no latency and no faults. They can be changed while it runs."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def list_routes(self) -> Sequence[web.RouteDef]:
        """Return the routes, with paths relative to the prefix that begin with a slash."""
        raise NotImplementedError

    def identify_caller(self, request: web.Request) -> str:
        """Return the caller whose limits the request counts against: the key, if the service uses keys."""
        return request.headers.get("x-api-key", "")

    def get_cost(self, request: web.Request) -> int:
        """Return the cost of the request against the daily budget."""
        return 1

    def get_limits(self, request: web.Request) -> Knobs:
        """Return the knobs whose limits apply to the request, for services whose limits depend on the caller or
        path."""
        return self.knobs

    def build_limit_headers(self, request: web.Request, spent: int) -> Mapping[str, str]:
        """Return the headers of every response that state the limits and the rest of the daily budget."""
        return {}

    def refuse_caller(self, request: web.Request, knobs: Knobs) -> web.Response | None:
        """Return a refusal for a caller who may not make requests at all, for example with a wrong key."""
        return None

    def refuse_over_limit(self, retry_after: float | None) -> web.Response:
        """Return a 429 response, with Retry-After rounded up to whole seconds."""
        return self.build_error(429, "Too Many Requests", retry_after)

    def build_server_error(self, status: int, retry_after: float | None = None) -> web.Response:
        """Return a 5xx response in HTML, as sent by a proxy in front of the service."""
        return build_html_error(status, retry_after)

    def build_error(self, status: int, message: str, retry_after: float | None = None) -> web.Response:
        """Return an error response in the service's own form."""
        return web.json_response({"error": message}, status=status, headers=build_retry_header(retry_after))

    def garble(self, body: bytes, random: Random) -> bytes:
        """Return a body that does not match its content type: truncated, or a proxy's HTML page."""
        if random.random() < 0.5 and len(body) > 2:
            return body[: random.randrange(1, len(body) - 1)]
        return b"<html><head><title>Please wait</title></head><body>Checking your browser</body></html>"


def get_random(request: web.Request) -> Random:
    """Return the request's random generator, seeded by the service's seed, the request and the number of its
    repetitions."""
    random = request[DRAWS]
    assert isinstance(random, Random)  # noqa: S101 - set by the station
    return random


def build_retry_header(seconds: float | None) -> dict[str, str]:
    return {} if seconds is None else {"Retry-After": str(-int(-seconds // 1))}


def build_html_error(status: int, retry_after: float | None = None) -> web.Response:
    phrase = _PHRASES.get(status, "Error")
    page = f"<html><head><title>{status} {phrase}</title></head><body><h1>{status} {phrase}</h1></body></html>"
    return web.Response(text=page, status=status, content_type="text/html", headers=build_retry_header(retry_after))
