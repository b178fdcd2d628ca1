"""A request to a remote source, on whose behalf it is made, and its response."""

import datetime as dt
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from assayer.errors import SourceBusy
from assayer.models import Operation
from assayer.run.journal import Journal
from workers.concurrency.single_flight import InFlight, Waiter

__all__ = [
    "JournalledFetcher",
    "RequestContext",
    "RequestWaiter",
    "SourceFetcher",
    "SourceRequest",
    "SourceResponse",
    "out_of_time",
]


class RequestContext(NamedTuple):
    """On whose behalf a request is made, and how long it may wait for its turn."""

    owner: str
    """Evaluation id; owners take turns at a source."""
    patience: float
    """Seconds in which an attempt may still begin, whatever went before: turns, failures, pauses. Beyond them
    SourceBusy, and at once where no turn can come in time. The last answer may take what the source's settings
    allow."""


@dataclass(frozen=True)
class SourceRequest:
    """One request. All of it may be cached, shared and logged: the gateway adds keys and e-mail addresses."""

    source: str
    """Whose limits, key, address and lifetime of responses apply: `semantic_scholar`, `arxiv`, …"""
    operation: Operation
    path: str
    """Below the source's base URL, without a leading slash."""
    params: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    """JSON; makes it a POST."""
    lifetime: dt.timedelta | None = None
    """How long the response stays fresh; the source's default when not given."""
    max_bytes: int = 16 * 2**20


class SourceResponse(NamedTuple):
    status: Literal[200, 404]
    """404 is a response: the source does not know what was asked for. It is cached like any other."""
    body: bytes
    fetched_at: dt.datetime
    cached: bool
    """Whether it came from the shared cache, or from the same request of somebody else in flight."""


class SourceFetcher(Protocol):
    """`workers.remote.gateway.SourceGateway`, here or in another process."""

    async def fetch(self, request: SourceRequest, context: RequestContext) -> SourceResponse:
        """Raises SourceUnavailable, SourceBusy or SourceRefused; StorageError when the cache's database is gone."""
        ...


@dataclass(frozen=True)
class JournalledFetcher:
    """Counts responses in one run's journal. How much they held, and failures, are recorded by whoever reads them."""

    fetcher: SourceFetcher
    journal: Journal
    purpose: Operation | None = None
    """What the journal calls all of them, whatever the source's own operation is."""

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

    call: "InFlight[RequestWaiter]"
    """Set once it has joined."""

    def __init__(self, context: RequestContext, price: int, since: float) -> None:
        super().__init__()
        self.owner = context.owner
        self.patience = context.patience
        self.price = price
        """Units of the source's daily budget that the request takes."""
        self.since = since
        self.deadline = since + context.patience
        """Until when the last turn must have come: no attempt that failed puts it off."""
