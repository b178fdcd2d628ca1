"""Requests to a remote source with their context; responses, recorded in the journal and parsed."""

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
    """Owner of a request, and the time for which the request can wait to be sent."""

    owner: str
    """Evaluation id, which identifies the owner. Owners take turns at a source."""
    patience: float
    """Maximum seconds until the last attempt can begin, including turns, failures and pauses. After that, or at once if
    no turn can come in time, SourceBusy is raised. The last response can take as long as the source's settings allow.
    """


@dataclass(frozen=True)
class SourceRequest:
    """Request to a source. Its entire content can be cached, shared and logged, because keys and e-mail addresses are
    added later, by the gateway."""

    source: str
    """Source whose limits, key, address and response lifetime apply: `semantic_scholar`, `arxiv`, …"""
    operation: Operation
    path: str
    """Path relative to the source's base URL, without a leading slash."""
    params: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    """JSON body; if set, the request is a POST."""
    lifetime: dt.timedelta | None = None
    """Time for which the response stays fresh; None means the source's default."""
    max_bytes: int = 16 * 2**20


class SourceResponse(NamedTuple):
    status: Literal[200, 404]
    """Status of the response. 404 means that the source does not know the requested item; it is cached like any
    other response."""
    body: bytes
    fetched_at: dt.datetime
    cached: bool
    """True if the response came from the shared cache or from another caller's identical request in flight."""


class SourceFetcher(Protocol):
    """Interface of `workers.outbound.source_gateway.SourceGateway`, in this process or another."""

    async def fetch(self, request: SourceRequest, context: RequestContext) -> SourceResponse:
        """Fetch a response. Raises SourceUnavailable, SourceBusy or SourceRefused, and StorageError when the
        cache's database is unreachable."""
        ...


@dataclass(frozen=True)
class JournalledFetcher:
    """Fetcher that counts responses in one run's journal. Result counts and failures are recorded by the callers that
    interpret the responses."""

    fetcher: SourceFetcher
    journal: Journal
    purpose: Operation | None = None
    """Operation recorded in the journal for all requests, regardless of the operation that the source itself uses; None
    records the latter."""

    async def fetch(self, request: SourceRequest, context: RequestContext) -> SourceResponse:
        response = await self.fetcher.fetch(request, context)
        operation = self.purpose or request.operation
        self.journal.record_use(request.source, operation, requests=1, cached=int(response.cached))
        return response


def out_of_time(source: str, patience: float) -> SourceBusy:
    return SourceBusy(
        f"{source} gave no answer in the {patience:.0f} s that this evaluation waits.",
        "Evaluate fewer ideas at once, or give them more time.",
    )


_NO_CACHED_ANSWER = dt.timedelta(microseconds=1)
"""Freshness that no cached response satisfies."""


async def fetch_parsed(
    remote: SourceFetcher, request: SourceRequest, context: RequestContext, parse: Callable[[SourceResponse], T]
) -> T:
    """Return the result of `parse` for the response, requesting the response again if it is malformed. Raises
    SourceError, in particular SourceMalformed if the second response is no better.

    The second response replaces the first in the shared cache, so that the unreadable response is not served for the
    whole cache lifetime."""
    try:
        return parse(await remote.fetch(request, context))
    except SourceMalformed:
        return parse(await remote.fetch(replace(request, lifetime=_NO_CACHED_ANSWER), context))


async def fetch_json(
    remote: SourceFetcher, request: SourceRequest, context: RequestContext, shape: type[S]
) -> S | None:
    """Return the parsed JSON response as `fetch_parsed` does, or None if the source does not know the requested
    item."""
    return await fetch_parsed(
        remote,
        request,
        context,
        lambda response: None if response.status == 404 else parse_json(response, shape, request.source),
    )


def parse_json(response: SourceResponse, shape: type[S], source: str) -> S:
    """Parse the response. Raises SourceMalformed, which is counted in the source's metrics, as are entries that are
    left out."""
    try:
        return shape.model_validate_json(response.body, context=source)
    except ValidationError as error:
        PARSE_FAILURES.labels(source, "answer").inc()
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise SourceMalformed(
            f"The answer of {source} cannot be read{f' at {place}' if place else ''}: {first['msg']}.",
            "Check that its base URL is the API's; if it is, the API has changed.",
        ) from None


def malformed_response(source: str, message: str, hint: str) -> SourceMalformed:
    PARSE_FAILURES.labels(source, "answer").inc()
    return SourceMalformed(message, hint)
