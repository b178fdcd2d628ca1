"""What tables in months cost and save: rows written and found, a month dropped or deleted; leases beside wide jobs."""

import datetime as dt
import statistics
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from benchmarks.queue.crowd import job, tenant_of
from orchestrator.jobs.models import TenantPlan
from orchestrator.settings import RetentionSettings
from orchestrator.store import Database, PgTenants
from orchestrator.store.json_columns import to_json_column
from orchestrator.store.months import PgMonths

__all__ = ["Measured", "measure"]

_MONTHS = 36
_REPEATS = 1_000
_LEASES = 200
_RENEWED = 25
"""Leases in one statement of renewal."""

_PLAIN = (
    "CREATE TABLE plain_ledger (LIKE ledger_other INCLUDING ALL)",
    "CREATE TABLE monthly_answers (LIKE answers) PARTITION BY RANGE (created_at)",
    "CREATE INDEX monthly_answers_key ON monthly_answers (key)",
    "CREATE TABLE leases (job text PRIMARY KEY, lease uuid UNIQUE, leased_until timestamptz) WITH (fillfactor = 50)",
)
_FILL = """
    INSERT INTO {table} (id, run_id, key, task, version, model, prompt_tokens, completion_tokens, cost_usd,
                         latency_seconds, attempts, faults, cached, outcome, error, at)
    SELECT md5(n::text)::uuid, 'run_' || n / 68, md5(n::text), 'task_' || n % 12, 1, 'small', 900, 100, 0.001, 2, 1,
           '[]', false, 'answered', '', $2::timestamptz + n * interval '25 days' / $1::int
    FROM generate_series(1, $1::int) AS n
"""
_ANSWERS = """
    INSERT INTO {table} (key, task, version, model, value, record, created_at)
    SELECT md5(n::text), 'task', 1, 'small', repeat(md5(n::text), 15), '{{}}',
           $2::timestamptz + n % {months} * interval '1 month'
    FROM generate_series(1, $1::int) AS n
"""
_JOBS = """
    INSERT INTO jobs (id, tenant, kind, priority, state, subject, request, lease, leased_until, started_at)
    SELECT 'ev_' || n, $2, 'evaluation', 1, 'running', 'An idea', $3::jsonb, md5(n::text)::uuid, now(), now()
    FROM generate_series(1, $1::int) AS n
"""
_RENEW = """
    UPDATE {table} SET leased_until = statement_timestamp() + interval '30 s' WHERE lease = ANY($1::uuid[])
    RETURNING lease
"""
_INSERT = """
    INSERT INTO {table} (id, run_id, key, task, version, model, prompt_tokens, completion_tokens, cost_usd,
                         latency_seconds, attempts, faults, cached, outcome, error, at)
    VALUES ($1, $2, $3, 'task', 1, 'small', 900, 100, 0.001, 2, 1, '[]', false, 'answered', '', $4)
    ON CONFLICT DO NOTHING
"""


class Measured(NamedTuple):
    what: str
    before: float
    """In one plain table, or with the lease in the job's row."""
    after: float
    """In months, or with the lease in a row of its own."""


async def measure(database: Database, rows: int) -> list[Measured]:
    now = dt.datetime.now(dt.UTC)
    for statement in _PLAIN:
        await database.execute(statement)
    for ahead in range(_MONTHS):
        await database.execute("SELECT add_month('ledger', $1::date)", _first(now, ahead))
    for ahead in range(12):
        begins, ends = _first(now, ahead), _first(now, ahead + 1)
        await database.execute(
            f"CREATE TABLE answers_{ahead} PARTITION OF monthly_answers FOR VALUES FROM ('{begins}') TO ('{ends}')"
        )
    month = dt.datetime.combine(_first(now, 1), dt.time(), dt.UTC)
    await PgTenants(database).create(tenant_of(0), TenantPlan(name="tenant"))
    await database.execute(_JOBS, _LEASES, tenant_of(0), to_json_column(job("ev").request))
    await database.execute("INSERT INTO leases SELECT id, lease, leased_until FROM jobs")
    for table in ("plain_ledger", "ledger"):
        await database.execute(_FILL.format(table=table), rows, month)
    for table in ("answers", "monthly_answers"):
        await database.execute(
            _ANSWERS.format(table=table, months=12), rows // 5, dt.datetime.combine(_first(now, 0), dt.time(), dt.UTC)
        )
    await database.execute("VACUUM ANALYZE")
    return [*await _rows(database, rows, month), *await _leases(database), *await _month(database, month)]


