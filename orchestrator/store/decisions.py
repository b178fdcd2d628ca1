"""What the officers of a call decide: scores that count in place of the opinions, and the end of the call."""

import datetime as dt
from typing import NamedTuple

from orchestrator.access.audit_chain import Actor
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.models import ReviewRefused, ScoreOverride, SignOff
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database
from orchestrator.store.job_sql import FORGET_DOCUMENTS
from orchestrator.store.json_columns import storable_text
from orchestrator.store.open_calls import hold_call_open
from orchestrator.store.rows import from_row

__all__ = ["PgDecisions", "SignedDespite"]

_OVERRIDE = """
    INSERT INTO score_overrides AS known (evaluation, score, reason, by, name, at)
    SELECT id, $3, $4, $5, $6, $7 FROM jobs WHERE tenant = $1 AND id = $2 AND kind = 'evaluation' FOR KEY SHARE
    ON CONFLICT (evaluation) DO UPDATE SET score = $3, reason = $4, by = $5, name = $6, at = $7
    RETURNING known.*
"""
_OVERRIDES = """
    SELECT score_overrides.* FROM score_overrides JOIN jobs ON jobs.id = evaluation
    WHERE jobs.tenant = $1 AND jobs.batch = $2 ORDER BY jobs."row", evaluation
"""
_OVERRIDE_OF = """
    SELECT score_overrides.* FROM score_overrides JOIN jobs ON jobs.id = evaluation
    WHERE jobs.tenant = $1 AND jobs.id = $2
"""
_LOCK_CALL = "SELECT id FROM batches WHERE tenant = $1 AND id = $2 FOR UPDATE"
_MISSING = """
    SELECT count(*) FROM assignments JOIN jobs ON jobs.id = assignments.evaluation
    WHERE jobs.batch = $1 AND NOT EXISTS (
        SELECT FROM opinions WHERE opinions.evaluation = assignments.evaluation AND opinions.member = assignments.member
    )
"""
_UNFINISHED = "SELECT count(*) FROM jobs WHERE batch = $1 AND state IN ('queued', 'running')"
_CLOSE = "UPDATE batches SET open = false WHERE id = $1 AND open"
_SIGN = """
    INSERT INTO sign_offs (batch, by, name, note, missing_opinions, at, audit_number, audit_hash)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING *
"""
# Opinions and judgements are of people with an assignment: one with an opinion does not end.
_KEEP_NAMES = """
    INSERT INTO signed_names (batch, member, name)
    SELECT $1, members.id, members.name FROM members WHERE members.tenant = $2 AND members.id IN (
        SELECT member FROM assignments JOIN jobs ON jobs.id = evaluation WHERE jobs.batch = $1
        UNION SELECT member FROM conflicts JOIN jobs ON jobs.id = evaluation WHERE jobs.batch = $1
    )
"""
_SIGNED_NAMES = """
    SELECT member, signed_names.name FROM signed_names JOIN batches ON batches.id = batch
    WHERE batches.tenant = $1 AND batches.id = $2
"""
_FORGET_DOCUMENTS = FORGET_DOCUMENTS.format(condition="batch = $1", most="ALL", locked="")
_SIGNED = """
    SELECT sign_offs.* FROM sign_offs JOIN batches ON batches.id = sign_offs.batch
    WHERE batches.tenant = $1 AND batches.id = $2
"""


class SignedDespite(NamedTuple):
    """What may be outstanding when a call is signed off: on purpose, and written down."""

    missing: bool = False
    """Opinions that are assigned."""
    unfinished: bool = False
    """Evaluations: they still end, and nobody can cancel them any more or run them again."""


