"""What people say of a call beside its proposals: its name, tags, until when opinions are due; and by which rules it is
judged."""

import datetime as dt
from collections.abc import Collection
from typing import Any

from pydantic import ConfigDict

from assayer.models import Frozen
from orchestrator.access.audit_chain import Actor
from orchestrator.jobs.models import BatchId, Priority, TenantId
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database
from orchestrator.store.job_sql import PRIORITIES_BY_NUMBER
from orchestrator.store.json_columns import storable_text
from orchestrator.store.open_calls import hold_call_open
from orchestrator.store.rows import from_row

__all__ = ["CallRules", "PgCallDetails"]

_CHANGE = """
    UPDATE batches SET name = CASE WHEN $3 THEN $4 ELSE name END, tags = CASE WHEN $5 THEN $6::text[] ELSE tags END,
                       opinions_due = CASE WHEN $7 THEN $8::date ELSE opinions_due END
    WHERE tenant = $1 AND id = $2 RETURNING id
"""
_RULES = """
    SELECT request ->> 'method' AS method, (request ->> 'cutoff')::date AS cutoff,
           coalesce((request ->> 'blind')::boolean, false) AS blind, max_usd, priority,
           (request ->> 'board')::integer AS board,
           ARRAY(SELECT jsonb_array_elements_text(coalesce(request -> 'board_models', '[]'))) AS board_models
    FROM jobs WHERE tenant = $1 AND batch = $2 AND kind = 'evaluation' ORDER BY "row", id LIMIT 1
"""


class CallRules(Frozen):
    """How the first proposal of a call is judged; all of them are, unless parts or rows were sent with others."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    method: str
    cutoff: dt.date | None
    """The last day of literature."""
    blind: bool
    max_usd: float | None
    """Of each proposal."""
    priority: Priority
    board: int | None = None
    """Reviewers on InnoEval's boards, where somebody said how many."""
    board_models: tuple[str, ...] = ()
    """Models among which they are dealt, where somebody chose."""


class PgCallDetails:
    def __init__(self, database: Database, audit_log: PgAuditLog) -> None:
        self._database = database
        self._log = audit_log

    async def change(
        self, tenant: TenantId, batch: BatchId, details: dict[str, Any], actor: Actor, now: dt.datetime
    ) -> bool:
        """`details`: any of `name`, `tags`, `opinions_due`; what is not among them stays. False where there is no such
        call. Raises ReviewRefused where it is signed off."""
        name, tags = details.get("name"), details.get("tags", ())
        values = (
            *("name" in details, None if name is None else storable_text(name)),
            *("tags" in details, [storable_text(tag) for tag in tags]),
            *("opinions_due" in details, details.get("opinions_due")),
        )
        told = {key: value.isoformat() if isinstance(value, dt.date) else value for key, value in details.items()}

        async def work(connection: Connection) -> bool:
            async with connection.transaction():
                await hold_call_open(connection, tenant, batch)
                if await connection.fetchrow(_CHANGE, tenant, batch, *values) is None:
                    return False
                await self._log.append(connection, tenant, actor, "call changed", batch, now, **told)
                return True

        return await self._database.run(work)

    async def names(self, tenant: TenantId, batches: Collection[BatchId]) -> dict[BatchId, str]:
        """Of calls, what they are called; those without a name are missing."""
        query = "SELECT id, name FROM batches WHERE tenant = $1 AND id = ANY($2) AND name <> ''"
        return {row["id"]: row["name"] for row in await self._database.fetch(query, tenant, list(batches))}

    async def rules(self, tenant: TenantId, batch: BatchId) -> CallRules | None:
        """None for a call without proposals. Reads one of them."""
        row = await self._database.fetch_one(_RULES, tenant, batch)
        return None if row is None else from_row(CallRules, row, priority=PRIORITIES_BY_NUMBER[row["priority"]])
