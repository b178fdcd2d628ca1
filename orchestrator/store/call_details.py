"""A call's details other than its proposals: name, tags, deadline for opinions, terms of funding, evaluation rules,
and progress."""

import datetime as dt
from collections.abc import Collection, Mapping
from typing import Any

from assayer.models import Frozen
from assayer_client.calls import CallDetails, CallTerms
from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, JobId, Priority, TenantId
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.reviewing.stages import CallCounts, CallProgress, derive_progress
from orchestrator.store.assignments import READABLE
from orchestrator.store.audit_log import LoggedStore
from orchestrator.store.database import Connection, Store, in_transaction, select_one
from orchestrator.store.idempotency import IdempotencyRecord, RecordedResponse, insert_once
from orchestrator.store.job_sql import PRIORITY
from orchestrator.store.json_columns import replace_nul, to_json_column
from orchestrator.store.open_calls import prevent_sign_off
from orchestrator.store.rows import from_row

# `told` is true because an empty batch has no evaluations whose end could be announced.
_INSERT_CALL = """
    INSERT INTO batches (id, tenant, name, rows, tags, opinions_due, submitted_by, told)
    VALUES ($1, $2, $3, 0, $4, $5, $6, true) ON CONFLICT (id) DO NOTHING RETURNING id
"""
_SELECT_DETAILS = """
    SELECT version, terms, changed_by, changed_at FROM call_terms JOIN batches ON batches.id = batch
    WHERE tenant = $1 AND batch = $2
"""
_SELECT_PROPOSAL_TERMS = """
    SELECT version, terms, changed_by, changed_at FROM call_terms JOIN jobs USING (batch)
    WHERE jobs.tenant = $1 AND jobs.id = $2
"""
_UPSERT_TERMS = """
    INSERT INTO call_terms (batch, version, terms, changed_by, changed_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (batch) DO UPDATE SET version = $2, terms = $3, changed_by = $4, changed_at = $5
"""
_SELECT_HAS_OPINIONS = "SELECT EXISTS (SELECT FROM opinions JOIN jobs ON jobs.id = evaluation WHERE jobs.batch = $1)"
_NO_DETAILS = CallDetails(version=0, terms=CallTerms(), changed_by="", changed_at=None)
_SELECT_EXISTS = "SELECT EXISTS (SELECT FROM batches WHERE tenant = $1 AND id = $2)"
_UPDATE_CALL = """
    UPDATE batches SET name = CASE WHEN $3 THEN $4 ELSE name END, tags = CASE WHEN $5 THEN $6::text[] ELSE tags END,
                       opinions_due = CASE WHEN $7 THEN $8::date ELSE opinions_due END
    WHERE tenant = $1 AND id = $2 RETURNING id
"""
_ARCHIVE_CALL = """
    UPDATE batches SET archived_at = CASE WHEN $3 THEN $4::timestamptz END
    WHERE tenant = $1 AND id = $2 AND (archived_at IS NULL) = $3 AND NOT ($3 AND (open OR EXISTS (
        SELECT FROM jobs WHERE batch = $2 AND state IN ('queued', 'running')
    ))) RETURNING id
"""
_SELECT_SCORING_BASES = """
    SELECT method, blind, pinned #>> '{models}' AS models, count(*) AS proposals FROM jobs
    WHERE tenant = $1 AND batch = $2 AND kind = 'evaluation' AND state = 'succeeded'
    GROUP BY 1, 2, 3 ORDER BY proposals DESC, 1, 2, 3
"""
_SELECT_RULES = f"""
    SELECT method, cutoff, blind, max_usd, {PRIORITY} AS priority,
           (request ->> 'board')::integer AS board,
           ARRAY(SELECT jsonb_array_elements_text(coalesce(request -> 'board_models', '[]'))) AS board_models,
           ARRAY(SELECT item ->> 'name' FROM jsonb_array_elements(coalesce(request -> 'criteria', '[]')) AS item)
           AS criteria
    FROM jobs WHERE tenant = $1 AND batch = $2 AND kind = 'evaluation' ORDER BY "row", id LIMIT 1
"""


class Basis(Frozen):
    """The method, models and mode with which some of a call's proposals were scored. Scores obtained in different ways
    are not comparable."""

    method: str
    blind: bool
    models: str | None
    """Names of the language models used."""
    proposals: int


