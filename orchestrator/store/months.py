"""Tables that are kept in months, the ledger and the events of jobs: old months are dropped, not deleted row by row."""

import datetime as dt
from collections.abc import Mapping

import asyncpg

from orchestrator.settings import RetentionSettings
from orchestrator.store.database import Connection, Database
from orchestrator.store.migrator import LOCK_SECONDS, add_coming_months

__all__ = ["PgMonths"]

# Who asks which rows of old months are still needed. Erasing an evaluation finds its answers by the ledger, and an
# evaluation that goes on is charged by it. Events are history once their job has ended.
_NEEDED: Mapping[str, str] = {
    "ledger": "SELECT EXISTS (SELECT FROM jobs WHERE created_at < $1)",
    "events": "SELECT EXISTS (SELECT FROM jobs WHERE created_at < $1 AND state IN ('queued', 'running'))",
}

_PARTS = r"""
    SELECT inhrelid::regclass::text AS name, ends
    FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid CROSS JOIN LATERAL (
        SELECT substring(pg_get_expr(relpartbound, inhrelid) FROM 'TO \(''([^'']+)''\)')::timestamptz AS ends
    ) AS bounds
    WHERE inhparent = $1::text::regclass AND ends <= $2 ORDER BY ends
"""


class PgMonths:
    def __init__(self, database: Database, settings: RetentionSettings) -> None:
        self._database = database
        self._kept = {"ledger": settings.ledger_months, "events": settings.event_months}

    async def tend(self, now: dt.datetime) -> list[str]:
        """Makes the coming months, and drops those past their retention of which nothing is needed any more. Returns
        the names of the tables that went."""
        await self._database.run(add_coming_months)
        dropped: list[str] = []
        for table, months in self._kept.items():
            if months is None:
                continue
            for row in await self._database.fetch(_PARTS, table, _months_before(now, months)):
                if not await self._drop(table, row["name"], row["ends"]):
                    break
                dropped.append(row["name"])
        return dropped

    async def _drop(self, table: str, part: str, ends: dt.datetime) -> bool:
        """False where it is needed, or in use for so long that others would have to wait."""

        async def work(connection: Connection) -> bool:
            if await connection.fetchval(_NEEDED[table], ends):
                return False
            try:
                async with connection.transaction():
                    await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
                    await connection.execute(f"DROP TABLE IF EXISTS {part}")
            except asyncpg.LockNotAvailableError:
                return False
            return True

        return await self._database.run(work)


def _months_before(now: dt.datetime, months: int) -> dt.datetime:
    """The beginning of the month that is so many before the current one."""
    utc = now.astimezone(dt.UTC)
    years, month = divmod(utc.month - 1 - months, 12)
    return dt.datetime(utc.year + years, month + 1, 1, tzinfo=dt.UTC)
