"""Events of jobs. Those that go with a change of state are written by the statement that makes the change."""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.jobs.models import EventKind, JobEvent, JobId
from orchestrator.store import notifications
from orchestrator.store.database import Connection, Database
from orchestrator.store.json_columns import from_json_text, mapping_to_json_column
from orchestrator.store.notifications import notify
from orchestrator.store.rows import from_row

__all__ = ["PgEvents"]

# The row of the job is locked first, so numbers are given one at a time. A lost connection may have taken the
# same event through already: then it is among the latest.
_APPEND = """
    WITH numbered AS (
        UPDATE jobs SET last_event = last_event + 1
        WHERE id = $1 AND state IN ('queued', 'running') AND ($5::uuid IS NULL OR lease = $5)
          AND NOT EXISTS (
              SELECT FROM events WHERE job = $1 AND number > jobs.last_event - 20 AND events.id = $2
          )
        RETURNING last_event
    ), told AS (
        INSERT INTO events (job, number, id, kind, data) SELECT $1, last_event, $2, $3, $4::jsonb FROM numbered
    )
    SELECT last_event FROM numbered
"""

_KNOWN = "SELECT number FROM events WHERE job = $1 AND id = $2"

_AFTER = "SELECT job, number, kind, data, at FROM events WHERE job = $1 AND number > $2 ORDER BY number LIMIT $3"

_LATEST = "SELECT job, number, kind, data, at FROM events WHERE job = $1 AND kind = $2 ORDER BY number DESC LIMIT 1"


class PgEvents:
    """Does not check tenants: ask `PgJobs` first whether the job is the caller's."""

    def __init__(self, database: Database, draw: Callable[[], uuid.UUID] = uuid.uuid4) -> None:
        self._database = database
        self._draw = draw

    async def append(
        self, job: JobId, kind: EventKind, data: Mapping[str, Any], lease: uuid.UUID | None = None
    ) -> int | None:
        """The event's number; None when the job has ended or is gone, or when `lease` no longer holds."""
        event, document = self._draw(), mapping_to_json_column(data)

        async def work(connection: Connection) -> int | None:
            number: int | None = await connection.fetchval(_APPEND, job, event, kind, document, lease)
            if number is None:
                number = await connection.fetchval(_KNOWN, job, event)
            if number is not None:
                await notify(connection, [notifications.event_notification(job)])
            return number

        return await self._database.run(work)

    async def after(self, job: JobId, number: int, limit: int = 100) -> list[JobEvent]:
        """Those with greater numbers, in order."""
        rows = await self._database.fetch(_AFTER, job, number, limit)
        return [from_row(JobEvent, row, data=from_json_text(row["data"])) for row in rows]

    async def latest(self, job: JobId, kind: EventKind) -> JobEvent | None:
        row = await self._database.fetch_one(_LATEST, job, kind)
        return None if row is None else from_row(JobEvent, row, data=from_json_text(row["data"]))
