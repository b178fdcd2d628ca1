"""The cache of language models' answers, written together with the ledger of their calls."""

import datetime as dt
import uuid
from collections.abc import Collection
from typing import Literal

import asyncpg

from assayer.models import CachedAnswer, CallRecord, LedgerRow
from orchestrator.store.call_contents import packed_messages
from orchestrator.store.database import Database
from orchestrator.store.json_columns import faults_to_json_column, from_json_column, storable_text, to_json_column

__all__ = ["PgAnswerCache"]

_PATIENCES = 5
"""How much longer than anything else a call waits to be written down while the database is out of reach."""
_FIND = "SELECT value, record FROM answers WHERE key = $1"

_FIND_OR_CLAIM = """
    WITH found AS (SELECT value, record FROM answers WHERE key = $1),
    claimed AS (
        INSERT INTO reply_claims AS held (key, claimant, expires_at)
        SELECT $1, $2, clock_timestamp() + $3::interval WHERE NOT EXISTS (SELECT FROM found)
        ON CONFLICT (key) DO UPDATE SET claimant = excluded.claimant, expires_at = excluded.expires_at
        WHERE held.expires_at <= clock_timestamp() OR held.claimant = excluded.claimant
        RETURNING key
    )
    SELECT value, record, EXISTS (SELECT FROM claimed) AS claimed FROM (SELECT 1) AS one LEFT JOIN found ON true
"""

_RENEW = """
    UPDATE reply_claims SET expires_at = clock_timestamp() + $3::interval WHERE claimant = $1 AND key = ANY($2::text[])
"""

_INSERT_LEDGER_ROW = """
    INSERT INTO ledger (id, run_id, key, task, version, model, prompt_tokens, completion_tokens, cost_usd,
                        latency_seconds, attempts, faults, cached, outcome, error, at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
    ON CONFLICT DO NOTHING
"""

_INSERT_LEDGER_ROW_AND_RELEASE = f"""
    WITH asked AS (DELETE FROM reply_claims WHERE key = $3 AND claimant = $17)
    {_INSERT_LEDGER_ROW}
"""  # noqa: S608 - put together from constants

_INSERT_LEDGER_ROW_AND_ANSWER = f"""
    WITH paid AS ({_INSERT_LEDGER_ROW}), asked AS (DELETE FROM reply_claims WHERE key = $3 AND claimant = $24)
    INSERT INTO answers (key, task, version, model, value, record, messages, created_at)
    SELECT $17, $18, $19, $20, $21, $22, $25, $16 WHERE NOT EXISTS (SELECT FROM erased_runs WHERE run_id = $2)
    ON CONFLICT (key) DO UPDATE
    SET task = excluded.task, version = excluded.version, model = excluded.model, value = excluded.value,
        record = excluded.record, messages = excluded.messages, created_at = excluded.created_at
    WHERE answers.value = $23
"""  # noqa: S608 - put together from constants


class PgAnswerCache:
    """Implements `workers.llm.answer_store.AnswerStore`: one statement, so one round trip and one transaction, each.

    A process whose claim ends in the same moment in which another one looks may be too late for it to be seen: then the
    question is paid twice."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._claimant = uuid.uuid4().hex

    async def find(self, key: str) -> CachedAnswer | None:
        row = await self._database.fetch_one(_FIND, key)
        return None if row is None else _answer(key, row)

    async def find_or_claim(self, key: str, seconds: float) -> CachedAnswer | Literal["claimed", "elsewhere"]:
        row = await self._database.fetch_one(_FIND_OR_CLAIM, key, self._claimant, dt.timedelta(seconds=seconds))
        if row is not None and row["value"] is not None:
            return _answer(key, row)
        return "claimed" if row is not None and row["claimed"] else "elsewhere"

    async def renew_claims(self, keys: Collection[str], seconds: float) -> None:
        await self._database.execute(_RENEW, self._claimant, list(keys), dt.timedelta(seconds=seconds))

    async def record(self, row: LedgerRow, answer: CachedAnswer | None, instead_of: CachedAnswer | None = None) -> None:
        """The answer to a run whose job was erased is not kept."""
        ledger_row = _columns(row)
        if answer is None and row.record.cached:
            await self._write(_INSERT_LEDGER_ROW, *ledger_row)
            return
        if answer is None:
            await self._write(_INSERT_LEDGER_ROW_AND_RELEASE, *ledger_row, self._claimant)
            return
        record = answer.record
        cached = (
            answer.key,
            record.task,
            record.version,
            record.model,
            storable_text(answer.value),
            to_json_column(record),
        )
        # No value equals NULL: then an answer that is already there stays.
        unusable = None if instead_of is None else storable_text(instead_of.value)
        await self._write(
            _INSERT_LEDGER_ROW_AND_ANSWER,
            *ledger_row,
            *cached,
            unusable,
            self._claimant,
            packed_messages(answer.messages),
        )

    async def _write(self, statement: str, *values: object) -> None:
        """What is paid for and not written down is charged to nobody, and paid for again."""
        patience = _PATIENCES * self._database.patience_seconds
        await self._database.run(lambda connection: connection.fetch(statement, *values), patience)


def _answer(key: str, row: asyncpg.Record) -> CachedAnswer:
    record = from_json_column(CallRecord, row["record"], f"The record of answer {key}")
    return CachedAnswer(key=key, value=row["value"], record=record)


def _columns(row: LedgerRow) -> tuple[object, ...]:
    """The id is generated once per row, before any retry: so a retry does not count twice."""
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
    )
