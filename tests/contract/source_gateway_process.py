"""A process that asks a source through a source gateway of its own, on a database that it shares with others.

    python -m tests.contract.source_gateway_process DATABASE_URL NAME SETTINGS PATH…

Says `ready`, waits for a line, asks for every path at once, and prints one line an answer: `PATH OUTCOME`, where the
outcome is `asked`, `cached` or the name of an error.
"""

import asyncio
import sys

from pydantic import SecretStr

from assayer.errors import SourceError
from cluster.clock import SystemClock
from orchestrator.store import Database, DatabaseSettings, PgResponseCache, PgSharedState
from workers.outbound.source_gateway import SourceGateway
from workers.outbound.source_requests import RequestContext, SourceRequest
from workers.outbound.source_settings import SourceSettings

CLAIM_SECONDS = 1.5


async def ask(url: str, name: str, settings: SourceSettings, paths: list[str]) -> None:
    clock = SystemClock()
    async with (
        Database(DatabaseSettings(url=SecretStr(url))) as database,
        SourceGateway(
            {"small": settings}, PgResponseCache(database), PgSharedState(database), clock, claim_seconds=CLAIM_SECONDS
        ) as gateway,
    ):

        async def one(path: str) -> None:
            try:
                reply = await gateway.fetch(SourceRequest("small", "search", path), RequestContext(name, 60.0))
                outcome = "cached" if reply.cached else "asked"
            except SourceError as error:
                outcome = type(error).__name__
            print(path, outcome, flush=True)

        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        await asyncio.gather(*(one(path) for path in paths))


if __name__ == "__main__":
    asyncio.run(ask(sys.argv[1], sys.argv[2], SourceSettings.model_validate_json(sys.argv[3]), sys.argv[4:]))
