"""Ledger of language model calls."""

import asyncpg
from pydantic import TypeAdapter

from assayer.models import CallRecord, Fault, LedgerRow
from orchestrator.jobs.models import JobId
from orchestrator.store.database import Store
from orchestrator.store.json_columns import from_json_column_as

__all__ = ["SUMS", "PgLedger"]

_FAULTS = TypeAdapter(tuple[Fault, ...])

_ROWS = "SELECT * FROM ledger WHERE run_id = $1 ORDER BY at, id"

_ROWS_OF_JOB = """
    SELECT ledger.* FROM runs JOIN ledger USING (run_id) WHERE runs.job = $1 ORDER BY ledger.at, ledger.id
"""

SUMS = """coalesce(sum(prompt_tokens) FILTER (WHERE NOT cached), 0)::bigint AS prompt_tokens,
           coalesce(sum(completion_tokens) FILTER (WHERE NOT cached), 0)::bigint AS completion_tokens,
           coalesce(sum(cost_usd) FILTER (WHERE NOT cached), 0) AS cost_usd,
           count(*) FILTER (
               WHERE NOT cached AND cost_usd IS NULL AND prompt_tokens + completion_tokens > 0
           ) AS unpriced"""
"""SQL aggregates over ledger rows: tokens sent and cost, and the number of calls without a known price."""


class PgLedger(Store):
    """Read access to the ledger; rows are written by `PgAnswerCache`."""

    async def rows(self, run_id: str) -> list[LedgerRow]:
        """Return the rows in order of time."""
        return [_row(row) for row in await self._database.fetch(_ROWS, run_id)]

    async def rows_of_job(self, job: JobId) -> list[LedgerRow]:
        """Return the rows of all runs of a job, in order of time."""
        return [_row(row) for row in await self._database.fetch(_ROWS_OF_JOB, job)]


def _row(row: asyncpg.Record) -> LedgerRow:
    record = {name: row[name] for name in CallRecord.model_fields if name not in ("faults", "redacted")}
    faults = from_json_column_as(_FAULTS, row["faults"], f"Faults of answer {row['key']}")
    return LedgerRow(
        run_id=row["run_id"],
        key=row["key"],
        record=CallRecord(**record, faults=faults),
        outcome=row["outcome"],
        error=row["error"],
        at=row["at"],
    )
