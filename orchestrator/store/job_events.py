"""Storage of job events. An event that reports a state change is written by the statement that makes the change."""

import uuid
from collections.abc import Mapping
from typing import Any

from orchestrator.jobs.models import EventKind, JobEvent, JobId
from orchestrator.store.database import Connection, Store
from orchestrator.store.json_columns import mapping_to_json_column
from orchestrator.store.notifications import make_event_notification, notify

# The job's row is locked first, so numbers are assigned one at a time. If a lost attempt already stored the event, it
# is among the latest.
_INSERT_EVENT = """
    WITH numbered AS (
        UPDATE jobs SET last_event = last_event + 1
        WHERE id = $1 AND state IN ('queued', 'running') AND ($5::uuid IS NULL OR lease = $5)
          AND NOT EXISTS (
              SELECT FROM events WHERE job = $1 AND number > jobs.last_event - 20 AND events.id = $2
          )
        RETURNING last_event
    ), added AS (
        INSERT INTO events (job, number, id, kind, data) SELECT $1, last_event, $2, $3, $4::jsonb FROM numbered
    )
    SELECT last_event FROM numbered
"""

_SELECT_NUMBER = "SELECT number FROM events WHERE job = $1 AND id = $2"

_SELECT_AFTER = "SELECT job, number, kind, data, at FROM events WHERE job = $1 AND number > $2 ORDER BY number LIMIT $3"

_SELECT_LATEST = (
    "SELECT job, number, kind, data, at FROM events WHERE job = $1 AND kind = $2 ORDER BY number DESC LIMIT 1"
)

_PAGE_EVENTS = 1_000
"""Number of events read at once."""


class PgEvents(Store):
    """Store of job events. Tenants are not checked: use `PgJobs` first to check that the job belongs to the caller."""

    async def append(
        self, job: JobId, kind: EventKind, data: Mapping[str, Any], lease: uuid.UUID | None = None
    ) -> int | None:
        """Append an event and return its number. Return None if the job has ended, no longer exists, or is no longer
        held under `lease`."""
        event_id, document = uuid.uuid4(), mapping_to_json_column(data)

        async def insert_event(connection: Connection) -> int | None:
            number: int | None = await connection.fetchval(_INSERT_EVENT, job, event_id, kind, document, lease)
            if number is None:
                number = await connection.fetchval(_SELECT_NUMBER, job, event_id)
            if number is not None:
                await notify(connection, [make_event_notification(job)])
            return number

        return await self._database.run(insert_event)

    async def list_after(self, job: JobId, number: int, limit: int = 100) -> list[JobEvent]:
        """Return the events that follow event `number`, in order."""
        return await self._database.select(JobEvent, _SELECT_AFTER, job, number, limit)

    async def list_all(self, job: JobId) -> list[JobEvent]:
        """Return all events of the job, in order."""
        events: list[JobEvent] = []
        while page := await self.list_after(job, events[-1].number if events else 0, _PAGE_EVENTS):
            events += page
        return events

    async def get_latest(self, job: JobId, kind: EventKind) -> JobEvent | None:
        return await self._database.select_one(JobEvent, _SELECT_LATEST, job, kind)
