"""The ledger, which records every language model request."""

import asyncpg

from assayer.models import CallRecord, LedgerRow
from orchestrator.jobs.models import JobId
from orchestrator.store.database import Store
from orchestrator.store.rows import from_row

_SELECT_RUN_ROWS = "SELECT * FROM ledger WHERE run_id = $1 ORDER BY at, id"

_SELECT_JOB_ROWS = """
    SELECT ledger.* FROM runs JOIN ledger USING (run_id) WHERE runs.job = $1 ORDER BY ledger.at, ledger.id
"""

LEDGER_SUMS = """coalesce(sum(prompt_tokens) FILTER (WHERE NOT cached), 0)::bigint AS prompt_tokens,
           coalesce(sum(cached_prompt_tokens) FILTER (WHERE NOT cached), 0)::bigint AS cached_prompt_tokens,
           coalesce(sum(completion_tokens) FILTER (WHERE NOT cached), 0)::bigint AS completion_tokens,
           coalesce(sum(cost_usd) FILTER (WHERE NOT cached), 0) AS cost_usd,
           count(*) FILTER (
               WHERE NOT cached AND cost_usd IS NULL AND prompt_tokens + completion_tokens > 0
           ) AS unpriced"""
"""SQL aggregates over ledger rows: tokens, cost, and the number of requests whose price is unknown."""


class PgLedger(Store):
    """Read access to the ledger; rows are written by `PgAnswerCache`."""

    async def list_rows(self, run_id: str) -> list[LedgerRow]:
        """Return a run's rows, oldest first."""
        return [_to_ledger_row(row) for row in await self._database.fetch(_SELECT_RUN_ROWS, run_id)]

    async def list_job_rows(self, job: JobId) -> list[LedgerRow]:
        """Return the rows of all of a job's runs, oldest first."""
        return [_to_ledger_row(row) for row in await self._database.fetch(_SELECT_JOB_ROWS, job)]


def _to_ledger_row(row: asyncpg.Record) -> LedgerRow:
    return from_row(LedgerRow, row, record=from_row(CallRecord, row))
