"""Statements that pages, lists and chores run often read no table of jobs whole, at 200,000 jobs."""

import asyncio
from collections.abc import Sequence
from typing import Any

import asyncpg
import pytest

from orchestrator.store import evaluation_costs, jobs, ranking_rows, retention
from orchestrator.store.job_sql import source_ends, source_matches
from tests.contract.store_jobs import NOW
from tests.postgres import SharedPostgres, owner_url

pytestmark = pytest.mark.slow

_FILL = (
    "INSERT INTO tenants (id, name) SELECT 'tenant_' || n, 't' FROM generate_series(0, 4) AS n",
    """
    INSERT INTO batches (id, tenant, name, rows)
    SELECT 'bt_' || n, 'tenant_' || n % 5, 'b', 5000 FROM generate_series(0, 39) AS n
    """,
    """
    INSERT INTO jobs (id, tenant, batch, "row", kind, priority, state, subject, request, method, cost_usd,
                      run_id, created_at, finished_at)
    SELECT 'ev_' || n, 'tenant_' || n / 5000 % 5, 'bt_' || n / 5000, n % 5000 + 1, 'evaluation', 1,
           CASE WHEN n % 50 > 0 THEN 'succeeded' ELSE 'queued' END, 'An idea',
           jsonb_build_object('source', 'row ' || n || ' (A-' || n || ')'), 'scholareval', 0.1,
           'run_' || n, now() - n * interval '1 second', CASE WHEN n % 50 > 0 THEN now() - n * interval '1 second' END
    FROM generate_series(0, 199999) AS n
    """,
    "INSERT INTO runs (job, run_id) SELECT id, run_id FROM jobs",
    """
    INSERT INTO evaluations (id, idea_id, report)
    SELECT run_id, 'idea_' || substr(run_id, 5), '{}' FROM jobs WHERE state = 'succeeded'
    """,
    "VACUUM ANALYZE",
)
_LIST = jobs._SELECT_JOBS.format(columns="id", conditions="{}", limit="$2")
_STATEMENTS: dict[str, tuple[str, Sequence[Any], str]] = {
    "counts of a page of batches": (
        jobs._SELECT_BATCHES,
        ("tenant_0", None, None, None, 50, None, None),
        "jobs_batch_state",
    ),
    "newest jobs": (_LIST.format("tenant = $1"), ("tenant_0", 50), "jobs_tenant"),
    "jobs by their sender's name": (
        _LIST.format(f"tenant = $1 AND {source_ends('$3')} AND {source_matches('source_name', '$3')}"),
        ("tenant_0", 50, "A-12"),
        "jobs_source",
    ),
    "pace": (evaluation_costs._SELECT_PACE, ("tenant_0", "scholareval", evaluation_costs._PERIOD), "jobs_finished"),
    "jobs past their retention": (retention._DELETE_OLD, (NOW, 200), "jobs_"),
    "ledger of old months": (
        retention._DELETE_ROWS.format(table="ledger", condition=retention._OLD_LEDGER_ROWS),
        (NOW, 10_000),
        "jobs_tenant",
    ),
    "calls of a new ranking": (
        ranking_rows._INSERT_CALLS,
        ("rk_1", "tenant_0", ["idea_1", "idea_2"]),
        "runs_run",
    ),
    "events of old months": (
        retention._DELETE_ROWS.format(table="events", condition=retention._OLD_EVENTS),
        (NOW, 10_000),
        "jobs_",
    ),
}


@pytest.fixture(scope="module")
def filled_url(postgres: SharedPostgres) -> str:
    async def fill() -> str:
        url = owner_url(await postgres.migrated_database())
        connection = await asyncpg.connect(url)
        for statement in _FILL:
            await connection.execute(statement)
        await connection.close()
        return url

    return asyncio.run(fill())


@pytest.mark.parametrize("plan", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize("name", _STATEMENTS)
async def test_statement_reads_jobs_by_an_index(filled_url: str, name: str, plan: str) -> None:
    statement, values, index = _STATEMENTS[name]

    connection = await asyncpg.connect(filled_url)
    await connection.execute(f"SET plan_cache_mode = {plan}")
    lines = [row[0] for row in await connection.fetch(f"EXPLAIN {statement}", *values)]
    await connection.close()
    assert not [line for line in lines if "Seq Scan on jobs" in line], "\n".join(lines)
    assert [line for line in lines if f" {index}" in line], "\n".join(lines)
