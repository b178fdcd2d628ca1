"""The outermost layer: names every request, times it, writes one line about it, and lets no stack trace out."""

import logging
import re
import time
from dataclasses import dataclass, field

from prometheus_client import Counter, Gauge, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assayer.errors import AssayerError, StorageError
from assayer.logged import logged
from orchestrator.api.identifiers import Identifiers
from orchestrator.api.problems import Refusal
from orchestrator.api.settings import ApiSettings

__all__ = ["Observing", "Visit", "refuse", "visit"]

_LOG = logging.getLogger("assayer.access")
_FAILURES = logging.getLogger(__name__)
_SANE_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

REQUESTS = Counter("assayer_http_requests_total", "Requests answered.", ["method", "route", "status"])
SECONDS = Histogram(
    "assayer_http_request_seconds",
    "Time to the end of the answer; of event streams and waiting requests, as long as they are held.",
    ["method", "route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)
IN_WORK = Gauge("assayer_http_requests_in_work", "Requests that are not answered yet.", multiprocess_mode="livesum")


@dataclass
class Visit:
    """What the log says about one request."""

    request_id: str
    tenant: str | None = None
    key: str | None = None
    jobs: list[str] = field(default_factory=list)
    status: int | None = None


def visit(scope: Scope) -> Visit:
    found: Visit = scope["assayer.visit"]
    return found


async def refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the refusal's document."""
    await refusal.response(scope["path"], visit(scope).request_id)(scope, receive, send)


class Observing:
    def __init__(self, app: ASGIApp, ids: Identifiers, settings: ApiSettings) -> None:
        self._app = app
        self._ids = ids
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope).get("x-request-id", "")
        seen = scope["assayer.visit"] = Visit(asked if _SANE_ID.fullmatch(asked) else self._ids("req"))

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen.status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = seen.request_id
                headers["X-Content-Type-Options"] = "nosniff"
            await send(message)

        started = time.perf_counter()
        try:
            with logged(request_id=seen.request_id), IN_WORK.track_inprogress():
                await self._answered(scope, receive, named)
        finally:
            _record(scope, seen, time.perf_counter() - started)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Whatever else failed becomes a document here; after the first byte the connection just ends."""
        try:
            await self._app(scope, receive, send)
        except Exception as error:  # the outermost layer of the service
            seen = visit(scope)
            _FAILURES.exception("request %s failed", seen.request_id)
            if seen.status is not None:
                raise
            await refuse(self._failure(error, seen), scope, receive, send)

    def _failure(self, error: Exception, seen: Visit) -> Refusal:
        if isinstance(error, StorageError):
            return out_of_reach(self._settings)
        what = error.reason if isinstance(error, AssayerError) else "a defect of assayer"
        return Refusal(
            "internal-error",
            f"Cause: {what}. Nothing is wrong with the request. Name {seen.request_id} when you report it.",
        )


def out_of_reach(settings: ApiSettings) -> Refusal:
    """What the database said stays in the log: it names hosts."""
    return Refusal(
        "unavailable",
        "The database is out of reach. Nothing is lost that was accepted; try again as Retry-After says.",
        retry_after=settings.retry_seconds,
    )


def _record(scope: Scope, seen: Visit, seconds: float) -> None:
    """One line: who asked for what, never with which words."""
    route = getattr(scope.get("route"), "path_format", "none")
    method = scope["method"] if scope["method"] in _METHODS else "other"
    REQUESTS.labels(method, route, str(seen.status or 0)).inc()
    SECONDS.labels(method, route).observe(seconds)
    line = {
        "request_id": seen.request_id,
        "method": method,
        "route": route,
        "status": seen.status,
        "milliseconds": round(seconds * 1000, 1),
        "tenant": seen.tenant,
        "key": seen.key,
        "id": scope.get("path_params", {}).get("id"),
        "jobs": seen.jobs,
    }
    told = {name: value for name, value in line.items() if value not in (None, [])}
    _LOG.info("%s %s: %s", method, route, seen.status, extra={"told": told})
