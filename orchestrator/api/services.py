"""All that the API stands on; put together in the composition root, handed to `application`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from assayer.ports import Clock
from orchestrator.api.identifiers import Identifiers
from orchestrator.api.limits import Streams
from orchestrator.api.resources import Check
from orchestrator.api.searching import SearchedCorpora
from orchestrator.api.settings import ApiSettings
from orchestrator.api.uploads import Uploads
from orchestrator.batches.settings import BatchSettings
from orchestrator.store import (
    Listener,
    PgCensus,
    PgEvents,
    PgJobs,
    PgKeys,
    PgLedger,
    PgTenants,
    PgUsage,
)
from orchestrator.store.webhooks import PgWebhooks
from orchestrator.webhooks.sealing import Seal

__all__ = ["LargeUploads", "Offered", "OpenStreams", "Services"]


@dataclass(frozen=True)
class Services:
    settings: ApiSettings
    clock: Clock
    ids: Identifiers
    jobs: PgJobs
    events: PgEvents
    ledger: PgLedger
    tenants: PgTenants
    keys: PgKeys
    usage: PgUsage
    census: PgCensus
    listener: Listener
    """Opened and closed by whoever made it."""
    methods: Mapping[str, str]
    """What each method is, in one line, by name."""
    corpora: SearchedCorpora | None
    """None: this process has none, and searching it is answered 503."""
    ready: Callable[[], Awaitable[Sequence[Check]]]
    """Looks at everything that evaluations need; must not raise."""
    webhooks: PgWebhooks
    seal: Seal
    check_address: Callable[[str], None]
    """Raises AddressRefused for what no webhook may be."""
    batches: BatchSettings


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


async def _streams(request: Request) -> Streams:
    streams: Streams = request.app.state.streams
    return streams


async def _uploads(request: Request) -> Uploads:
    uploads: Uploads = request.app.state.uploads
    return uploads


Offered = Annotated[Services, Depends(_services)]
OpenStreams = Annotated[Streams, Depends(_streams)]
LargeUploads = Annotated[Uploads, Depends(_uploads)]
