"""Making a thing and remembering what was answered to whoever asked for it, in one transaction."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from orchestrator.jobs.idempotency import Once, Replay
from orchestrator.jobs.models import TenantId
from orchestrator.store.database import Connection, Database
from orchestrator.store.submitting import answered_before

__all__ = ["done_once"]

T = TypeVar("T")


class _NothingMade(Exception):
    """Takes the record of the request back with it."""


async def done_once(
    database: Database, asker: TenantId, once: Once | None, work: Callable[[Connection], Awaitable[T | None]]
) -> T | Replay | None:
    """What the work made, or what the same request was answered before; None, and nothing remembered, when it made
    nothing. The work may be done twice. Raises KeyReused."""

    async def attempt(connection: Connection) -> T | Replay:
        async with connection.transaction():
            if once is not None and (before := await answered_before(connection, asker, once)):
                return before
            made = await work(connection)
            if made is None:
                raise _NothingMade
            return made

    try:
        return await database.run(attempt)
    except _NothingMade:
        return None
