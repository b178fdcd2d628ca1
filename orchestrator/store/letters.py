"""Letters to applicants: their templates and content, letters already sent, released comments, and objections."""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from assayer_client.decisions import DecisionOutcome
from assayer_client.letters import LetterTemplates, Objection, ObjectionBody, ReleasedComment, StoredTemplates
from orchestrator.access.audit_chain import ActBy, AuditedAct
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.store.audit_log import LoggedStore
from orchestrator.store.database import Connection, in_transaction, select_one
from orchestrator.store.idempotency import IdempotencyRecord, RecordedResponse, insert_once
from orchestrator.store.json_columns import replace_nul, to_json_column
from orchestrator.store.open_calls import prevent_sign_off
from orchestrator.store.rows import from_row

_SELECT_TEMPLATES = """
    SELECT templates, version, changed_by, changed_at FROM letter_templates JOIN batches ON batches.id = batch
    WHERE tenant = $1 AND batch = $2
"""
_LOCK_CALL = "SELECT id FROM batches WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE"
_UPSERT_TEMPLATES = """
    INSERT INTO letter_templates (batch, version, templates, changed_by, changed_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (batch) DO UPDATE SET version = $2, templates = $3, changed_by = $4, changed_at = $5
"""
_SELECT_MATERIAL = """
    SELECT jobs.id, "row", subject AS title, source_name AS source, decisions.outcome, decisions.amount,
           decisions.reason, coalesce(applicants.name, '') AS applicant,
           coalesce(applicants.institution, '') AS institution,
           ARRAY(
               SELECT released_comments.text FROM released_comments WHERE released_comments.evaluation = jobs.id
               ORDER BY released_comments.released_at, released_comments.member
           ) AS released,
           (
               SELECT count(*) FROM opinions
               WHERE opinions.evaluation = jobs.id AND answers ->> 'to_applicant' <> ''
           ) AS comments,
           letters.text AS sent, letters.sent_at, letters.sent_by
    FROM jobs JOIN decisions ON decisions.evaluation = jobs.id
    LEFT JOIN applicants ON applicants.evaluation = jobs.id LEFT JOIN letters ON letters.evaluation = jobs.id
    WHERE jobs.tenant = $1 AND jobs.batch = $2 AND ($3::text[] IS NULL OR jobs.id = ANY($3)) ORDER BY "row", jobs.id
"""
_SELECT_IS_SIGNED_OFF = "SELECT EXISTS (SELECT FROM sign_offs WHERE batch = $1)"
_INSERT_LETTER = """
    INSERT INTO letters (evaluation, text, sent_by_id, sent_by, sent_at)
    SELECT id, $2, $3, $4, $5 FROM jobs WHERE id = $1 FOR KEY SHARE ON CONFLICT DO NOTHING RETURNING evaluation
"""
_DELETE_RELEASED_COMMENTS = "DELETE FROM released_comments WHERE evaluation = $1"
_INSERT_RELEASED_COMMENTS = """
    INSERT INTO released_comments (evaluation, member, text, released_by_id, released_by, released_at)
    SELECT evaluation, member, answers ->> 'to_applicant', $3, $4, $5 FROM opinions
    WHERE evaluation = $1 AND ($2::text[] IS NULL OR member = ANY($2)) AND answers ->> 'to_applicant' <> ''
    RETURNING *
"""
_SELECT_RELEASED_COMMENTS = """
    SELECT released_comments.* FROM released_comments JOIN jobs ON jobs.id = evaluation
    WHERE jobs.tenant = $1 AND evaluation = $2 ORDER BY released_comments.released_at, member
"""
_SELECT_UNRELEASED_PROPOSALS = """
    SELECT DISTINCT evaluation FROM opinions JOIN jobs ON jobs.id = evaluation
    WHERE jobs.tenant = $1 AND jobs.batch = $2 AND answers ->> 'to_applicant' <> '' AND NOT EXISTS (
        SELECT FROM released_comments AS released WHERE released.evaluation = opinions.evaluation
    ) ORDER BY evaluation
"""
_INSERT_OBJECTION = """
    INSERT INTO objections (evaluation, text, received_on, recorded_by, recorded_at)
    SELECT id, $3, $4, $5, $6 FROM jobs WHERE tenant = $1 AND id = $2 AND kind = 'evaluation' FOR KEY SHARE RETURNING *
"""
_ANSWER_OBJECTION = """
    UPDATE objections SET answer = $4, answered_by = $5, answered_at = $6 FROM jobs
    WHERE jobs.tenant = $1 AND jobs.id = evaluation AND evaluation = $2 AND objections.id = $3 AND answer IS NULL
    RETURNING objections.*
"""
_SELECT_OBJECTIONS = """
    SELECT objections.* FROM objections JOIN jobs ON jobs.id = evaluation
    WHERE jobs.tenant = $1 AND ($2::text IS NULL OR jobs.batch = $2) AND ($3::text IS NULL OR evaluation = $3)
    ORDER BY objections.received_on, objections.id
"""
_NO_TEMPLATES = StoredTemplates(templates=LetterTemplates(), version=0, changed_by="", changed_at=None)


