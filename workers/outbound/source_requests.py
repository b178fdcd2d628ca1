"""Requests to a remote source with their context, and the responses."""

import datetime as dt
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from assayer.errors import SourceBusy
from assayer.models import Operation
from assayer.run.journal import Journal
from workers.outbound.single_flight import Waiter


class RequestContext(NamedTuple):
    """Owner of a request, and how long the request may wait to be sent."""

    owner: str
    """Evaluation id. Owners take turns at a source."""
    patience: float
    """Maximum seconds until the last attempt may begin, including turns, failures and pauses. Beyond that
    SourceBusy is raised, and at once if no turn can come in time. The last response may take as long as the
    source's settings allow."""


@dataclass(frozen=True)
class SourceRequest:
    """A request to a source. All its content may be cached, shared and logged: the gateway adds keys and e-mail
    addresses."""

    source: str
    """Source whose limits, key, address and response lifetime apply: `semantic_scholar`, `arxiv`, …"""
    operation: Operation
    path: str
    """Path relative to the source's base URL, without a leading slash."""
    params: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    """JSON; makes it a POST."""
    lifetime: dt.timedelta | None = None
    """Time for which the response stays fresh; None: the source's default."""
    max_bytes: int = 16 * 2**20


class SourceResponse(NamedTuple):
    status: Literal[200, 404]
    """Status of the response. 404 means that the source does not know the requested item; it is cached like any
    other response."""
    body: bytes
    fetched_at: dt.datetime
    cached: bool
    """Whether the response came from the shared cache or from another caller's identical request in flight."""


class SourceFetcher(Protocol):
    """Interface of `workers.outbound.source_gateway.SourceGateway`, in this process or another."""

    async def fetch(self, request: SourceRequest, context: RequestContext) -> SourceResponse:
        """Fetch a response. Raises SourceUnavailable, SourceBusy or SourceRefused, and StorageError when the
        cache's database is unreachable."""
        ...


@dataclass(frozen=True)
class JournalledFetcher:
    """Fetcher that counts responses in one run's journal. Result counts and failures are recorded by the callers
    that read the responses."""

    fetcher: SourceFetcher
    journal: Journal
    purpose: Operation | None = None
    """Operation recorded in the journal for all requests, whatever the source's own operation is."""

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


class RequestWaiter(Waiter[SourceResponse]):
    """One caller's wait for a response."""

    def __init__(self, context: RequestContext, since: float) -> None:
        super().__init__()
        self.owner = context.owner
        self.patience = context.patience
        self.deadline = since + context.patience
        """Time until which the last turn must come; failed attempts do not extend it."""
