"""Harvests take turns with the service: it asks Semantic Scholar and arXiv too, whose limits hold for both together."""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Literal

from assayer.errors import StorageError
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.postgres import postmaster
from cluster.settings import Settings
from orchestrator.store import Database, PgRateLimits
from workers.remote.rate_limit import RateLimits, SharedRateLimit
from workers.remote.shared_pace import SharedPace
from workers.remote.transport import SourceEndpoint

__all__ = ["SERVICE_ADDRESSES", "SharedSource", "open_shared_turns"]

_LOG = logging.getLogger(__name__)

_SEND_WITHIN = 10.0

SharedSource = Literal["semantic_scholar", "arxiv"]

SERVICE_ADDRESSES: dict[SharedSource, str] = {
    "semantic_scholar": "https://api.semanticscholar.org",
    "arxiv": "https://export.arxiv.org",
}
"""Where the service asks, by which its limits are named: arXiv's hold for all of its addresses together."""


@asynccontextmanager
async def open_shared_turns(settings: Settings, source: SharedSource) -> AsyncIterator[SharedPace | None]:
    """In the database that is configured, or that runs in the data directory; None where there is neither, and where it
    cannot be reached, which is logged."""
    async with AsyncExitStack() as stack:
        try:
            database = await _database(settings, stack)
            if database is not None:
                await PgRateLimits(database).read(source)  # tables that are not there are found out now
        except StorageError as error:
            _LOG.warning("this harvest keeps its pace by itself, and the service its own: %s", error)
            database = None
        yield None if database is None else _pace(settings, source, database)


async def _database(settings: Settings, stack: AsyncExitStack) -> Database | None:
    """Tables are made and migrated by who keeps something in them."""
    if settings.database.url:
        return await stack.enter_async_context(Database(settings.database))
    if postmaster.find(settings.home / "postgres" / "pgdata") is None:
        return None
    return await stack.enter_async_context(open_database(settings))


def _pace(settings: Settings, source: SharedSource, database: Database) -> SharedPace:
    """In the bucket from which the service takes its turns."""
    asked, clock = settings.sources[source], SystemClock()
    transfers = settings.ingest.transfers
    limits = RateLimits(
        spacing=max(asked.spacing_seconds, transfers.spacing),
        transit=asked.transit_seconds,
        connections=1,
        daily_budget=None,
        send_within=_SEND_WITHIN,
        answer_within=transfers.answer_seconds + 1.0,
    )
    endpoint = SourceEndpoint(source, asked, asked.base_url or SERVICE_ADDRESSES[source])
    return SharedPace(SharedRateLimit(PgRateLimits(database), endpoint.bucket, limits, clock), clock)
