"""Base class of a simulated service: its routes, and the wording in which the real service refuses."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar

from aiohttp import web

from simulator.outside.knobs import Knobs
from simulator.outside.library import Library

DRAWS = "outside.draws"

_PHRASES = {500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Time-out"}


class Twin:
    """Subclasses name themselves, list their routes, and override what the real service words differently.

    Handlers are methods `async (request) -> response`; their names are the operations in the counters. Latency,
    limits and faults are the frame's affair (`station.py`): a handler only answers. What it does by chance it
    takes from `draws(request)`, so that the same request meets the same fate.
    """

    name: ClassVar[str]
    """Name in knobs and counters: the source's name, `semantic_scholar`."""
    prefix: ClassVar[str]
    """First segment of its addresses: `s2`. Its base URL may go on from there."""
    knobs: Knobs = Knobs()
    """Knobs at the start: the real service's limits, no latency, no faults; they can be changed while it runs."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def routes(self) -> Sequence[web.RouteDef]:
        """Paths below the prefix, beginning with a slash."""
        raise NotImplementedError

    def caller(self, request: web.Request) -> str:
        """Return the caller whose limits the request counts against: the key, if the service uses keys."""
        return request.headers.get("x-api-key", "")

    def cost(self, request: web.Request) -> int:
        """Return the cost of the request against the daily budget."""
        return 1

    def allowed(self, request: web.Request) -> Knobs:
        """The knobs whose limits hold for the request, where callers or paths differ in what they may."""
        return self.knobs

    def marks(self, request: web.Request, spent: int) -> Mapping[str, str]:
        """Headers of every answer in which the service tells its caller the limits, and what is left of the day's."""
        return {}

    def refusal(self, request: web.Request, knobs: Knobs) -> web.Response | None:
        """Return a refusal for a caller who may not make requests at all, for example with a wrong key."""
        return None

    def too_many(self, retry_after: float | None) -> web.Response:
        """429; the header is in whole seconds, rounded up."""
        return self.failure(429, "Too Many Requests", retry_after)

    def broken(self, status: int, retry_after: float | None = None) -> web.Response:
        """5xx: what stands in front of the service answers for it, in HTML."""
        return html_error(status, retry_after)

    def failure(self, status: int, message: str, retry_after: float | None = None) -> web.Response:
        """Any refusal in the service's own form."""
        return web.json_response({"error": message}, status=status, headers=retry_header(retry_after))

    def garbled(self, body: bytes, random: Random) -> bytes:
        """A body that its content type belies: cut in the middle, or a page of the proxy's."""
        if random.random() < 0.5 and len(body) > 2:
            return body[: random.randrange(1, len(body) - 1)]
        return b"<html><head><title>Please wait</title></head><body>Checking your browser</body></html>"


def draws(request: web.Request) -> Random:
    """Seeded by the service's seed, the request, and how often it was asked."""
    random = request[DRAWS]
    assert isinstance(random, Random)  # noqa: S101 - the station put it there
    return random


def retry_header(seconds: float | None) -> dict[str, str]:
    return {} if seconds is None else {"Retry-After": str(-int(-seconds // 1))}


def html_error(status: int, retry_after: float | None = None) -> web.Response:
    phrase = _PHRASES.get(status, "Error")
    page = f"<html><head><title>{status} {phrase}</title></head><body><h1>{status} {phrase}</h1></body></html>"
    return web.Response(text=page, status=status, content_type="text/html", headers=retry_header(retry_after))
