"""The ledger of language model calls: row by row, and in sums."""

from typing import Literal

import asyncpg
from pydantic import TypeAdapter

from assayer.models import Absent, CallRecord, Fault, Frozen, LedgerRow
from orchestrator.jobs.models import JobId
from orchestrator.store.database import Database

__all__ = ["SUMS", "LedgerTotals", "PgLedger"]

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
"""Of rows of the ledger: what was sent, and how many calls have no known price."""

_TOTALS = """
    SELECT CASE $1 WHEN 'run' THEN run_id WHEN 'task' THEN task ELSE model END AS name,
           count(*) AS calls,
           count(*) FILTER (WHERE outcome = 'failed') AS failed,
           count(*) FILTER (WHERE cached) AS cached,
           {sums},
           coalesce(sum(latency_seconds) FILTER (WHERE NOT cached), 0) AS latency_seconds,
           coalesce(sum(attempts) FILTER (WHERE NOT cached), 0)::bigint AS attempts,
           coalesce(sum(jsonb_array_length(faults)) FILTER (WHERE NOT cached), 0)::bigint AS faults
    FROM ledger
    WHERE $2::text IS NULL OR run_id = $2
    GROUP BY 1
    ORDER BY 1
""".replace("{sums}", SUMS)


class LedgerTotals(Frozen):
    """Sums over the calls of one run, task or model. Tokens, cost, latency, attempts and faults count what was
    sent in these calls; answers from the cache are only counted as such."""

    name: str
    calls: int
    failed: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | Absent
    latency_seconds: float
    attempts: int
    faults: int


class PgLedger:
    """Read only: rows are written by `PgAnswerCache`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def rows(self, run_id: str) -> list[LedgerRow]:
        """In order of time."""
        return [_row(row) for row in await self._database.fetch(_ROWS, run_id)]

    async def rows_of_job(self, job: JobId) -> list[LedgerRow]:
        """Of all runs of a job, in order of time."""
        return [_row(row) for row in await self._database.fetch(_ROWS_OF_JOB, job)]

    async def totals(self, by: Literal["run", "task", "model"], run_id: str | None = None) -> list[LedgerTotals]:
        """By name; of one run, or of all calls there ever were."""
        return [_totals(row) for row in await self._database.fetch(_TOTALS, by, run_id)]


def _row(row: asyncpg.Record) -> LedgerRow:
    record = {name: row[name] for name in CallRecord.model_fields if name not in ("faults", "struck")}
    faults = _FAULTS.validate_json(row["faults"])
    return LedgerRow(
        run_id=row["run_id"],
        key=row["key"],
        record=CallRecord(**record, faults=faults),
        outcome=row["outcome"],
        error=row["error"],
        at=row["at"],
    )


def _totals(row: asyncpg.Record) -> LedgerTotals:
    values = dict(row)
    unpriced = values.pop("unpriced")
    if unpriced:
        values["cost_usd"] = Absent(reason=f"The price of {unpriced} calls is not known.")
    return LedgerTotals(**values)
