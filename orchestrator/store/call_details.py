"""Details of a call other than its proposals: its name, tags and deadline for opinions, and the rules by which it is
judged."""

import datetime as dt
from collections.abc import Collection
from typing import Any

from assayer.models import Frozen
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import BatchId, Priority, TenantId
from orchestrator.store.audit_log import LoggedStore
from orchestrator.store.database import Connection, in_transaction
from orchestrator.store.job_sql import PRIORITY
from orchestrator.store.json_columns import storable_text
from orchestrator.store.open_calls import hold_call_open

_CHANGE = """
    UPDATE batches SET name = CASE WHEN $3 THEN $4 ELSE name END, tags = CASE WHEN $5 THEN $6::text[] ELSE tags END,
                       opinions_due = CASE WHEN $7 THEN $8::date ELSE opinions_due END
    WHERE tenant = $1 AND id = $2 RETURNING id
"""
_RULES = f"""
    SELECT method, cutoff, blind, max_usd, {PRIORITY} AS priority,
           (request ->> 'board')::integer AS board,
           ARRAY(SELECT jsonb_array_elements_text(coalesce(request -> 'board_models', '[]'))) AS board_models,
           ARRAY(SELECT item ->> 'name' FROM jsonb_array_elements(coalesce(request -> 'criteria', '[]')) AS item)
           AS criteria
    FROM jobs WHERE tenant = $1 AND batch = $2 AND kind = 'evaluation' ORDER BY "row", id LIMIT 1
"""


class CallRules(Frozen):
    """Rules by which the first proposal of a call is judged. They apply to all proposals, unless some parts or rows
    were sent with different rules."""

    method: str
    cutoff: dt.date | None
    """Last publication date of literature used."""
    blind: bool
    max_usd: float | None
    """Budget per proposal."""
    priority: Priority
    board: int | None = None
    """Number of reviewers on InnoEval's boards, if it was specified."""
    board_models: tuple[str, ...] = ()
    """Models among which the boards' reviewers are distributed, if they were chosen."""
    criteria: tuple[str, ...] = ()
    """Names of the call's own criteria."""


class PgCallDetails(LoggedStore):
    @in_transaction
    async def change(
        self, connection: Connection, tenant: TenantId, batch: BatchId, details: dict[str, Any], by: ActBy
    ) -> bool:
        """Change `name`, `tags` or `opinions_due` of a call; fields missing from `details` stay unchanged. Return False
        if the call does not exist. Raises ReviewRefused if the call is signed off."""
        name, tags = details.get("name"), details.get("tags", ())
        values = (
            *("name" in details, None if name is None else storable_text(name)),
            *("tags" in details, [storable_text(tag) for tag in tags]),
            *("opinions_due" in details, details.get("opinions_due")),
        )
        content = {key: value.isoformat() if isinstance(value, dt.date) else value for key, value in details.items()}
        await hold_call_open(connection, tenant, batch)
        if await connection.fetchrow(_CHANGE, tenant, batch, *values) is None:
            return False
        await self._log.append(connection, tenant, by, "call changed", batch, **content)
        return True

    async def names(self, tenant: TenantId, batches: Collection[BatchId]) -> dict[BatchId, str]:
        """Return the names of calls; calls without a name are missing."""
        query = "SELECT id, name FROM batches WHERE tenant = $1 AND id = ANY($2) AND name <> ''"
        return {row["id"]: row["name"] for row in await self._database.fetch(query, tenant, list(batches))}

    async def rules(self, tenant: TenantId, batch: BatchId) -> CallRules | None:
        """Return the rules of a call, read from one of its proposals; None for a call without proposals."""
        return await self._database.select_one(CallRules, _RULES, tenant, batch)
