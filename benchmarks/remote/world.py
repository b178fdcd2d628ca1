"""What both measurements need: a database of its own, a clock, a source gateway on them."""

import datetime as dt
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from cluster.postgres import EmbeddedPostgres
from orchestrator.store import Database, DatabaseSettings, PgRateLimits, PgResponseCache
from workers.remote import SourceSettings
from workers.remote.gateway import SourceGateway
from workers.remote.settings import ArxivSettings, SemanticScholarSettings

__all__ = ["SystemClock", "database", "open_database", "settings", "source_gateway"]


def settings(source: str, base_url: str | None = None) -> SourceSettings:
    """As they are by default, for one who has a key."""
    if source == "arxiv":
        return ArxivSettings(base_url=base_url)
    return SemanticScholarSettings(base_url=base_url, api_key=SecretStr("benchmark"))


class SystemClock:
    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        return time.monotonic()


@asynccontextmanager
async def database() -> AsyncIterator[tuple[str, Database]]:
    """A durable PostgreSQL with empty tables, and its URL."""
    with tempfile.TemporaryDirectory(prefix="assayer-bench-") as folder:
        async with EmbeddedPostgres(Path(folder)) as server:
            url = await server.ensure()
            async with open_database(url) as opened:
                await opened.migrate()
                yield url, opened


def open_database(url: str) -> Database:
    return Database(DatabaseSettings(url=SecretStr(url)))


def source_gateway(sources: dict[str, SourceSettings], opened: Database) -> SourceGateway:
    return SourceGateway(sources, PgResponseCache(opened), PgRateLimits(opened), SystemClock())
