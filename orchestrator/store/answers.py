"""The cache of answers and the ledger, written together."""

import uuid

from assayer.models import CachedAnswer, CallRecord, LedgerRow
from orchestrator.store.database import Database
from orchestrator.store.documents import document, faults_document, plain, read

__all__ = ["PgAnswers"]

_FIND = "SELECT value, record FROM answers WHERE key = $1"

_PAY = """
    INSERT INTO ledger (id, run_id, key, task, version, model, prompt_tokens, completion_tokens, cost_usd,
                        latency_seconds, attempts, faults, cached, outcome, error, at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
    ON CONFLICT (id) DO NOTHING
"""

_PAY_AND_KEEP = f"""
    WITH paid AS ({_PAY})
    INSERT INTO answers (key, task, version, model, value, record, created_at)
    VALUES ($17, $18, $19, $20, $21, $22, $16)
    ON CONFLICT (key) DO UPDATE
    SET task = excluded.task, version = excluded.version, model = excluded.model, value = excluded.value,
        record = excluded.record, created_at = excluded.created_at
    WHERE answers.value = $23
"""  # noqa: S608 - put together from constants


class PgAnswers:
    """Implements `workers.llm.answers.Answers`: one statement, so one round trip and one transaction, each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, key: str) -> CachedAnswer | None:
        row = await self._database.fetch_one(_FIND, key)
        if row is None:
            return None
        record = read(CallRecord, row["record"], f"The record of answer {key}")
        return CachedAnswer(key=key, value=row["value"], record=record)

    async def record(self, row: LedgerRow, answer: CachedAnswer | None, instead_of: CachedAnswer | None = None) -> None:
        paid = _columns(row)
        if answer is None:
            await self._database.execute(_PAY, *paid)
            return
        made = answer.record
        kept = (answer.key, made.task, made.version, made.model, plain(answer.value), document(made))
        # No value equals NULL: then an answer that is already there stays.
        unusable = None if instead_of is None else plain(instead_of.value)
        await self._database.execute(_PAY_AND_KEEP, *paid, *kept, unusable)


def _columns(row: LedgerRow) -> tuple[object, ...]:
    """The id is drawn once a row, before any retry: that is what keeps a retry from counting twice."""
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
        faults_document(record.faults),
        record.cached,
        row.outcome,
        plain(row.error),
        row.at,
    )
