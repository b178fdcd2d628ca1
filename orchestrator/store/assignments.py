"""Storage of reviewers' assignments, and of the conflicts of interest that prevent them."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from orchestrator.access.audit_chain import ActBy, AuditedAct
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.conflict_search import FoundConflict
from orchestrator.reviewing.models import Assignment, ConflictOfInterest
from orchestrator.store.audit_log import LoggedStore, PgAuditLog
from orchestrator.store.database import Connection, Database, in_transaction, select_one
from orchestrator.store.job_sql import CALL_TITLE
from orchestrator.store.json_columns import replace_nul
from orchestrator.store.mails import PgMails
from orchestrator.store.members import COULD_READ_REPORTS
from orchestrator.store.open_calls import prevent_sign_off

OPINION_GIVEN = "CASE WHEN blind_at IS NULL THEN 'none' WHEN revised_at IS NULL THEN 'blind' ELSE 'revised' END"
"""SQL expression for an opinion's state, in a query that joins opinions to assignments."""
WITHOUT_OPINION = """NOT EXISTS (
    SELECT FROM opinions WHERE opinions.evaluation = assignments.evaluation AND opinions.member = assignments.member
)"""
"""SQL condition for an assignment without an opinion. Only these assignments can end; one with an opinion is kept."""

READABLE = "NOT (jobs.state = 'failed' AND coalesce(jobs.request -> 'idea', 'null') = 'null')"
"""SQL condition for a proposal whose text is known or still being extracted from its document. A document that could
not be read has no text, so it is not reviewed."""

TITLE_FOR_REVIEWERS = """CASE WHEN jobs.blind THEN coalesce((
    SELECT nullif(report #>> '{idea,title}', '') FROM evaluations WHERE evaluations.id = jobs.run_id
), concat_ws(' ', 'Proposal', jobs."row")) ELSE jobs.subject END"""
"""SQL expression for a proposal's title as reviewers see it. In blind mode the title is masked; until the report
exists, the row number is shown instead."""

