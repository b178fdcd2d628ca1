"""Officers' decisions on a call: scores that override the one computed from opinions, and the call's sign-off."""

from typing import NamedTuple

from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.models import ReviewRefused, ScoreOverride, SignOff
from orchestrator.store.assignments import READABLE, WITHOUT_OPINION
from orchestrator.store.audit_log import LoggedStore
from orchestrator.store.database import Connection, in_transaction, select_one
from orchestrator.store.json_columns import replace_nul
from orchestrator.store.open_calls import prevent_sign_off

_UPSERT_OVERRIDE = """
    INSERT INTO score_overrides AS stored (evaluation, score, reason, overridden_by_id, overridden_by, overridden_at)
    SELECT id, $3, $4, $5, $6, $7 FROM jobs WHERE tenant = $1 AND id = $2 AND kind = 'evaluation' FOR KEY SHARE
    ON CONFLICT (evaluation) DO UPDATE SET
        score = $3, reason = $4, overridden_by_id = $5, overridden_by = $6, overridden_at = $7
    RETURNING stored.*
"""
_SELECT_OVERRIDE = """
    SELECT score_overrides.* FROM score_overrides JOIN jobs ON jobs.id = evaluation
    WHERE jobs.tenant = $1 AND jobs.id = $2
"""
_LOCK_CALL = "SELECT id FROM batches WHERE tenant = $1 AND id = $2 FOR UPDATE"
_COUNT_MISSING_OPINIONS = f"""
    SELECT count(*) FROM assignments JOIN jobs ON jobs.id = assignments.evaluation
    WHERE jobs.batch = $1 AND {WITHOUT_OPINION} AND {READABLE}
"""
_COUNT_UNFINISHED = "SELECT count(*) FROM jobs WHERE batch = $1 AND state IN ('queued', 'running')"
# If no proposal has a decision, none is needed for the sign-off.
_COUNT_UNDECIDED = """
    SELECT CASE WHEN count(decisions.evaluation) = 0 THEN 0 ELSE count(*) - count(decisions.evaluation) END
    FROM jobs LEFT JOIN decisions ON evaluation = jobs.id
    WHERE batch = $1 AND kind = 'evaluation' AND state <> 'cancelled'
"""
_CLOSE_CALL = "UPDATE batches SET open = false WHERE id = $1 AND open"
_INSERT_SIGN_OFF = """
    INSERT INTO sign_offs (
        batch, signed_off_by_id, signed_off_by, note, missing_opinions, signed_off_at, audit_number, audit_hash
    )
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING *
"""
# Assignments cover everyone with an opinion or judgement, because an assignment with an opinion never ends.
_INSERT_NAMES = """
    INSERT INTO signed_names (batch, member, name)
    SELECT $1, members.id, members.name FROM members WHERE members.tenant = $2 AND members.id IN (
        SELECT member FROM assignments JOIN jobs ON jobs.id = evaluation WHERE jobs.batch = $1
        UNION SELECT member FROM conflicts JOIN jobs ON jobs.id = evaluation WHERE jobs.batch = $1
    )
"""
_SELECT_NAMES = """
    SELECT member, signed_names.name FROM signed_names JOIN batches ON batches.id = batch
    WHERE batches.tenant = $1 AND batches.id = $2
"""
_SELECT_SIGN_OFF = """
    SELECT sign_offs.* FROM sign_offs JOIN batches ON batches.id = sign_offs.batch
    WHERE batches.tenant = $1 AND batches.id = $2
"""


_SELECT_PROPOSAL_SIGN_OFF = (
    "SELECT sign_offs.* FROM sign_offs JOIN jobs USING (batch) WHERE jobs.tenant = $1 AND jobs.id = $2"
)


class AllowedGaps(NamedTuple):
    """The kinds of incompleteness that a sign-off deliberately accepts."""

    missing: bool = False
    """True to accept missing opinions."""
    unfinished: bool = False
    """True to accept unfinished evaluations. They continue to run, but can no longer be cancelled or rerun."""
    undecided: bool = False
    """True to accept proposals without a decision although others have one."""


