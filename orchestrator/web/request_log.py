"""Middleware that assigns an id to every request, measures and logs it, and keeps stack traces from reaching
clients."""

import logging
import re
import time
from dataclasses import dataclass, field

from prometheus_client import Counter, Gauge, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assayer.errors import AssayerError, StorageError
from assayer.run.context_variables import log_context
from orchestrator.identifiers import IdGenerator
from orchestrator.problems import HttpProblem

_LOG = logging.getLogger("assayer.access")
_ERROR_LOG = logging.getLogger(__name__)
_ACCEPTED_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_CLIENT_CLOSED_REQUEST = 499
"""Status recorded if the client disconnected before the response. As with proxies, it is only logged and counted."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

REQUESTS = Counter("assayer_http_requests_total", "Requests answered.", ["method", "route", "status"])
REQUEST_SECONDS = Histogram(
    "assayer_http_request_seconds",
    "Seconds until the end of the response; for event streams and waiting requests, the whole time they are held open.",
    ["method", "route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)
REQUESTS_IN_FLIGHT = Gauge("assayer_http_requests_in_flight", "Requests in progress.", multiprocess_mode="livesum")


@dataclass
class RequestRecord:
    """The fields logged for a request."""

    request_id: str
    tenant: str | None = None
    key: str | None = None
    jobs: list[str] = field(default_factory=list)
    status: int | None = None


def get_request_record(scope: Scope) -> RequestRecord:
    record: RequestRecord = scope["assayer.request_record"]
    return record


async def send_problem(refusal: HttpProblem, scope: Scope, receive: Receive, send: Send) -> None:
    """Send a problem document as the response."""
    await refusal.to_response(scope["path"], get_request_record(scope).request_id)(scope, receive, send)


class RequestLogging:
    def __init__(self, app: ASGIApp, ids: IdGenerator) -> None:
        self._app = app
        self._ids = ids

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        requested_id = Headers(scope=scope).get("x-request-id", "")
        record = scope["assayer.request_record"] = RequestRecord(
            requested_id if _ACCEPTED_ID.fullmatch(requested_id) else self._ids("req")
        )

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = record.request_id
                headers["X-Content-Type-Options"] = "nosniff"
            await send(message)

        start = time.perf_counter()
        try:
            with log_context(request_id=record.request_id), REQUESTS_IN_FLIGHT.track_inprogress():
                await self._run_application(scope, receive, send_with_id)
        finally:
            _log_request(scope, record, time.perf_counter() - start)

    async def _run_application(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application. Exceptions become problem documents. If the response has already started, they are
        re-raised, which closes the connection."""
        try:
            await self._app(scope, receive, send)
        except ClientDisconnect:
            record = get_request_record(scope)
            record.status = record.status or _CLIENT_CLOSED_REQUEST
        except Exception as error:  # the outermost layer of the service
            record = get_request_record(scope)
            _ERROR_LOG.exception("request %s failed", record.request_id)
            if record.status is not None:
                raise
            await send_problem(self._build_failure_problem(error, record), scope, receive, send)

    def _build_failure_problem(self, error: Exception, record: RequestRecord) -> HttpProblem:
        if isinstance(error, StorageError):
            return build_database_problem()
        reason = error.reason if isinstance(error, AssayerError) else "a defect in assayer"
        return HttpProblem(
            "internal-error",
            f"Cause: {reason}. Your request is not at fault. Quote {record.request_id} when you report the problem.",
        )


def build_database_problem() -> HttpProblem:
    """Return the problem for an unreachable database. The database's error message is only logged, because it contains
    host names."""
    return HttpProblem(
        "unavailable",
        "The database is unavailable. Accepted jobs are not lost. Try again after the number of "
        "seconds in Retry-After.",
    )


def _log_request(scope: Scope, record: RequestRecord, seconds: float) -> None:
    """Count the request in the metrics, and log the caller and the route, but no content."""
    route = getattr(scope.get("route"), "path_format", "none")
    method = scope["method"] if scope["method"] in _METHODS else "other"
    REQUESTS.labels(method, route, str(record.status or 0)).inc()
    REQUEST_SECONDS.labels(method, route).observe(seconds)
    line = {
        "request_id": record.request_id,
        "method": method,
        "route": route,
        "status": record.status,
        "milliseconds": round(seconds * 1000, 1),
        "tenant": record.tenant,
        "key": record.key,
        "id": scope.get("path_params", {}).get("id"),
        "jobs": record.jobs,
    }
    fields = {name: value for name, value in line.items() if value not in (None, [])}
    _LOG.info("%s %s: %s", method, route, record.status, extra={"told": fields})