async def _rows(database: Database, rows: int, month: dt.datetime) -> list[Measured]:
    async def insert(table: str, number: int) -> None:
        await database.execute(_INSERT.format(table=table), uuid.uuid4(), f"new_{number // 68}", f"key_{number}", month)

    async def run(table: str, number: int) -> None:
        statement = f"SELECT * FROM {table} WHERE run_id = $1 ORDER BY at, id"  # noqa: S608 - of constants
        await database.fetch(statement, f"run_{number * 7 % (rows // 68)}")

    async def answer(table: str, number: int) -> None:
        await database.fetch(f"SELECT value FROM {table} WHERE key = md5($1::text)", str(number * 13 % (rows // 5)))  # noqa: S608

    return [
        Measured("a call stored, ms", *await _medians(insert, "plain_ledger", "ledger")),
        Measured("68 calls of a run, ms", *await _medians(run, "plain_ledger", "ledger")),
        Measured("an answer by its key, ms", *await _medians(answer, "answers", "monthly_answers")),
    ]


async def _leases(database: Database) -> list[Measured]:
    tokens = [row["lease"] for row in await database.fetch("SELECT lease FROM leases ORDER BY 1")]

    async def renew(table: str, number: int) -> None:
        first = number * _RENEWED % _LEASES
        await database.fetch(_RENEW.format(table=table), tokens[first : first + _RENEWED])

    logs = []
    for table in ("jobs", "leases"):
        before = await _wal(database)
        for number in range(_REPEATS):
            await renew(table, number)
        logs.append((await _wal(database) - before) / _REPEATS / 1e3)
    return [
        Measured(f"{_RENEWED} leases renewed, ms", *await _medians(renew, "jobs", "leases")),
        Measured(f"{_RENEWED} leases renewed, kB of the log", *logs),
    ]


async def _month(database: Database, month: dt.datetime) -> list[Measured]:
    log = await _wal(database)
    deleted = await _seconds(
        lambda: database.execute("DELETE FROM plain_ledger WHERE at < $1", month + dt.timedelta(31))
    )
    deleted += await _seconds(lambda: database.execute("VACUUM plain_ledger"))
    deleted_log = await _wal(database) - log
    left = await database.fetch_one("SELECT pg_total_relation_size('plain_ledger') / 1e6 AS mb")
    await database.execute("DELETE FROM jobs")
    kept = PgMonths(database, RetentionSettings(ledger_months=1))
    log = await _wal(database)
    dropped = await _seconds(lambda: kept.tend(month + dt.timedelta(days=70)))
    dropped_log = await _wal(database) - log
    return [
        Measured("a month deleted or dropped, s", deleted, dropped),
        Measured("a month deleted or dropped, MB of the log", deleted_log / 1e6, dropped_log / 1e6),
        Measured("MB left on the disk afterwards", float(left["mb"]) if left else 0, 0),
    ]


async def _medians(work: Callable[[str, int], Awaitable[None]], *tables: str) -> list[float]:
    """One table after the other, again and again, so that all have the same machine."""
    taken: dict[str, list[float]] = {table: [] for table in tables}
    for number in range(_REPEATS):
        for table in tables:
            begun = time.perf_counter()
            await work(table, number)
            taken[table].append(1e3 * (time.perf_counter() - begun))
    return [statistics.median(times) for times in taken.values()]


async def _seconds(work: Callable[[], Awaitable[object]]) -> float:
    begun = time.perf_counter()
    await work()
    return time.perf_counter() - begun


async def _wal(database: Database) -> int:
    row = await database.fetch_one("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint AS bytes")
    return 0 if row is None else int(row["bytes"])


def _first(now: dt.datetime, ahead: int) -> dt.date:
    years, month = divmod(now.month - 1 + ahead, 12)
    return dt.date(now.year + years, month + 1, 1)