class CallRules(Frozen):
    """The evaluation rules for a call, read from its first proposal. They apply to all proposals unless some rows were
    submitted with different rules."""

    method: str
    cutoff: dt.date | None
    """Latest publication date of the literature that is considered."""
    blind: bool
    max_usd: float | None
    """Budget per proposal."""
    priority: Priority
    board: int | None = None
    """Number of reviewers on each InnoEval board, if it was specified."""
    board_models: tuple[str, ...] = ()
    """Models that the boards' reviewers use in turn, if they were specified."""
    criteria: tuple[str, ...] = ()
    """Names of the call's own criteria."""


class StaleCallDetails(ReviewRefused):
    """Raised if a call's details were modified after the caller read them. The caller's update is not applied."""

    def __init__(self, current: CallDetails) -> None:
        reason = "These details have not been changed since the call was made; their version is 0."
        if current.changed_at is not None:
            changed_at = f"{current.changed_at:%Y-%m-%d at %H:%M} UTC"
            reason = f"{current.changed_by} changed this call on {changed_at}, after you read it."
        super().__init__(reason, "Check the current version, then save again.")
        self.args = (current,)
        self.current = current


class PgCallDetails(LoggedStore):
    async def create(
        self,
        tenant: TenantId,
        batch: BatchId,
        details: Mapping[str, Any],
        submitted_by: MemberId | None,
        by: ActBy,
        record: IdempotencyRecord | None = None,
    ) -> BatchId:
        """Create a call without proposals and return its id, or the id of the call that the same request created
        earlier. `details` has the keys `name`, `tags`, `opinions_due` and `terms`. Creating the same call again changes
        nothing. Raises IdempotencyKeyReused if the idempotency key belongs to a different request."""
        name, tags, due_date = (
            replace_nul(details["name"]),
            list(map(replace_nul, details["tags"])),
            details["opinions_due"],
        )

        async def insert_call(connection: Connection) -> BatchId:
            created = await connection.fetchrow(_INSERT_CALL, batch, tenant, name, tags, due_date, submitted_by)
            if created is not None:
                await self._store_terms(connection, batch, 1, details["terms"], by)
                content = _make_audit_content({**details, "name": name, "tags": tags})
                await self._log.append(connection, tenant, by, "call created", batch, **content)
            return batch

        inserted = await insert_once(self._database, tenant, record, insert_call)
        return BatchId(inserted.location.rpartition("/")[2]) if isinstance(inserted, RecordedResponse) else batch

    @in_transaction
    async def change(
        self,
        connection: Connection,
        tenant: TenantId,
        batch: BatchId,
        details: Mapping[str, Any],
        by: ActBy,
        version: int | None = None,
    ) -> bool:
        """Change a call's `name`, `tags`, `opinions_due` or `terms`; fields missing from `details` stay unchanged.
        Return False if the call does not exist. Raises ReviewRefused if the call is signed off, or if the criteria or
        the review form would change although reviews have been submitted. Raises StaleCallDetails if `version` is
        neither None nor the current version."""
        name, tags = details.get("name"), details.get("tags", ())
        values = (
            *("name" in details, None if name is None else replace_nul(name)),
            *("tags" in details, [replace_nul(tag) for tag in tags]),
            *("opinions_due" in details, details.get("opinions_due")),
        )
        await prevent_sign_off(connection, tenant, batch, exclusive=True)
        current = await select_one(connection, CallDetails, _SELECT_DETAILS, tenant, batch) or _NO_DETAILS
        if version is not None and version != current.version:
            if not await connection.fetchval(_SELECT_EXISTS, tenant, batch):
                return False
            raise StaleCallDetails(current)
        terms: CallTerms = details.get("terms", current.terms)
        questions_changed = (terms.criteria, terms.form) != (current.terms.criteria, current.terms.form)
        if questions_changed and await connection.fetchval(_SELECT_HAS_OPINIONS, batch):
            raise ReviewRefused(
                "Reviews have already been submitted, so the criteria and the review form can no longer be changed.",
                "Leave them as they are; everything else can be changed.",
            )
        if await connection.fetchrow(_UPDATE_CALL, tenant, batch, *values) is None:
            return False
        await self._store_terms(connection, batch, current.version + 1, terms, by)
        await self._log.append(connection, tenant, by, "call changed", batch, **_make_audit_content(details))
        return True

    @in_transaction
    async def archive(
        self, connection: Connection, tenant: TenantId, batch: BatchId, by: ActBy, *, archived: bool
    ) -> None:
        """Hide a call from the console's list, or show it there again. Nothing else changes, so this is allowed after
        sign-off. A call that is still open or running cannot be hidden."""
        if await connection.fetchrow(_ARCHIVE_CALL, tenant, batch, archived, by.at) is not None:
            await self._log.append(connection, tenant, by, "call archived" if archived else "call unarchived", batch)

    async def _store_terms(
        self, connection: Connection, batch: BatchId, version: int, terms: CallTerms, by: ActBy
    ) -> None:
        actor_name = replace_nul(by.actor.name)
        await connection.execute(_UPSERT_TERMS, batch, version, to_json_column(terms), actor_name, by.at)

    async def get(self, tenant: TenantId, batch: BatchId) -> CallDetails:
        """Return a call's terms; if none are stored, empty terms with version 0."""
        return await self._database.select_one(CallDetails, _SELECT_DETAILS, tenant, batch) or _NO_DETAILS

    async def get_terms(self, tenant: TenantId, evaluation: JobId) -> CallTerms:
        """Return the terms of the call that a proposal belongs to; empty terms if none are stored."""
        details = await self._database.select_one(CallDetails, _SELECT_PROPOSAL_TERMS, tenant, evaluation)
        return (details or _NO_DETAILS).terms

    async def get_names(self, tenant: TenantId, batches: Collection[BatchId]) -> dict[BatchId, str]:
        """Return call names by id; calls without a name are omitted."""
        query = "SELECT id, name FROM batches WHERE tenant = $1 AND id = ANY($2) AND name <> ''"
        return {row["id"]: row["name"] for row in await self._database.fetch(query, tenant, list(batches))}

    async def list_scoring_bases(self, tenant: TenantId, batch: BatchId) -> list[Basis]:
        """Return the ways in which a call's proposals were scored, the most frequent first."""
        return await self._database.select(Basis, _SELECT_SCORING_BASES, tenant, batch)

    async def get_rules(self, tenant: TenantId, batch: BatchId) -> CallRules | None:
        """Return a call's evaluation rules, read from its first proposal; None for a call without proposals."""
        return await self._database.select_one(CallRules, _SELECT_RULES, tenant, batch)