class LetterMaterial(NamedTuple):
    """Data that a decision letter can contain."""

    id: JobId
    row: int | None
    title: str
    source: str
    outcome: DecisionOutcome
    amount: float | None
    reason: str
    applicant: str
    institution: str
    released: list[str]
    """Reviewers' comments that were released to the applicant."""
    comments: int
    sent: str | None
    """Text of the sent letter; None if none was sent."""
    sent_at: dt.datetime | None
    sent_by: str | None


class PgLetters(LoggedStore):
    async def get_templates(self, tenant: TenantId, batch: BatchId) -> StoredTemplates:
        """Return a call's letter templates, or the built-in ones if none were stored."""
        return await self._database.select_one(StoredTemplates, _SELECT_TEMPLATES, tenant, batch) or _NO_TEMPLATES

    @in_transaction
    async def change_templates(
        self,
        connection: Connection,
        tenant: TenantId,
        batch: BatchId,
        templates: LetterTemplates,
        by: ActBy,
        version: int | None = None,
    ) -> StoredTemplates | None:
        """Store a call's letter templates; this is allowed even after sign-off. Return None if the call does not exist.
        Raises ReviewRefused if `version` is neither None nor the current version."""
        if await connection.fetchrow(_LOCK_CALL, tenant, batch) is None:
            return None
        current = await select_one(connection, StoredTemplates, _SELECT_TEMPLATES, tenant, batch) or _NO_TEMPLATES
        if version is not None and version != current.version:
            why = "These templates have not been changed yet; their version is 0."
            if current.changed_at is not None:
                when = f"{current.changed_at:%Y-%m-%d at %H:%M} UTC"
                why = f"{current.changed_by} changed these templates on {when}, after you opened them."
            raise ReviewRefused(why, "Compare that version with yours, then save again.")
        values = (current.version + 1, to_json_column(templates), replace_nul(by.actor.name), by.at)
        await connection.execute(_UPSERT_TEMPLATES, batch, *values)
        await self._log.append(connection, tenant, by, "letter templates changed", batch, **templates.model_dump())
        return await select_one(connection, StoredTemplates, _SELECT_TEMPLATES, tenant, batch)

    async def list_material(
        self, tenant: TenantId, batch: BatchId, evaluations: Sequence[str] | None = None
    ) -> list[LetterMaterial]:
        """Return the data for a call's letters, optionally only for these evaluations."""
        evaluation_ids = None if evaluations is None else list(evaluations)
        return await self._database.select(LetterMaterial, _SELECT_MATERIAL, tenant, batch, evaluation_ids)

    @in_transaction
    async def mark_sent(
        self, connection: Connection, tenant: TenantId, batch: BatchId, texts: Mapping[JobId, str], by: ActBy
    ) -> int:
        """Record the texts of sent letters, and return how many are new; a letter recorded earlier is not replaced.
        Raises ReviewRefused if the call is not signed off yet, because its decisions can still change."""
        await connection.fetchrow(_LOCK_CALL, tenant, batch)
        if not await connection.fetchval(_SELECT_IS_SIGNED_OFF, batch):
            raise ReviewRefused("Letters can only be sent after sign-off, because decisions can change until then.")
        sent_count = 0
        for evaluation, text in texts.items():
            values = (replace_nul(text), by.actor.id, replace_nul(by.actor.name), by.at)
            if await connection.fetchrow(_INSERT_LETTER, evaluation, *values) is not None:
                await self._log.append(connection, tenant, by, "letters sent", evaluation, text=replace_nul(text))
                sent_count += 1
        return sent_count

    @in_transaction
    async def release_comments(
        self, connection: Connection, tenant: TenantId, evaluation: JobId, reviewers: Sequence[str] | None, by: ActBy
    ) -> list[ReleasedComment]:
        """Release these reviewers' comments to the applicant (None: all comments), and withhold everyone else's. Raises
        ReviewRefused if the call is signed off."""
        await prevent_sign_off(connection, tenant, evaluation, exclusive=True)
        await connection.execute(_DELETE_RELEASED_COMMENTS, evaluation)
        actor_columns = (by.actor.id, replace_nul(by.actor.name), by.at)
        rows = await connection.fetch(
            _INSERT_RELEASED_COMMENTS, evaluation, None if reviewers is None else list(reviewers), *actor_columns
        )
        members = sorted(row["member"] for row in rows)
        await self._log.append(connection, tenant, by, "comments released", evaluation, reviewers=members)
        return [from_row(ReleasedComment, row) for row in rows]

    async def release_all_comments(self, tenant: TenantId, batch: BatchId, by: ActBy) -> int:
        """Release all comments on each proposal that has none released yet. Return the number of these proposals."""
        rows = await self._database.fetch(_SELECT_UNRELEASED_PROPOSALS, tenant, batch)
        for row in rows:
            await self.release_comments(tenant, JobId(row["evaluation"]), None, by)
        return len(rows)

    async def list_released_comments(self, tenant: TenantId, evaluation: JobId) -> list[ReleasedComment]:
        return await self._database.select(ReleasedComment, _SELECT_RELEASED_COMMENTS, tenant, evaluation)

    async def record_objection(
        self,
        tenant: TenantId,
        evaluation: JobId,
        body: ObjectionBody,
        by: ActBy,
        record: IdempotencyRecord | None = None,
    ) -> Objection | None:
        """Record an objection. Return None if the proposal does not exist. A repeated request returns the objection in
        its current state, because its text is not stored with the request. Raises IdempotencyKeyReused if the
        idempotency key belongs to a different request."""
        text = replace_nul(body.text)
        content = {"text": text, "received_on": body.received_on.isoformat()}
        return await self._write_objection_once(
            tenant, evaluation, _INSERT_OBJECTION, (text, body.received_on), by, "objection recorded", content, record
        )

    async def answer_objection(
        self,
        tenant: TenantId,
        evaluation: JobId,
        number: int,
        answer: str,
        by: ActBy,
        record: IdempotencyRecord | None = None,
    ) -> Objection | None:
        """Record the answer to an objection. Return None if the objection does not exist. A repeated request returns
        the objection in its current state. Raises ReviewRefused if the objection already has an answer, and
        IdempotencyKeyReused if the idempotency key belongs to a different request."""
        text = replace_nul(answer)
        content = {"objection": number, "answer": text}
        objection = await self._write_objection_once(
            tenant, evaluation, _ANSWER_OBJECTION, (number, text), by, "objection answered", content, record
        )
        if objection is None and any(
            item.id == number for item in await self.list_objections(tenant, evaluation=evaluation)
        ):
            raise ReviewRefused(f"Objection {number} already has an answer. An answer cannot be changed.")
        return objection

    async def _write_objection_once(
        self,
        tenant: TenantId,
        evaluation: JobId,
        query: str,
        values: tuple[Any, Any],
        by: ActBy,
        act: AuditedAct,
        content: Mapping[str, Any],
        record: IdempotencyRecord | None,
    ) -> Objection | None:
        """Run a query that writes an objection, and log the action. A repeated request does neither."""

        async def write_objection(connection: Connection) -> Objection | None:
            actor_columns = (replace_nul(by.actor.name), by.at)
            objection = await select_one(connection, Objection, query, tenant, evaluation, *values, *actor_columns)
            if objection is not None:
                await self._log.append(connection, tenant, by, act, evaluation, **content)
            return objection

        written = await insert_once(
            self._database, tenant, record, write_objection, lambda written: json.dumps({"id": written.id}).encode()
        )
        if not isinstance(written, RecordedResponse):
            return written
        number = json.loads(written.body)["id"]
        return next(
            (item for item in await self.list_objections(tenant, evaluation=evaluation) if item.id == number), None
        )

    async def list_objections(
        self, tenant: TenantId, *, batch: BatchId | None = None, evaluation: JobId | None = None
    ) -> list[Objection]:
        """Return the objections to decisions, optionally only those for a call or a proposal, in order of arrival."""
        return await self._database.select(Objection, _SELECT_OBJECTIONS, tenant, batch, evaluation)
