"""Cache of the answers of language models, written together with the ledger of calls."""

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
    storable_text,
    to_json_column,
)

_PATIENCE_FACTOR = 5
"""Factor by which the recording of a call is retried for longer than other statements while the database is
unreachable."""
_MESSAGES = TypeAdapter(tuple[Message, ...])
_LEVEL = 1
"""Compression level of messages."""
_FIND = "SELECT key, value, record FROM answers WHERE key = $1"
_FIND_CONTENTS = "SELECT value, messages FROM answers WHERE key = $1"

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
    """Implements `workers.outbound.store.AnswerStore`: ledger row, answer and end of the claim in one statement."""

    async def find(self, key: str) -> CachedAnswer | None:
        row = await self._database.fetch_one(_FIND, key)
        return None if row is None else _answer(row)

    async def find_or_claim(self, key: str, claimant: str, seconds: float) -> CachedAnswer | Claimed:
        claim = await self.find_or_claim_row(_FIND, key, (), claimant, seconds)
        return claim if isinstance(claim, str) else _answer(claim)

    async def record(
        self,
        row: LedgerRow,
        answer: CachedAnswer | None,
        instead_of: CachedAnswer | None = None,
        claimant: str | None = None,
    ) -> None:
        """Record a call in the ledger, and store its answer unless the job of its run was erased. If another answer is
        stored under the same key, it is replaced only if it equals `instead_of`. With `claimant`, also release the
        claim on the key."""
        statement = _INSERT_LEDGER_ROW_AND_RELEASE
        values: tuple[object, ...] = (*_columns(row), claimant)
        if answer is not None:
            record = answer.record
            cached = (answer.key, record.task, record.version, record.model, storable_text(answer.value))
            # If this is NULL, no stored value equals it, and an existing answer stays.
            unusable = None if instead_of is None else storable_text(instead_of.value)
            statement = _INSERT_LEDGER_ROW_AND_ANSWER
            values = (*values, *cached, to_json_column(record), unusable, _pack(answer.messages))
        # Retries for longer, because a paid call that is not recorded is charged to no tenant and paid for again.
        patience = _PATIENCE_FACTOR * self._database.patience_seconds
        await self._database.run(lambda connection: connection.fetch(statement, *values), patience)


def _answer(row: asyncpg.Record) -> CachedAnswer:
    key = row["key"]
    record = from_json_column(CallRecord, row["record"], f"The record of answer {key}")
    return CachedAnswer(key=key, value=row["value"], record=record)


def _columns(row: LedgerRow) -> tuple[object, ...]:
    """Return the column values of a ledger row. Its id is generated once, before any retry, so that a retry does
    not count twice."""
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
        storable_text(row.error),
        row.at,
        record.cached_prompt_tokens,
    )


def _pack(messages: Sequence[Message]) -> bytes | None:
    return zlib.compress(_MESSAGES.dump_json(tuple(messages)), _LEVEL) if messages else None


class CallContents(Frozen):
    messages: tuple[Message, ...]
    """Messages sent to the model; empty if they were not stored."""
    answer: str
    """Answer as JSON."""


class PgCallContents(Store):
    """Messages and answers of language model calls, for people to read."""

    async def find(self, key: str) -> CallContents | None:
        """Return the contents of the call with this key, or None if no answer is stored: the call failed, or the answer
        was deleted."""
        row = await self._database.fetch_one(_FIND_CONTENTS, key)
        if row is None:
            return None
        label = f"The messages of answer {key}"
        try:
            packed = row["messages"]
            messages = from_json_column(_MESSAGES, zlib.decompress(packed), label) if packed else ()
        except zlib.error as error:
            raise StorageError(f"{label} cannot be read: {type(error).__name__}.") from error
        return CallContents(messages=messages, answer=row["value"])
