"""Rate limits shared by ingests and the service. Both query Semantic Scholar and arXiv, whose limits apply to the two
together."""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Literal

from assayer.errors import StorageError
from cluster.database import open_database
from cluster.postgres import postmaster
from cluster.settings import Settings
from orchestrator.store import Database, PgSharedState
from workers.outbound.source_pace import PaceLimits, Pacer
from workers.outbound.source_retries import SourceAddress

_LOG = logging.getLogger(__name__)

SharedSource = Literal["semantic_scholar", "arxiv"]

SERVICE_ADDRESSES: dict[SharedSource, str] = {
    "semantic_scholar": "https://api.semanticscholar.org",
    "arxiv": "https://export.arxiv.org",
}
"""Base URL at which the service queries each source, used as the key for its rate limit. arXiv's limit applies to all
arXiv hosts together."""


@asynccontextmanager
async def open_shared_pacer(settings: Settings, source: SharedSource) -> AsyncIterator[Pacer | None]:
    """Open the shared rate limit in the configured database, or in the one running in the data directory. Yields None
    if there is neither. If the database is unreachable, logs a warning and yields None."""
    async with AsyncExitStack() as stack:
        try:
            database = await _open_configured_database(settings, stack)
            if database is not None:
                # Fails if there are no tables.
                await PgSharedState(database).change(source, lambda text, _: (text, None))
        except StorageError as error:
            _LOG.warning("this ingest does not share rate limits with the service: %s", error)
            database = None
        if database is None:
            yield None
            return
        pacer = _build_pacer(settings, source, database)
        stack.push_async_callback(pacer.aclose)
        yield pacer


async def _open_configured_database(settings: Settings, stack: AsyncExitStack) -> Database | None:
    """Open the database without creating or migrating tables: the processes that store data in it do so."""
    if settings.database.url:
        return await stack.enter_async_context(Database(settings.database))
    if postmaster.find(settings.home / "postgres" / "pgdata") is None:
        return None
    return await stack.enter_async_context(open_database(settings))


def _build_pacer(settings: Settings, source: SharedSource, database: Database) -> Pacer:
    """Return a pacer that uses the same shared state as the service."""
    source_settings, transfers = settings.sources[source], settings.ingest.transfers
    spacing = max(source_settings.spacing_seconds, transfers.spacing)
    limits = PaceLimits(spacing, connections=1, answer_within=transfers.answer_seconds + 1.0)
    address = SourceAddress(source, source_settings, source_settings.base_url or SERVICE_ADDRESSES[source])
    return Pacer(PgSharedState(database), address.rate_limit_key, limits)