def _require_complete(missing: int, unfinished: int, undecided: int, allowed: AllowedGaps) -> None:
    """Raise ReviewRefused if opinions are missing, evaluations are unfinished or proposals have no decision, unless
    `allowed` accepts it."""
    problems, hints = list[str](), list[str]()
    if missing and not allowed.missing:
        problems.append(f"{missing:,} assigned {'opinion is' if missing == 1 else 'opinions are'} missing.")
        hints.append("Wait for them, withdraw the assignments, or sign off despite them (`allow_missing_opinions`).")
    if unfinished and not allowed.unfinished:
        problems.append(f"{unfinished:,} {'evaluation has' if unfinished == 1 else 'evaluations have'} not ended.")
        hints.append(
            "Wait for the evaluations, cancel them, or sign off despite them (`allow_unfinished_evaluations`)."
        )
    if undecided and not allowed.undecided:
        problems.append(f"{undecided:,} {'proposal has' if undecided == 1 else 'proposals have'} no decision.")
        hints.append("Decide on them, or sign off despite them (`allow_undecided_proposals`).")
    if problems:
        raise ReviewRefused(" ".join(problems), " ".join(hints))


class PgDecisions(LoggedStore):
    @in_transaction
    async def override_score(
        self, connection: Connection, tenant: TenantId, evaluation: JobId, score: int, reason: str, by: ActBy
    ) -> ScoreOverride | None:
        """Set a score that overrides the computed one, replacing any earlier override (which remains in the audit log).
        Return None if the evaluation does not exist. Raises ReviewRefused if the call is signed off."""
        await prevent_sign_off(connection, tenant, evaluation)
        stored_reason = replace_nul(reason)
        values = (tenant, evaluation, score, stored_reason, by.actor.id, replace_nul(by.actor.name), by.at)
        override = await select_one(connection, ScoreOverride, _UPSERT_OVERRIDE, *values)
        if override is None:
            return None
        await self._log.append(
            connection, tenant, by, "score overridden", evaluation, score=score, reason=stored_reason
        )
        return override

    async def get_override(self, tenant: TenantId, evaluation: JobId) -> ScoreOverride | None:
        return await self._database.select_one(ScoreOverride, _SELECT_OVERRIDE, tenant, evaluation)

    @in_transaction
    async def sign_off(
        self, connection: Connection, tenant: TenantId, batch: BatchId, note: str, allowed: AllowedGaps, by: ActBy
    ) -> SignOff | None:
        """Sign off a call; from then on it cannot be changed or receive more rows. The current names of its people are
        stored with it. Return None if the batch does not exist. Raises ReviewRefused if the call is already signed off.
        Also raises it if opinions are missing, evaluations are unfinished or proposals have no decision, unless
        `allowed` accepts it."""
        if await connection.fetchrow(_LOCK_CALL, tenant, batch) is None:
            return None
        await prevent_sign_off(connection, tenant, batch, exclusive=True)
        missing = int(await connection.fetchval(_COUNT_MISSING_OPINIONS, batch))
        unfinished = int(await connection.fetchval(_COUNT_UNFINISHED, batch))
        undecided = int(await connection.fetchval(_COUNT_UNDECIDED, batch))
        _require_complete(missing, unfinished, undecided, allowed)
        stored_note = replace_nul(note)
        await connection.execute(_CLOSE_CALL, batch)
        await connection.execute(_INSERT_NAMES, batch, tenant)
        content = {"note": stored_note, "missing_opinions": missing}
        if unfinished:
            content["unfinished_evaluations"] = unfinished
        if undecided:
            content["undecided_proposals"] = undecided
        head = await self._log.append(connection, tenant, by, "signed off", batch, **content)
        values = (batch, by.actor.id, replace_nul(by.actor.name), stored_note, missing, by.at, head.number, head.hash)
        return await select_one(connection, SignOff, _INSERT_SIGN_OFF, *values)

    async def get_sign_off(self, tenant: TenantId, batch: BatchId) -> SignOff | None:
        return await self._database.select_one(SignOff, _SELECT_SIGN_OFF, tenant, batch)

    async def get_proposal_sign_off(self, tenant: TenantId, evaluation: JobId) -> SignOff | None:
        """Return the sign-off of a proposal's call."""
        return await self._database.select_one(SignOff, _SELECT_PROPOSAL_SIGN_OFF, tenant, evaluation)

    async def get_signed_names(self, tenant: TenantId, batch: BatchId) -> dict[str, str]:
        """Return the names that a call's people had when it was signed off, by member id; empty before sign-off."""
        rows = await self._database.fetch(_SELECT_NAMES, tenant, batch)
        return {row["member"]: row["name"] for row in rows}
