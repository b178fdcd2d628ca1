"""Requests to remote sources, and functions that fetch, record and parse the responses."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from assayer.errors import SourceBusy, SourceMalformed
from assayer.models import Operation
from assayer.run.journal import Journal
from workers.outbound.metrics import PARSE_FAILURES

T = TypeVar("T")
S = TypeVar("S", bound=BaseModel)


class RequestContext(NamedTuple):
    """Owner of a request, and how long it may wait to be sent."""

    owner: str
    """Evaluation id, which identifies the owner. Owners take turns at a source."""
    patience: float
    """Maximum seconds until the last attempt starts, including queueing, failures and pauses. SourceBusy is raised when
    they have passed or, if the request cannot start in time, immediately. The last response may take as long as the
    source's settings allow."""


@dataclass(frozen=True)
class SourceRequest:
    """Request to a source. All of it can be cached, shared and logged, because the gateway adds keys and email
    addresses later."""

    source: str
    """Source whose limits, key, URL and response lifetime apply: `semantic_scholar`, `arxiv`, …"""
    operation: Operation
    path: str
    """Path relative to the source's base URL, without a leading slash."""
    params: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    """JSON body; if set, the request is a POST."""
    lifetime: dt.timedelta | None = None
    """Period for which the response stays fresh; None means the source's default."""
    max_bytes: int = 16 * 2**20


class SourceResponse(NamedTuple):
    status: Literal[200, 404]
    """HTTP status of the response. 404 means that the source does not know the requested item; it is cached like any
    other response."""
    body: bytes
    fetched_at: dt.datetime
    cached: bool
    """Whether the response came from the shared cache, or from another caller's identical request in flight."""


class SourceFetcher(Protocol):
    """Fetcher of responses, implemented by `workers.outbound.source_gateway.SourceGateway`."""

    async def fetch(self, request: SourceRequest, context: RequestContext) -> SourceResponse:
        """Fetch a response. Raises SourceUnavailable, SourceBusy or SourceRefused if the source gives none, and
        StorageError if the cache's database is unreachable."""
        ...


@dataclass(frozen=True)
class JournalledFetcher:
    """Fetcher that counts requests in one run's journal. Its callers record numbers of results and failures, because
    they parse the responses."""

    fetcher: SourceFetcher
    journal: Journal
    purpose: Operation | None = None
    """Operation under which the journal records all requests; None records each request's own operation."""

    async def fetch(self, request: SourceRequest, context: RequestContext) -> SourceResponse:
        response = await self.fetcher.fetch(request, context)
        operation = self.purpose or request.operation
        self.journal.record_use(request.source, operation, requests=1, cached=int(response.cached))
        return response


def build_out_of_time_error(source: str, max_seconds: float) -> SourceBusy:
    return SourceBusy(
        f"{source} did not answer within {max_seconds:.0f} s, the limit of this evaluation.",
        "Evaluate fewer ideas at once, or allow more time for each.",
    )


_NO_CACHED_ANSWER = dt.timedelta(microseconds=1)
"""Freshness that no cached response satisfies."""


async def fetch_parsed(
    remote: SourceFetcher, request: SourceRequest, context: RequestContext, parse: Callable[[SourceResponse], T]
) -> T:
    """Fetch a response and return the result of `parse`. If it is malformed, fetch it once more, bypassing the cache.

    The second response replaces the first in the shared cache, so that the malformed one is not served for the whole
    cache lifetime. Raises SourceMalformed if the second response is malformed too, or another SourceError if a request
    fails."""
    try:
        return parse(await remote.fetch(request, context))
    except SourceMalformed:
        return parse(await remote.fetch(replace(request, lifetime=_NO_CACHED_ANSWER), context))


async def fetch_json(
    remote: SourceFetcher, request: SourceRequest, context: RequestContext, model: type[S]
) -> S | None:
    """Fetch and parse a JSON response as `fetch_parsed` does. Returns None if the source does not know the requested
    item."""
    return await fetch_parsed(
        remote,
        request,
        context,
        lambda response: None if response.status == 404 else parse_json(response, model, request.source),
    )


def parse_json(response: SourceResponse, model: type[S], source: str) -> S:
    """Parse a JSON response, skipping malformed entries. The source's metrics count these, and malformed responses.
    Raises SourceMalformed if the response as a whole is malformed."""
    try:
        return model.model_validate_json(response.body, context=source)
    except ValidationError as error:
        PARSE_FAILURES.labels(source, "answer").inc()
        first_error = error.errors(include_url=False, include_context=False, include_input=False)[0]
        location = ".".join(str(part) for part in first_error["loc"])
        raise SourceMalformed(
            f"The response from {source} cannot be parsed"
            f"{f' at {location}' if location else ''}: {first_error['msg']}.",
            "Check its base URL. If that is correct, the API may have changed: update assayer or report the error.",
        ) from None


def build_malformed_error(source: str, message: str, hint: str) -> SourceMalformed:
    PARSE_FAILURES.labels(source, "answer").inc()
    return SourceMalformed(message, hint)
