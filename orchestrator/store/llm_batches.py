"""Language model requests waiting to be sent in a batch to a batch API, and the batches in flight."""

import datetime as dt
import uuid
from collections.abc import Collection, Sequence

from assayer.models.llm_batches import BatchCall, CollectedCall, GatherRules, LineResult, OutgoingBatch
from orchestrator.store.database import Connection, Database, Store, select_one
from orchestrator.store.json_columns import replace_nul

_INSERT_CALL = """
    INSERT INTO llm_batch_calls (endpoint, key, run_id, model, body, until, queued_at)
    VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp())
    ON CONFLICT (endpoint, key) DO UPDATE
    SET run_id = excluded.run_id, body = excluded.body, until = excluded.until, queued_at = excluded.queued_at,
        state = 'waiting', batch = NULL, answer = NULL, why = '', billed_to = NULL, ended_at = NULL, settled = false
    WHERE llm_batch_calls.settled AND llm_batch_calls.ended_at <= clock_timestamp() - $7::interval
"""
_SELECT_ENDED = """
    SELECT key FROM unnest($2::text[]) AS requested (key)
    WHERE NOT EXISTS (
        SELECT FROM llm_batch_calls AS calls
        WHERE calls.endpoint = $1 AND calls.key = requested.key AND calls.ended_at IS NULL
    )
"""
_SELECT_RESULT = "SELECT answer, why FROM llm_batch_calls WHERE endpoint = $1 AND key = $2 AND ended_at IS NOT NULL"
_BILL_CALLS = """
    UPDATE llm_batch_calls SET billed_to = $3
    WHERE endpoint = $1 AND key = ANY($2::text[]) AND coalesce(billed_to, $3) = $3
    RETURNING key
"""
_SETTLE_CALLS = """
    UPDATE llm_batch_calls SET settled = true, body = '', ended_at = clock_timestamp()
    WHERE endpoint = $1 AND key = ANY($2::text[]) AND ended_at IS NOT NULL
"""
_END_OVERDUE_CALLS = """
    UPDATE llm_batch_calls
    SET state = 'returned', why = 'its deadline passed before a batch was sent', ended_at = clock_timestamp()
    WHERE endpoint = $1 AND state = 'waiting' AND until <= clock_timestamp()
"""
_SELECT_DUE_MODEL = """
    SELECT model FROM llm_batch_calls WHERE endpoint = $1 AND state = 'waiting' GROUP BY model
    HAVING max(queued_at) <= clock_timestamp() - $2::interval OR min(queued_at) <= clock_timestamp() - $3::interval
        OR count(*) >= $4 OR sum(octet_length(body) + $6::integer) >= $5
    ORDER BY min(queued_at) LIMIT 1
"""
_CREATE_BATCH = """
    WITH waiting AS (
        SELECT key, until, row_number() OVER in_turn AS number,
               sum(octet_length(body) + $6::integer) OVER in_turn AS bytes
        FROM llm_batch_calls WHERE endpoint = $1 AND model = $3 AND state = 'waiting'
        WINDOW in_turn AS (ORDER BY queued_at, key)
    ), chosen AS (
        SELECT key, until FROM waiting WHERE number = 1 OR (number <= $4 AND bytes <= $5)
    ), created AS (
        INSERT INTO llm_batches (id, endpoint, model, created_at, until)
        SELECT $2, $1, $3, clock_timestamp(), min(until) FROM chosen HAVING count(*) > 0
        RETURNING *
    ), calls_sent AS (
        UPDATE llm_batch_calls AS calls SET state = 'out', batch = created.id
        FROM chosen, created WHERE calls.endpoint = $1 AND calls.key = chosen.key
    )
    SELECT * FROM created
"""
_SELECT_BATCH = "SELECT * FROM llm_batches WHERE id = $1"
_SELECT_OPEN_BATCHES = "SELECT * FROM llm_batches WHERE endpoint = $1 ORDER BY created_at"
_SELECT_CALLS = """
    SELECT key, run_id, model, body, until FROM llm_batch_calls WHERE endpoint = $1 AND batch = $2 AND state = 'out'
"""
_MARK_SENT = "UPDATE llm_batches SET remote_id = $2 WHERE id = $1"
_MARK_CANCELLED = "UPDATE llm_batches SET cancelled_at = clock_timestamp() WHERE id = $1"
_STORE_RESULTS = """
    UPDATE llm_batch_calls AS calls
    SET state = CASE WHEN results.answer IS NULL THEN 'returned' ELSE 'answered' END, answer = results.answer,
        why = results.why, ended_at = clock_timestamp()
    FROM unnest($3::text[], $4::text[], $5::text[]) AS results (key, answer, why)
    WHERE calls.endpoint = $1 AND calls.batch = $2 AND calls.key = results.key AND calls.state = 'out'
"""
_END_CALLS_WITHOUT_RESULT = """
    UPDATE llm_batch_calls
    SET state = 'returned', why = 'the batch ended without a result for it', ended_at = clock_timestamp()
    WHERE endpoint = $1 AND batch = $2 AND state = 'out'
"""
_DELETE_BATCH = "DELETE FROM llm_batches WHERE id = $1"
_DELETE_OLD_CALLS = """
    WITH deleted AS (
        DELETE FROM llm_batch_calls WHERE endpoint = $1 AND ended_at < clock_timestamp() - $2::interval
        RETURNING answer, settled
    )
    SELECT count(answer) FILTER (WHERE NOT settled)::integer AS lost FROM deleted
"""
_LINE_OVERHEAD_BYTES = 200
"""Maximum number of bytes in a line of a batch file, apart from the request body."""
_RESULTS_PER_STATEMENT = 500
"""Maximum number of results in one statement."""
_GATHER_SECONDS = 120.0
_CLOSE_SECONDS = 600.0


