"""The cache of language models' answers, written together with the ledger of their calls."""

import uuid

from assayer.models import CachedAnswer, CallRecord, LedgerRow
from orchestrator.store.database import Database
from orchestrator.store.json_columns import faults_to_json_column, from_json_column, storable_text, to_json_column

__all__ = ["PgAnswerCache"]

_FIND = "SELECT value, record FROM answers WHERE key = $1"

_INSERT_LEDGER_ROW = """
    INSERT INTO ledger (id, run_id, key, task, version, model, prompt_tokens, completion_tokens, cost_usd,
                        latency_seconds, attempts, faults, cached, outcome, error, at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
    ON CONFLICT (id) DO NOTHING
"""

_INSERT_LEDGER_ROW_AND_ANSWER = f"""
    WITH paid AS ({_INSERT_LEDGER_ROW})
    INSERT INTO answers (key, task, version, model, value, record, created_at)
    SELECT $17, $18, $19, $20, $21, $22, $16 WHERE NOT EXISTS (SELECT FROM erased_runs WHERE run_id = $2)
    ON CONFLICT (key) DO UPDATE
    SET task = excluded.task, version = excluded.version, model = excluded.model, value = excluded.value,
        record = excluded.record, created_at = excluded.created_at
    WHERE answers.value = $23
"""  # noqa: S608 - put together from constants


class PgAnswerCache:
    """Implements `workers.llm.answer_store.AnswerStore`: one statement, so one round trip and one transaction, each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, key: str) -> CachedAnswer | None:
        row = await self._database.fetch_one(_FIND, key)
        if row is None:
            return None
        record = from_json_column(CallRecord, row["record"], f"The record of answer {key}")
        return CachedAnswer(key=key, value=row["value"], record=record)

    async def record(self, row: LedgerRow, answer: CachedAnswer | None, instead_of: CachedAnswer | None = None) -> None:
        """The answer to a run whose job was erased is not kept."""
        ledger_row = _columns(row)
        if answer is None:
            await self._database.execute(_INSERT_LEDGER_ROW, *ledger_row)
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
        await self._database.execute(_INSERT_LEDGER_ROW_AND_ANSWER, *ledger_row, *cached, unusable)


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
