"""Leases: the right to work on a job, given out fairly, kept by heartbeats, fenced by tokens."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from assayer.models import EvaluationId
from orchestrator.jobs.fairness import Places
from orchestrator.jobs.models import JobState, JobVerdict, Lease
from orchestrator.jobs.settings import QueueSettings
from orchestrator.jobs.states import Cause, Event, Expired, GivenBack, Standing, Tries, gave_up, step
from orchestrator.store.database import Connection, Database
from orchestrator.store.documents import document, plain
from orchestrator.store.endings import PAID, ended
from orchestrator.store.job_rows import json_document
from orchestrator.store.leasing import give_out, waiting
from orchestrator.store.telling import QUEUED, News, event, finished, tell

__all__ = ["PgLeases"]

_EXPIRED_AT_ONCE = 100

_BEAT = """
    UPDATE jobs SET leased_until = statement_timestamp() + $2 * interval '1 second' WHERE lease = ANY($1)
    RETURNING lease
"""

_BEGIN = "UPDATE jobs SET run_id = $3, pinned = $4 WHERE id = $1 AND lease = $2 RETURNING id"

_FINISH = ended(
    "state = $3, last_lease = $2, run_id = coalesce($4, run_id), result = $5, problem = $6, "
    f"cost_usd = coalesce($7::float8, {PAID}), prompt_tokens = $8",
    "id = $1 AND lease = $2",
)
_FINISHED = "SELECT true FROM jobs WHERE id = $1 AND last_lease = $2 AND state = $3"

_STANDING = "id, state, failures, losses, outages, reasons, worker"
_MINE = f"SELECT {_STANDING} FROM jobs WHERE id = $1 AND lease = $2 FOR UPDATE"  # noqa: S608 - of constants
_GIVEN_BACK = "SELECT state FROM jobs WHERE id = $1 AND last_lease = $2 AND state IN ('queued', 'dead')"
_SILENT = f"""
    SELECT {_STANDING} FROM jobs WHERE state = 'running' AND leased_until < statement_timestamp()
    ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
"""  # noqa: S608 - put together from constants

_REQUEUE = """
    WITH given_back AS (
        UPDATE jobs
        SET state = 'queued', lease = NULL, leased_until = NULL, worker = NULL, reserved_usd = 0, last_lease = $2,
            failures = $3, losses = $4, outages = $5, reasons = $6, last_event = last_event + 1,
            ready_at = CASE WHEN $7 > 0 THEN statement_timestamp() + $7 * interval '1 second' ELSE ready_at END
        WHERE id = $1
        RETURNING id, last_event
    ), told AS (
        INSERT INTO events (job, number, kind, data)
        SELECT id, last_event, 'retried', jsonb_build_object('reason', $8::text, 'after_seconds', $7::float8)
        FROM given_back
    )
    SELECT id FROM given_back
