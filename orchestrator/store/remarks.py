"""Remarks on proposals. A remark never changes."""

from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.reviewing.models import Remark
from orchestrator.store.audit_log import LoggedStore
from orchestrator.store.database import Connection, in_transaction, select_one
from orchestrator.store.json_columns import replace_nul
from orchestrator.store.open_calls import prevent_sign_off

# The lock makes the statement wait for a concurrent erasure and then find nothing, as in other stores.
_INSERT_REMARK = """
    INSERT INTO remarks (evaluation, author_id, author, role, text, created_at)
    SELECT id, $3, $4, $5, $6, $7 FROM jobs WHERE tenant = $1 AND id = $2 AND kind = 'evaluation' FOR KEY SHARE
    ON CONFLICT DO NOTHING RETURNING *
"""
_SELECT_SAME = """
    SELECT remarks.* FROM remarks JOIN jobs ON jobs.id = evaluation
    WHERE jobs.tenant = $1 AND evaluation = $2 AND remarks.author_id = $3 AND remarks.text = $4
"""
_SELECT_REMARKS = """
    SELECT remarks.* FROM remarks JOIN jobs ON jobs.id = evaluation
    WHERE jobs.tenant = $1 AND evaluation = $2 ORDER BY remarks.id
"""


class PgRemarks(LoggedStore):
    @in_transaction
    async def add(
        self, connection: Connection, tenant: TenantId, evaluation: JobId, text: str, by: ActBy
    ) -> Remark | None:
        """Add a remark. The same text from the same person is stored only once. Return None if the evaluation does not
        exist. Raises ReviewRefused if the call is signed off."""
        stored_text = replace_nul(text)
        existing = await select_one(connection, Remark, _SELECT_SAME, tenant, evaluation, by.actor.id, stored_text)
        if existing is not None:
            return existing
        await prevent_sign_off(connection, tenant, evaluation)
        values = (tenant, evaluation, by.actor.id, replace_nul(by.actor.name), by.actor.role, stored_text, by.at)
        remark = await select_one(connection, Remark, _INSERT_REMARK, *values)
        if remark is None:
            return await select_one(connection, Remark, _SELECT_SAME, tenant, evaluation, by.actor.id, stored_text)
        await self._log.append(connection, tenant, by, "remark added", evaluation, text=stored_text)
        return remark

    async def list_remarks(self, tenant: TenantId, evaluation: JobId) -> list[Remark]:
        """Return the remarks on a proposal, oldest first."""
        return await self._database.select(Remark, _SELECT_REMARKS, tenant, evaluation)
