"""Cache of language model answers. Each answer is written together with its ledger row."""

import uuid
import zlib
from collections.abc import Sequence

import asyncpg
from pydantic import TypeAdapter

from assayer.errors import StorageError
from assayer.models import CachedAnswer, CallRecord, Frozen, LedgerRow, Message
from orchestrator.store.claims import Claimed, PgClaims
from orchestrator.store.database import Store
from orchestrator.store.json_columns import (
    faults_to_json_column,
    from_json_column,
    replace_nul,
    to_json_column,
)

_PATIENCE_FACTOR = 5
"""Multiple of the usual time for which the recording of a model request is retried while the database is
unreachable."""
_MESSAGES = TypeAdapter(tuple[Message, ...])
_COMPRESSION_LEVEL = 1
"""Compression level of messages."""
_SELECT_ANSWER = "SELECT key, value, record FROM answers WHERE key = $1"
_SELECT_REQUEST = "SELECT value, messages FROM answers WHERE key = $1"

_INSERT_LEDGER_ROW = """
    INSERT INTO ledger (id, run_id, key, task, version, model, prompt_tokens, completion_tokens, cost_usd,
                        latency_seconds, attempts, faults, cached, outcome, error, at, cached_prompt_tokens)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
    ON CONFLICT DO NOTHING
"""

# Without a claimant, nothing is deleted.
_INSERT_LEDGER_ROW_AND_RELEASE = f"""
    WITH asked AS (DELETE FROM reply_claims WHERE key = $3 AND claimant = $18)
    {_INSERT_LEDGER_ROW}
"""

_INSERT_LEDGER_ROW_AND_ANSWER = f"""
    WITH paid AS ({_INSERT_LEDGER_ROW}), asked AS (DELETE FROM reply_claims WHERE key = $3 AND claimant = $18)
    INSERT INTO answers (key, task, version, model, value, record, messages, created_at)
    SELECT $19, $20, $21, $22, $23, $24, $26, $16 WHERE NOT EXISTS (SELECT FROM erased_runs WHERE run_id = $2)
    ON CONFLICT (key) DO UPDATE
    SET task = excluded.task, version = excluded.version, model = excluded.model, value = excluded.value,
        record = excluded.record, messages = excluded.messages, created_at = excluded.created_at
    WHERE answers.value = $25
"""


class PgAnswerCache(PgClaims):
    """Implements `workers.outbound.store.AnswerStore`. One statement writes the ledger row, stores the answer and
    releases the claim."""

    async def find(self, key: str) -> CachedAnswer | None:
        row = await self._database.fetch_one(_SELECT_ANSWER, key)
        return None if row is None else _to_cached_answer(row)

    async def find_or_claim(self, key: str, claimant: str, seconds: float) -> CachedAnswer | Claimed:
        claim = await self.find_or_claim_row(_SELECT_ANSWER, key, (), claimant, seconds)
        return claim if isinstance(claim, str) else _to_cached_answer(claim)

    async def record(
        self,
        row: LedgerRow,
        answer: CachedAnswer | None,
        replaced: CachedAnswer | None = None,
        claimant: str | None = None,
    ) -> None:
        """Record a model request in the ledger, and store its answer unless the run's job was erased. An answer already
        stored under the same key is replaced only if it equals `replaced`. With `claimant`, also release that
        claimant's claim on the key."""
        statement = _INSERT_LEDGER_ROW_AND_RELEASE
        values: tuple[object, ...] = (*_make_ledger_columns(row), claimant)
        if answer is not None:
            record = answer.record
            cached = (answer.key, record.task, record.version, record.model, replace_nul(answer.value))
            # NULL equals no stored value, so an existing answer stays.
            unusable = None if replaced is None else replace_nul(replaced.value)
            statement = _INSERT_LEDGER_ROW_AND_ANSWER
            values = (*values, *cached, to_json_column(record), unusable, _compress_messages(answer.messages))
        # Retried for longer: a paid request that is not recorded is charged to no tenant, and is paid for again later.
        max_seconds = _PATIENCE_FACTOR * self._database.patience_seconds
        await self._database.run(lambda connection: connection.fetch(statement, *values), max_seconds)


def _to_cached_answer(row: asyncpg.Record) -> CachedAnswer:
    key = row["key"]
    record = from_json_column(CallRecord, row["record"], f"The record for answer {key}")
    return CachedAnswer(key=key, value=row["value"], record=record)


def _make_ledger_columns(row: LedgerRow) -> tuple[object, ...]:
    """Return the column values for a ledger row. The id is generated here, before any retry, so that a retry does not
    add a second row."""
    record = row.record
    return (
        uuid.uuid4(),
        row.run_id,
        row.key,
        record.task,
        record.version,
        record.model,
        record.prompt_tokens,
        record.completion_tokens,
        record.cost_usd,
        record.latency_seconds,
        record.attempts,
        faults_to_json_column(record.faults),
        record.cached,
        row.outcome,
        replace_nul(row.error),
        row.at,
        record.cached_prompt_tokens,
    )


def _compress_messages(messages: Sequence[Message]) -> bytes | None:
    return zlib.compress(_MESSAGES.dump_json(tuple(messages)), _COMPRESSION_LEVEL) if messages else None


class StoredLlmRequest(Frozen):
    messages: tuple[Message, ...]
    """Messages sent to the model; empty if they were not stored."""
    answer: str
    """Answer as JSON."""


class PgLlmRequestContents(Store):
    """The messages sent to language models and the models' answers, for people to read."""

    async def find(self, key: str) -> StoredLlmRequest | None:
        """Return the messages and answer stored under this key. None if there is no answer, because the request failed
        or the answer was deleted."""
        row = await self._database.fetch_one(_SELECT_REQUEST, key)
        if row is None:
            return None
        label = f"The messages for answer {key}"
        try:
            compressed = row["messages"]
            messages = from_json_column(_MESSAGES, zlib.decompress(compressed), label) if compressed else ()
        except zlib.error as error:
            raise StorageError(f"{label} cannot be read: {type(error).__name__}.") from error
        return StoredLlmRequest(messages=messages, answer=row["value"])