class PgBatchBook(Store):
    """Implements `workers.llm.batches.batch_book.BatchBook`, using the database server's clock.

    Request bodies and responses are deleted together with the job whose run made the request (see
    `orchestrator.store.retention`)."""

    def __init__(self, database: Database, endpoint: str, settled_seconds: float = 10.0) -> None:
        """Create the store. A settled request can still be collected for `settled_seconds`."""
        super().__init__(database)
        self._endpoint = endpoint
        self._settled_seconds = dt.timedelta(seconds=settled_seconds)

    async def enqueue(self, call: BatchCall) -> None:
        values = (call.key, call.run_id, call.model, call.body, call.until)
        await self._database.execute(_INSERT_CALL, self._endpoint, *values, self._settled_seconds)

    async def find_ended(self, keys: Collection[str]) -> list[str]:
        return [row["key"] for row in await self._database.fetch(_SELECT_ENDED, self._endpoint, list(keys))]

    async def collect(self, key: str) -> CollectedCall | None:
        return await self._database.select_one(CollectedCall, _SELECT_RESULT, self._endpoint, key)

    async def claim_billing(self, keys: Collection[str], run_id: str) -> set[str]:
        return {row["key"] for row in await self._database.fetch(_BILL_CALLS, self._endpoint, list(keys), run_id)}

    async def settle(self, keys: Collection[str]) -> None:
        await self._database.execute(_SETTLE_CALLS, self._endpoint, list(keys))

    async def expire_overdue(self) -> None:
        await self._database.execute(_END_OVERDUE_CALLS, self._endpoint)

    async def gather(self, rules: GatherRules) -> OutgoingBatch | None:
        quiet_time, longest_wait = (
            dt.timedelta(seconds=rules.quiet_seconds),
            dt.timedelta(seconds=rules.longest_seconds),
        )
        limits = (rules.most_requests, rules.most_bytes, _LINE_OVERHEAD_BYTES)
        batch_id = uuid.uuid4().hex

        async def gather_due(connection: Connection) -> OutgoingBatch | None:
            async with connection.transaction():
                if existing_batch := await select_one(connection, OutgoingBatch, _SELECT_BATCH, batch_id):
                    return existing_batch  # the batch was created, but the connection was lost before the response
                model = await connection.fetchval(_SELECT_DUE_MODEL, self._endpoint, quiet_time, longest_wait, *limits)
                if model is None:
                    return None
                return await select_one(
                    connection, OutgoingBatch, _CREATE_BATCH, self._endpoint, batch_id, model, *limits
                )

        return await self._database.run(gather_due, _GATHER_SECONDS)

    async def list_open_batches(self) -> list[OutgoingBatch]:
        return await self._database.select(OutgoingBatch, _SELECT_OPEN_BATCHES, self._endpoint)

    async def list_calls(self, batch_id: str) -> list[BatchCall]:
        return await self._database.select(BatchCall, _SELECT_CALLS, self._endpoint, batch_id)

    async def mark_sent(self, batch_id: str, remote_id: str) -> None:
        await self._database.execute(_MARK_SENT, batch_id, remote_id)

    async def mark_cancelled(self, batch_id: str) -> None:
        await self._database.execute(_MARK_CANCELLED, batch_id)

    async def close(self, batch_id: str, results: Sequence[LineResult]) -> None:
        async def store_results(connection: Connection) -> None:
            async with connection.transaction():
                for start in range(0, len(results), _RESULTS_PER_STATEMENT):
                    chunk = results[start : start + _RESULTS_PER_STATEMENT]
                    keys, answers = [item.key for item in chunk], [item.answer for item in chunk]
                    reasons = [replace_nul(item.why) for item in chunk]
                    await connection.fetch(_STORE_RESULTS, self._endpoint, batch_id, keys, answers, reasons)
                await connection.fetch(_END_CALLS_WITHOUT_RESULT, self._endpoint, batch_id)
                await connection.fetch(_DELETE_BATCH, batch_id)

        await self._database.run(store_results, _CLOSE_SECONDS)

    async def delete_older(self, seconds: float) -> int:
        row = await self._database.fetch_one(_DELETE_OLD_CALLS, self._endpoint, dt.timedelta(seconds=seconds))
        return 0 if row is None else int(row["lost"])