def _make_audit_content(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details in the form in which the audit log stores them."""
    return {
        key: value.model_dump(mode="json", exclude_defaults=True)
        if isinstance(value, CallTerms)
        else value.isoformat()
        if isinstance(value, dt.date)
        else value
        for key, value in details.items()
    }


_SELECT_COUNTS = f"""
    SELECT jobs.batch, count(*) AS proposals, count(*) FILTER (WHERE jobs.state IN ('queued', 'running')) AS unfinished,
           count(*) FILTER (WHERE {READABLE}) AS readable,
           count(*) FILTER (WHERE {READABLE} AND by_proposal.reviews > 0) AS assigned,
           coalesce(sum(by_proposal.reviews) FILTER (WHERE {READABLE}), 0)::integer AS reviews,
           coalesce(sum(by_proposal.missing) FILTER (WHERE {READABLE}), 0)::integer AS missing,
           count(decisions.evaluation) AS decided
    FROM jobs LEFT JOIN (
        SELECT assignments.evaluation, count(*) AS reviews, count(*) FILTER (WHERE opinions.member IS NULL) AS missing
        FROM jobs JOIN assignments ON assignments.evaluation = jobs.id LEFT JOIN opinions USING (evaluation, member)
        WHERE jobs.batch = ANY($2) GROUP BY assignments.evaluation
    ) AS by_proposal ON by_proposal.evaluation = jobs.id
    LEFT JOIN decisions ON decisions.evaluation = jobs.id
    WHERE jobs.tenant = $1 AND jobs.batch = ANY($2) AND jobs.kind = 'evaluation' AND jobs.state <> 'cancelled'
    GROUP BY jobs.batch
"""
_SELECT_DATES = """
    SELECT batches.id, (terms ->> 'deadline')::date AS deadline, sign_offs.batch IS NOT NULL AS signed
    FROM batches LEFT JOIN call_terms ON call_terms.batch = batches.id
    LEFT JOIN sign_offs ON sign_offs.batch = batches.id
    WHERE tenant = $1 AND batches.id = ANY($2)
"""


class PgCallProgress(Store):
    async def get_progress(
        self, tenant: TenantId, due_dates: Mapping[BatchId, dt.date | None], today: dt.date
    ) -> dict[BatchId, CallProgress]:
        """Return the stage of each call in `due_dates`, which maps calls to the last day for reviews."""
        counts = {row["batch"]: row for row in await self._database.fetch(_SELECT_COUNTS, tenant, list(due_dates))}
        return {
            row["id"]: derive_progress(
                from_row(CallCounts, counts[row["id"]]) if row["id"] in counts else CallCounts(),
                is_signed_off=row["signed"],
                deadline=row["deadline"],
                due=due_dates[row["id"]],
                today=today,
            )
            for row in await self._database.fetch(_SELECT_DATES, tenant, list(due_dates))
        }
