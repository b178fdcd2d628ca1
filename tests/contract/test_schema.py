"""The schema: every foreign key has an index, and triggers only forbid changes."""

import re
from typing import get_args

import asyncpg

from assayer_client.webhooks import DeliveryState
from orchestrator.jobs.models import JobKind, JobState
from orchestrator.mail.models import EmailState
from orchestrator.store import Database
from tests.postgres import owner_url

_UNINDEXED = """
    SELECT conrelid::regclass::text AS "table", conname AS name FROM pg_constraint
    WHERE contype = 'f' AND conparentid = 0 AND NOT EXISTS (
        SELECT FROM pg_index
        WHERE indrelid = conrelid AND indpred IS NULL AND indisvalid
          AND (indkey::smallint[])[0:cardinality(conkey) - 1] @> conkey
    )
"""


async def test_every_foreign_key_has_an_index(database: Database) -> None:
    rows = await database.fetch(_UNINDEXED)
    assert [(row["table"], row["name"]) for row in rows] == []


async def test_unindexed_foreign_key_is_detected(database_url: str) -> None:
    owner = await asyncpg.connect(owner_url(database_url))
    await owner.execute("""
        CREATE TABLE without_index (tenant text REFERENCES tenants, batch text REFERENCES batches);
        CREATE INDEX ON without_index (batch);
        CREATE INDEX ON without_index (batch, tenant);
    """)
    try:
        rows = await owner.fetch(_UNINDEXED)
    finally:
        await owner.execute("DROP TABLE without_index")
        await owner.close()
    assert [(row["table"], row["name"]) for row in rows] == [("without_index", "without_index_tenant_fkey")]


async def test_triggers_only_forbid_changes(database: Database) -> None:
    rows = await database.fetch("""
        SELECT tgrelid::regclass::text AS "table", tgname AS name, proname AS function
        FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid WHERE NOT tgisinternal ORDER BY 1
    """)
    assert [tuple(row) for row in rows] == [
        ("audit_contents", "append_only", "refuse_change"),
        ("audit_heads", "moves_on", "refuse_other_than_next_entry"),
        ("audit_log", "append_only", "refuse_change"),
        ("remarks", "append_only", "refuse_change"),
    ]


async def test_database_constraints_match_states_and_kinds_in_code(database: Database) -> None:
    for table, column, values in (
        ("jobs", "state", get_args(JobState)),
        ("jobs", "kind", get_args(JobKind)),
        ("deliveries", "state", get_args(DeliveryState)),
        ("mails", "state", get_args(EmailState)),
    ):
        rows = await database.fetch(
            "SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conname = $1", f"{table}_{column}_check"
        )
        known = set(re.findall(r"'([a-z_]+)'::text", rows[0]["text"]))
        assert known == set(values), (table, column)