"""

_BURY = ended(
    "state = 'dead', last_lease = $2, failures = $3, losses = $4, outages = $5, reasons = $6, problem = $7, "
    f"cost_usd = {PAID}",
    "id = $1",
)


class PgLeases:
    """Any number of dispatchers and workers at once; a writer whose lease is somebody else's changes nothing."""

    def __init__(self, database: Database, settings: QueueSettings, draw: Callable[[], UUID] = uuid4) -> None:
        self._database = database
        self._settings = settings
        self._draw = draw
        self._most = Tries(settings.max_failures, settings.max_losses, settings.max_outages)

    async def lease(self, worker: str, places: Places) -> list[Lease]:
        """At most one a free place, interactive ones first. Jobs whose limit is above their tenant's monthly budget, or
        that cannot be read, end here, explained; those for which the month has too little left wait."""
        if places.free <= 0 or not await self._database.run(waiting):
            return []
        tokens = [self._draw() for _ in range(places.free)]

        async def work(connection: Connection) -> list[Lease]:
            given = await give_out(connection, worker, places, tokens, self._settings)
            begun = [event(lease.job) for lease in given.leases]
            await tell(connection, [*begun, *(news for job in given.refused for news in finished(job))])
            return given.leases

        return await self._database.run(work)

    async def beat(self, tokens: Sequence[UUID]) -> set[UUID]:
        """Those that still hold."""
        rows = await self._database.fetch(_BEAT, sorted(tokens), self._settings.lease_seconds)
        return {row["lease"] for row in rows}

    async def begin(self, lease: Lease, run_id: EvaluationId, pinned: Mapping[str, Any]) -> bool:
        """Records what determines the result, before anything is paid for it."""
        row = await self._database.fetch_one(_BEGIN, lease.job, lease.token, run_id, json_document(pinned))
        return row is not None

    async def finish(self, lease: Lease, verdict: JobVerdict) -> bool:
        """Without a cost in the verdict, the ledger's sum over the run is taken."""
        problem = None if verdict.problem is None else document(verdict.problem)
        values = (verdict.run_id, json_document(verdict.result), problem, verdict.cost_usd, verdict.prompt_tokens)

        async def work(connection: Connection) -> bool:
            who = (lease.job, lease.token, verdict.state)
            # The second: written before, by a try whose answer was lost.
            written = await connection.fetch(_FINISH, *who, *values) or await connection.fetch(_FINISHED, *who)
            if written:
                await tell(connection, finished(lease.job))
            return bool(written)

        return await self._database.run(work)

    async def give_back(self, lease: Lease, why: str, *, blame: bool, after_seconds: float = 0) -> JobState | None:
        """Back to the queue, or dead when its tries are used up; None when the lease no longer holds.

        With `blame` it counts as a failure of the job. Otherwise, with a pause, as an outage of something that every
        job needs; without one as the loss of a worker, of which a job has few, too: it may be what kills them.
        """
        cause: Cause = "failure" if blame else "outage" if after_seconds > 0 else "loss"

        async def work(connection: Connection) -> JobState | None:
            async with connection.transaction():
                row = await connection.fetchrow(_MINE, lease.job, lease.token)
                state: JobState | None
                if row is None:
                    state = await connection.fetchval(_GIVEN_BACK, lease.job, lease.token)
                else:
                    state = await self._take_back(connection, row, GivenBack(why, cause), lease.token, after_seconds)
            if state is not None:
                await tell(connection, _taken_back(lease.job, state))
            return state

        return await self._database.run(work)

    async def expire(self) -> int:
        """Takes back what nobody has beaten for too long; as many as were taken back."""

        async def work(connection: Connection) -> int:
            async with connection.transaction():
                rows = await connection.fetch(_SILENT, _EXPIRED_AT_ONCE)
                states = [
                    await self._take_back(connection, row, Expired(row["worker"] or "unknown"), None, 0) for row in rows
                ]
            for row, state in zip(rows, states, strict=True):
                await tell(connection, _taken_back(row["id"], state))
            return len(rows)

        taken = 0
        while some := await self._database.run(work):
            taken += some
        return taken

    async def _take_back(
        self, connection: Connection, row: asyncpg.Record, what: Event, token: UUID | None, after_seconds: float
    ) -> JobState:
        before = Standing(row["state"], row["failures"], row["losses"], row["outages"], tuple(row["reasons"]))
        after = step(before, what, self._most)
        assert after is not None, "the row is locked and running"  # noqa: S101
        reasons = [plain(why) for why in after.reasons]
        counts = (row["id"], token, after.failures, after.losses, after.outages, reasons)
        if after.state == "dead":
            await connection.fetch(_BURY, *counts, document(gave_up(after)))
        else:
            await connection.fetch(_REQUEUE, *counts, float(after_seconds), reasons[-1])
        return after.state


def _taken_back(job: str, state: JobState) -> tuple[News, News]:
    return finished(job) if state == "dead" else (QUEUED, event(job))