_SELECT_ASSIGNMENTS = f"""
    SELECT evaluation, jobs.batch, jobs."row", jobs.state, member, assigned_at, batches.opinions_due AS due_date,
           {OPINION_GIVEN} AS opinion, CASE WHEN $5::boolean THEN {TITLE_FOR_REVIEWERS} ELSE jobs.subject END AS title,
           CASE WHEN $5::boolean THEN '' ELSE assignments.reason END AS reason,
           {CALL_TITLE} AS call, sign_offs.batch IS NOT NULL AS signed_off
    FROM assignments JOIN jobs ON jobs.id = assignments.evaluation
    LEFT JOIN batches ON batches.id = jobs.batch LEFT JOIN sign_offs ON sign_offs.batch = jobs.batch
    LEFT JOIN opinions USING (evaluation, member)
    WHERE jobs.tenant = $1 AND ($2::text IS NULL OR member = $2) AND ($3::text IS NULL OR jobs.batch = $3)
      AND ($2::text IS NULL OR blind_at IS NOT NULL OR sign_offs.batch IS NULL AND {READABLE})
    ORDER BY blind_at IS NOT NULL, batches.opinions_due, batches.created_at DESC, jobs.batch, jobs."row", evaluation,
             member LIMIT $4
"""
_SELECT_BLIND_GIVEN = """
    SELECT EXISTS (SELECT FROM opinions WHERE evaluation = $2 AND member = $3) AS blind_given
    FROM assignments JOIN jobs ON jobs.id = assignments.evaluation
    WHERE jobs.tenant = $1 AND evaluation = $2 AND member = $3
"""
_SELECT_PROPOSAL_TEXTS = f"""
    SELECT id, subject AS title, CASE
               WHEN request ->> 'idea' IS NULL THEN (
                   SELECT report #>> '{{idea,text}}' FROM evaluations WHERE evaluations.id = jobs.run_id
               ) ELSE concat_ws(E'\\n', request #>> '{{idea,title}}', request #>> '{{idea,text}}')
           END AS text, array(SELECT jsonb_array_elements_text(CASE
               WHEN request ->> 'idea' IS NULL THEN (
                   SELECT coalesce(report #> '{{idea,people_fields}}', '[]')
                          || jsonb_path_query_array(report, '$.idea.blinding.masked[*].text')
                   FROM evaluations WHERE evaluations.id = jobs.run_id
               ) ELSE request #> '{{idea,people_fields}}'
           END)) || array_remove(ARRAY[applicants.name, applicants.institution], NULL) AS other_texts
    FROM jobs LEFT JOIN applicants ON applicants.evaluation = jobs.id
    WHERE tenant = $1 AND batch = $2 AND kind = 'evaluation' AND state <> 'cancelled' AND {READABLE}
      AND ($3::text[] IS NULL OR jobs.id = ANY($3))
    ORDER BY "row", id
"""
# A proposal's text comes from its request or, for documents, from its report.
_SELECT_VERSIONS = f"""
    SELECT jobs.id, concat_ws(E'\\n', evaluations.id, jobs.subject, applicants.name, applicants.institution) AS version
    FROM jobs LEFT JOIN evaluations ON evaluations.id = jobs.run_id
    LEFT JOIN applicants ON applicants.evaluation = jobs.id
    WHERE tenant = $1 AND batch = $2 AND kind = 'evaluation' AND state <> 'cancelled' AND {READABLE}
    ORDER BY "row", jobs.id
"""
_SELECT_CONFLICTS = """
    SELECT conflicts.* FROM conflicts JOIN jobs ON jobs.id = conflicts.evaluation
    WHERE jobs.tenant = $1 AND jobs.batch = $2 ORDER BY jobs."row", conflicts.evaluation, conflicts.member
"""
# A detected conflict does not overwrite one that a person has declared or cleared.
_INSERT_DETECTED_CONFLICT = """
    INSERT INTO conflicts (evaluation, member, source, reason, recorded_at)
    SELECT id, $2, $3, $4, $5 FROM jobs WHERE id = $1 FOR KEY SHARE ON CONFLICT DO NOTHING
"""
_UPSERT_CONFLICT = """
    INSERT INTO conflicts AS stored (evaluation, member, source, reason, recorded_at)
    SELECT jobs.id, members.id, $6, $4, $5 FROM jobs, members
    WHERE jobs.tenant = $1 AND jobs.id = $2 AND members.tenant = $1 AND members.id = $3
    FOR KEY SHARE OF jobs
    ON CONFLICT (evaluation, member) DO UPDATE SET source = $6, reason = $4, cleared_reason = NULL, recorded_at = $5
    RETURNING stored.*
"""
_CLEAR_CONFLICT = """
    UPDATE conflicts SET cleared_reason = $4 FROM jobs
    WHERE jobs.id = evaluation AND jobs.tenant = $1 AND evaluation = $2 AND member = $3 RETURNING conflicts.*
"""
# Inserts only the planned pairs that are still allowed. Since planning, the proposal may have been erased, a conflict
# declared, or the reviewer removed from the tenant or the call.
_INSERT_ASSIGNMENTS = f"""
    INSERT INTO assignments (evaluation, member, reason, assigned_at)
    SELECT jobs.id, members.id, pairs.reason, $3
    FROM unnest($1::text[], $2::text[], $5::text[]) AS pairs (evaluation, member, reason)
    JOIN jobs ON jobs.id = pairs.evaluation AND jobs.batch = $4 AND {READABLE}
    JOIN batches ON batches.id = jobs.batch
    JOIN members ON members.id = pairs.member AND members.removed_at IS NULL AND members.role = 'reviewer'
    WHERE NOT {COULD_READ_REPORTS} AND NOT EXISTS (
        SELECT FROM conflicts WHERE evaluation = jobs.id AND member = members.id AND cleared_reason IS NULL
    )
    AND (
        NOT EXISTS (SELECT FROM call_reviewers WHERE batch = $4)
        OR EXISTS (SELECT FROM call_reviewers AS chosen WHERE chosen.batch = $4 AND chosen.member = members.id)
    )
    FOR KEY SHARE OF jobs, members
    ON CONFLICT DO NOTHING RETURNING evaluation, member
"""
_HAS_CONFLICT = """EXISTS (
    SELECT FROM conflicts
    WHERE conflicts.evaluation = assignments.evaluation AND conflicts.member = assignments.member
      AND conflicts.cleared_reason IS NULL
)"""
_IS_NO_REVIEWER = "(members.removed_at IS NOT NULL OR members.role <> 'reviewer')"
_DELETE_DISALLOWED_ASSIGNMENTS = f"""
    DELETE FROM assignments USING jobs, batches, members
    WHERE jobs.id = assignments.evaluation AND jobs.tenant = $1 AND jobs.batch = $2 AND batches.id = jobs.batch
      AND members.id = assignments.member
      AND ({_HAS_CONFLICT} OR {_IS_NO_REVIEWER} OR {COULD_READ_REPORTS} OR NOT {READABLE})
      AND {WITHOUT_OPINION}
    RETURNING assignments.evaluation, assignments.member,
              CASE WHEN {_HAS_CONFLICT} THEN 'a conflict of interest'
                   WHEN {_IS_NO_REVIEWER} THEN 'is no longer a reviewer'
                   WHEN NOT {READABLE} THEN 'the document cannot be read'
                   ELSE 'could read the reports in another role' END AS reason
"""
_SELECT_UNBLINDED_REVIEWERS = f"""
    SELECT members.id, read_reports_until FROM members JOIN batches USING (tenant)
    WHERE members.tenant = $1 AND batches.id = $2 AND members.removed_at IS NULL AND members.role = 'reviewer'
      AND {COULD_READ_REPORTS}
"""
_DELETE_ASSIGNMENT = f"""
    DELETE FROM assignments USING jobs
    WHERE jobs.id = evaluation AND jobs.tenant = $1 AND evaluation = $2 AND member = $3
      AND {WITHOUT_OPINION}
    RETURNING evaluation
"""