def _check_complete(missing: int, unfinished: int, despite: SignedDespite) -> None:
    """Raises ReviewRefused."""
    faults, ways = list[str](), list[str]()
    if missing and not despite.missing:
        faults.append(f"{missing:,} assigned {'opinion is' if missing == 1 else 'opinions are'} missing.")
        ways.append("Wait for them, withdraw the assignments, or sign off despite them (`despite_missing`).")
    if unfinished and not despite.unfinished:
        faults.append(f"{unfinished:,} {'evaluation has' if unfinished == 1 else 'evaluations have'} not ended.")
        ways.append("Wait for evaluations, cancel them, or sign off despite them (`despite_unfinished`).")
    if faults:
        raise ReviewRefused(" ".join(faults), " ".join(ways))


class PgDecisions:
    def __init__(self, database: Database, audit_log: PgAuditLog) -> None:
        self._database = database
        self._log = audit_log

    async def override(
        self, tenant: TenantId, evaluation: JobId, score: int, reason: str, actor: Actor, now: dt.datetime
    ) -> ScoreOverride | None:
        """In place of one before, which the audit log keeps. None where there is no such evaluation. Raises
        ReviewRefused where the call is signed off."""

        async def work(connection: Connection) -> ScoreOverride | None:
            async with connection.transaction():
                await hold_call_open(connection, tenant, evaluation)
                stored = storable_text(reason)
                values = (tenant, evaluation, score, stored, actor.id, storable_text(actor.name), now)
                row = await connection.fetchrow(_OVERRIDE, *values)
                if row is None:
                    return None
                await self._log.append(
                    connection, tenant, actor, "score overridden", evaluation, now, score=score, reason=stored
                )
                return from_row(ScoreOverride, row)

        return await self._database.run(work)

    async def overrides(self, tenant: TenantId, batch: BatchId) -> list[ScoreOverride]:
        return [from_row(ScoreOverride, row) for row in await self._database.fetch(_OVERRIDES, tenant, batch)]

    async def override_of(self, tenant: TenantId, evaluation: JobId) -> ScoreOverride | None:
        row = await self._database.fetch_one(_OVERRIDE_OF, tenant, evaluation)
        return None if row is None else from_row(ScoreOverride, row)

    async def sign_off(
        self, tenant: TenantId, batch: BatchId, note: str, despite: SignedDespite, actor: Actor, now: dt.datetime
    ) -> SignOff | None:
        """From then on nothing about the call changes, and it takes no more rows; its people stay on it as they are
        called now; documents that were kept to be
        evaluated again go. None where there is no such batch. Raises ReviewRefused where opinions are missing or
        evaluations have not ended, unless that is done on purpose, and where it was signed off."""

        async def work(connection: Connection) -> SignOff | None:
            async with connection.transaction():
                if await connection.fetchrow(_LOCK_CALL, tenant, batch) is None:
                    return None
                await hold_call_open(connection, tenant, batch, alone=True)
                missing = int(await connection.fetchval(_MISSING, batch))
                unfinished = int(await connection.fetchval(_UNFINISHED, batch))
                _check_complete(missing, unfinished, despite)
                stored = storable_text(note)
                await connection.execute(_CLOSE, batch)
                await connection.fetch(_FORGET_DOCUMENTS, batch)
                await connection.execute(_KEEP_NAMES, batch, tenant)
                said = {"note": stored, "missing_opinions": missing}
                if unfinished:
                    said["unfinished_evaluations"] = unfinished
                tip = await self._log.append(connection, tenant, actor, "signed off", batch, now, **said)
                name = storable_text(actor.name)
                row = await connection.fetchrow(
                    _SIGN, batch, actor.id, name, stored, missing, now, tip.number, tip.hash
                )
                return None if row is None else from_row(SignOff, row)

        return await self._database.run(work)

    async def signed_off(self, tenant: TenantId, batch: BatchId) -> SignOff | None:
        row = await self._database.fetch_one(_SIGNED, tenant, batch)
        return None if row is None else from_row(SignOff, row)

    async def signed_names(self, tenant: TenantId, batch: BatchId) -> dict[str, str]:
        """What the people of a call were called when it was signed off, by their ids; empty before."""
        rows = await self._database.fetch(_SIGNED_NAMES, tenant, batch)
        return {row["member"]: row["name"] for row in rows}