class ProposalText(NamedTuple):
    """A proposal in the form in which it is searched for conflicts of interest."""

    id: JobId
    title: str
    text: str | None
    """The proposal's text; None if it is still to be extracted from a document."""
    other_texts: Sequence[str] = ()
    """Further text that may name people: fields above the proposal's text, words masked in it, and the applicant's name
    and institution."""


class PgAssignments(LoggedStore):
    def __init__(self, database: Database, audit_log: PgAuditLog, mails: PgMails) -> None:
        super().__init__(database, audit_log)
        self._mails = mails

    async def list_assignments(
        self,
        tenant: TenantId,
        *,
        member: MemberId | None = None,
        batch: BatchId | None = None,
        limit: int = 10_000,
        masked: bool = False,
    ) -> list[Assignment]:
        """Return assignments, optionally limited to a member or a call; those that still need an opinion come first.
        With `masked`, titles are shown as reviewers see them, and reasons for assignments are omitted."""
        return await self._database.select(Assignment, _SELECT_ASSIGNMENTS, tenant, member, batch, limit, masked)

    async def has_blind_opinion(self, tenant: TenantId, evaluation: JobId, member: MemberId) -> bool | None:
        """Return whether a reviewer has given a first opinion on a proposal; None if the proposal is not assigned to
        them."""
        row = await self._database.fetch_one(_SELECT_BLIND_GIVEN, tenant, evaluation, member)
        return None if row is None else row["blind_given"]

    async def list_proposal_texts(
        self, tenant: TenantId, batch: BatchId, only: Sequence[JobId] | None = None
    ) -> list[ProposalText]:
        """Return a call's reviewable proposals, or only those in `only`. Documents that could not be read are
        skipped."""
        return await self._database.select(ProposalText, _SELECT_PROPOSAL_TEXTS, tenant, batch, only)

    async def get_proposal_versions(self, tenant: TenantId, batch: BatchId) -> dict[JobId, str]:
        """Return a version string for each proposal that `list_proposal_texts` returns, in the same order. It changes
        whenever the proposal's content changes."""
        return {row["id"]: row["version"] for row in await self._database.fetch(_SELECT_VERSIONS, tenant, batch)}

    async def list_unblinded_reviewers(self, tenant: TenantId, batch: BatchId) -> dict[MemberId, dt.datetime]:
        """Return the reviewers who had access to the call's reports in an earlier role, each with the time at which
        that access ended. They are assigned no proposals in this call."""
        rows = await self._database.fetch(_SELECT_UNBLINDED_REVIEWERS, tenant, batch)
        return {MemberId(row["id"]): row["read_reports_until"] for row in rows}

    async def list_conflicts(self, tenant: TenantId, batch: BatchId) -> list[ConflictOfInterest]:
        """Return a call's conflicts of interest, including cleared ones."""
        return await self._database.select(ConflictOfInterest, _SELECT_CONFLICTS, tenant, batch)

    async def store_detected_conflicts(
        self, conflicts: Sequence[tuple[JobId, FoundConflict]], now: dt.datetime
    ) -> None:
        """Store detected conflicts, each with its evaluation."""
        rows = [(item, found.member, found.source, replace_nul(found.words), now) for item, found in conflicts]
        await self._database.run(lambda connection: connection.executemany(_INSERT_DETECTED_CONFLICT, rows))

    async def declare_within(
        self,
        connection: Connection,
        /,
        tenant: TenantId,
        evaluation: JobId,
        member: MemberId,
        reason: str,
        by: ActBy,
        source: Literal["declared", "declined"] = "declared",
    ) -> ConflictOfInterest | None:
        """Record a conflict of interest, or that the member declined the review. The assignment ends unless it has an
        opinion. Return None if the proposal or the member does not exist."""
        await prevent_sign_off(connection, tenant, evaluation, exclusive=True)
        values = (tenant, evaluation, member, replace_nul(reason))
        conflict = await select_one(connection, ConflictOfInterest, _UPSERT_CONFLICT, *values, by.at, source)
        if conflict is None:
            return None
        await connection.execute(_DELETE_ASSIGNMENT, tenant, evaluation, member)
        act: AuditedAct = "conflict declared" if source == "declared" else "review declined"
        await self._log.append(connection, tenant, by, act, evaluation, member=member, reason=reason)
        return conflict

    declare = in_transaction(declare_within)

    @in_transaction
    async def clear(
        self, connection: Connection, tenant: TenantId, evaluation: JobId, member: MemberId, reason: str, by: ActBy
    ) -> ConflictOfInterest | None:
        """Mark a conflict of interest as not applicable. Return None if there is no such conflict."""
        await prevent_sign_off(connection, tenant, evaluation)
        values = (tenant, evaluation, member, replace_nul(reason))
        conflict = await select_one(connection, ConflictOfInterest, _CLEAR_CONFLICT, *values)
        if conflict is None:
            return None
        await self._log.append(connection, tenant, by, "conflict cleared", evaluation, member=member, reason=reason)
        return conflict

    @in_transaction
    async def assign(
        self,
        connection: Connection,
        tenant: TenantId,
        batch: BatchId,
        pairs: Mapping[tuple[JobId, MemberId], str],
        by: ActBy,
    ) -> list[tuple[JobId, MemberId]]:
        """Create the new assignments that are still allowed, and return them. `pairs` maps each to its reason. A pair
        is skipped if the reviewer has a conflict, or could read the call's reports in another role. Existing
        assignments without an opinion end on the same grounds, or if the member is no longer a reviewer."""
        await prevent_sign_off(connection, tenant, batch, exclusive=True)
        ended_rows = await connection.fetch(_DELETE_DISALLOWED_ASSIGNMENTS, tenant, batch)
        evaluations, members = [evaluation for evaluation, _ in pairs], [member for _, member in pairs]
        reasons = [replace_nul(reason) for reason in pairs.values()]
        rows = await connection.fetch(_INSERT_ASSIGNMENTS, evaluations, members, by.at, batch, reasons)
        assigned_pairs = [(JobId(row["evaluation"]), MemberId(row["member"])) for row in rows]
        # Members are locked before the audit log's head, in the same order as when members are changed.
        for row in ended_rows:
            content = {"member": row["member"], "reason": row["reason"]}
            await self._log.append(connection, tenant, by, "assignment withdrawn", row["evaluation"], **content)
        if assigned_pairs:
            await self._mails.queue_assignments(connection, tenant, batch, [member for _, member in assigned_pairs])
            added_pairs = [[evaluation, member] for evaluation, member in assigned_pairs]
            await self._log.append(connection, tenant, by, "reviewers assigned", batch, pairs=added_pairs)
        return assigned_pairs

    @in_transaction
    async def withdraw(
        self, connection: Connection, tenant: TenantId, evaluation: JobId, member: MemberId, by: ActBy
    ) -> bool:
        """Withdraw an assignment. Return False if it does not exist or already has an opinion."""
        await prevent_sign_off(connection, tenant, evaluation, exclusive=True)
        if await connection.fetchrow(_DELETE_ASSIGNMENT, tenant, evaluation, member) is None:
            return False
        await self._log.append(connection, tenant, by, "assignment withdrawn", evaluation, member=member)
        return True
