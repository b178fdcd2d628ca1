"""Reviewers' opinions: first (blind) opinions, revisions, judgements on individual points in the report, and
remarks."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

from assayer_client.calls import ReviewAnswers
from assayer_client.reviewing import OpinionBody
from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.first_opinions import FirstOpinions
from orchestrator.reviewing.models import Opinion, PointJudgement, Remark, ReviewRefused
from orchestrator.store.assignments import READABLE
from orchestrator.store.audit_log import LoggedStore
from orchestrator.store.database import Connection, in_transaction, select_one
from orchestrator.store.json_columns import from_json_column, replace_nul, to_json_column
from orchestrator.store.members import COULD_READ_REPORTS
from orchestrator.store.open_calls import prevent_sign_off
from orchestrator.store.rows import from_row

_SELECT_ASSIGNMENT = f"""
    SELECT EXISTS (
        SELECT FROM conflicts WHERE evaluation = $2 AND member = $3 AND cleared_reason IS NULL
    ) AS conflict, {READABLE} AS readable
    FROM assignments JOIN jobs ON jobs.id = assignments.evaluation
    WHERE jobs.tenant = $1 AND evaluation = $2 AND member = $3
"""
_SELECT_UNBLINDED_UNTIL = f"""
    SELECT read_reports_until FROM members JOIN jobs ON jobs.id = $1 JOIN batches ON batches.id = jobs.batch
    WHERE members.id = $2 AND {COULD_READ_REPORTS}
      AND NOT EXISTS (SELECT FROM opinions WHERE evaluation = $1 AND member = $2)
"""
_INSERT_OPINION = """
    INSERT INTO opinions (evaluation, member, blind_score, blind_note, blind_answers, blind_at, score, note, answers)
    VALUES ($1, $2, $3, $4, $5, $6, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING evaluation
"""
_LOCK_LAST_SAVED_AT = """
    SELECT coalesce(revised_at, blind_at) AS at FROM opinions WHERE evaluation = $1 AND member = $2 FOR UPDATE
"""
_UPDATE_OPINION = """
    UPDATE opinions SET score = $3, note = $4, answers = $5, revised_at = $6 WHERE evaluation = $1 AND member = $2
"""
_OPINIONS = """
    SELECT opinions.*, coalesce(signed_names.name, members.name) AS name, EXISTS (
        SELECT FROM conflicts
        WHERE conflicts.evaluation = opinions.evaluation AND conflicts.member = opinions.member
          AND cleared_reason IS NULL
    ) AS conflict
    FROM opinions JOIN members ON members.id = opinions.member
    JOIN jobs ON jobs.id = opinions.evaluation LEFT JOIN signed_names USING (batch, member)
    WHERE jobs.tenant = $1 AND {which}
    ORDER BY jobs."row", opinions.evaluation, opinions.blind_at, opinions.member
"""
_SELECT_OPINIONS = _OPINIONS.format(
    which="($2::text IS NULL OR jobs.batch = $2) AND ($3::text IS NULL OR opinions.evaluation = $3) "
    "AND ($4::text IS NULL OR opinions.member = $4)"
)
_SELECT_OPINIONS_ON_PROPOSALS = _OPINIONS.format(which="opinions.evaluation = ANY($2)")
# Returned as one row of arrays, which is faster to fetch than a row per opinion.
_SELECT_FIRST_OPINIONS = """
    SELECT coalesce(array_agg(member), '{}') AS members, coalesce(array_agg(evaluation), '{}') AS proposals,
           coalesce(array_agg(blind_score), '{}') AS scores, coalesce(array_agg(report_score), '{}') AS report_scores
    FROM (
        SELECT member, evaluation, blind_score, report_figures.score AS report_score
        FROM opinions JOIN jobs ON jobs.id = evaluation
        LEFT JOIN report_figures ON run = jobs.run_id AND state = 'succeeded'
        WHERE tenant = $1 AND batch = $2 ORDER BY evaluation, member
    ) AS first_opinions
"""
_UPSERT_JUDGEMENT = """
    INSERT INTO point_judgements (evaluation, member, point, agrees, reason, judged_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (evaluation, member, point) DO UPDATE SET agrees = $4, reason = $5, judged_at = $6
"""
_SELECT_JUDGEMENTS = """
    SELECT judged.*, coalesce(signed_names.name, members.name) AS name
    FROM point_judgements AS judged JOIN members ON members.id = judged.member
    JOIN jobs ON jobs.id = judged.evaluation LEFT JOIN signed_names USING (batch, member)
    WHERE jobs.tenant = $1 AND judged.evaluation = $2 AND ($3::text IS NULL OR judged.member = $3)
    ORDER BY judged.point, judged.judged_at, judged.member
"""


class PgOpinions(LoggedStore):
    @in_transaction
    async def submit(
        self, connection: Connection, tenant: TenantId, evaluation: JobId, body: OpinionBody, by: ActBy
    ) -> Opinion | None:
        """Store a reviewer's first opinion, given before they can see the report. Return None if the proposal is not
        assigned to the reviewer. Raises ReviewRefused if the reviewer has already given a different first opinion, has
        a conflict of interest, or could read the report in an earlier role. Also raises it if the call is signed off or
        the document could not be read."""
        member, note, answers = MemberId(by.actor.id), replace_nul(body.note), to_json_column(body.answers)
        if not await _may_review(connection, tenant, evaluation, member):
            return None
        if unblinded_until := await connection.fetchval(_SELECT_UNBLINDED_UNTIL, evaluation, member):
            raise ReviewRefused(
                f"Until {unblinded_until:%Y-%m-%d} you could read the reports of this call in another role, so your "
                "first opinion would not be blind.",
                "Ask the officer in charge of the funding call to assign another reviewer.",
            )
        if await connection.fetchrow(_INSERT_OPINION, evaluation, member, body.score, note, answers, by.at) is not None:
            await self._log.append(
                connection, tenant, by, "blind opinion given", evaluation, **_make_audit_content(body)
            )
        opinion = await _read_opinion(connection, tenant, evaluation, member)
        first_opinion = (opinion.blind_score, opinion.blind_note, opinion.blind_answers)
        if first_opinion != (body.score, note, from_json_column(ReviewAnswers, answers, "The review")):
            raise ReviewRefused(
                "You have already given your first opinion, which cannot be replaced. To add a revised "
                "opinion, use PATCH."
            )
        return opinion

    @in_transaction
    async def revise(
        self,
        connection: Connection,
        tenant: TenantId,
        evaluation: JobId,
        body: OpinionBody,
        by: ActBy,
        seen: dt.datetime | None = None,
    ) -> Opinion | None:
        """Store a revised opinion, keeping the first one. Return None if the proposal is not assigned to the reviewer.
        Raises ReviewRefused if there is no first opinion, or if the latest version is not the one saved at `seen`."""
        member, note = MemberId(by.actor.id), replace_nul(body.note)
        if not await _may_review(connection, tenant, evaluation, member):
            return None
        last_saved_at = await connection.fetchval(_LOCK_LAST_SAVED_AT, evaluation, member)
        if last_saved_at is None:
            raise ReviewRefused("There is no opinion to revise. Give your first opinion with POST.")
        if seen is not None and last_saved_at != seen:
            raise ReviewRefused(
                f"This review was saved from another tab on {last_saved_at:%Y-%m-%d at %H:%M} UTC.",
                "Compare that version with this one, then save again.",
            )
        await connection.execute(
            _UPDATE_OPINION, evaluation, member, body.score, note, to_json_column(body.answers), by.at
        )
        await self._log.append(connection, tenant, by, "opinion revised", evaluation, **_make_audit_content(body))
        return await _read_opinion(connection, tenant, evaluation, member)

    async def list_opinions(
        self,
        tenant: TenantId,
        *,
        batch: BatchId | None = None,
        evaluation: JobId | None = None,
        member: MemberId | None = None,
    ) -> list[Opinion]:
        return await self._database.select(Opinion, _SELECT_OPINIONS, tenant, batch, evaluation, member)

    async def list_for_proposals(self, tenant: TenantId, evaluations: Sequence[JobId]) -> list[Opinion]:
        return await self._database.select(Opinion, _SELECT_OPINIONS_ON_PROPOSALS, tenant, list(evaluations))

    async def get_first_opinions(self, tenant: TenantId, batch: BatchId) -> FirstOpinions:
        """Return a call's first opinions, with the score from each proposal's report if there is one."""
        (first_opinions,) = await self._database.select(FirstOpinions, _SELECT_FIRST_OPINIONS, tenant, batch)
        return first_opinions

    @in_transaction
    async def judge_point(
        self,
        connection: Connection,
        tenant: TenantId,
        evaluation: JobId,
        point: str,
        agrees: bool,
        reason: str,
        by: ActBy,
    ) -> bool:
        """Store whether the reviewer agrees with a point in the report, replacing any earlier judgement. Return False
        if the proposal is not assigned to the reviewer. Raises ReviewRefused if they have not given a first opinion,
        which must come before they see the report."""
        member, stored_reason = MemberId(by.actor.id), replace_nul(reason)
        if not await _may_review(connection, tenant, evaluation, member):
            return False
        existing = "SELECT FROM opinions WHERE evaluation = $1 AND member = $2"
        if await connection.fetchrow(existing, evaluation, member) is None:
            raise ReviewRefused("Give your first opinion before you judge points in the report.")
        await connection.execute(_UPSERT_JUDGEMENT, evaluation, member, point, agrees, stored_reason, by.at)
        content = {"point": point, "agrees": agrees, "reason": stored_reason}
        await self._log.append(connection, tenant, by, "point judged", evaluation, **content)
        return True

    async def list_judgements(
        self, tenant: TenantId, evaluation: JobId, member: MemberId | None = None
    ) -> list[PointJudgement]:
        return await self._database.select(PointJudgement, _SELECT_JUDGEMENTS, tenant, evaluation, member)


def _make_audit_content(body: OpinionBody) -> dict[str, Any]:
    """Return an opinion in the form in which the audit log stores it."""
    answers = body.answers.model_dump(exclude_defaults=True)
    return {"score": body.score, "note": replace_nul(body.note)} | ({"answers": answers} if answers else {})


async def _read_opinion(connection: Connection, tenant: TenantId, evaluation: JobId, member: MemberId) -> Opinion:
    """Return the opinion just written. It is read in the same transaction, because it could be erased later."""
    (row,) = await connection.fetch(_SELECT_OPINIONS, tenant, None, evaluation, member)
    return from_row(Opinion, row)


async def _may_review(connection: Connection, tenant: TenantId, evaluation: JobId, member: MemberId) -> bool:
    """Return whether the proposal is assigned to the reviewer, and prevent the call's sign-off. Raises ReviewRefused if
    they have a conflict of interest, if the document could not be read, or if the call is signed off."""
    if await connection.fetchrow(_SELECT_ASSIGNMENT, tenant, evaluation, member) is None:
        return False
    await prevent_sign_off(connection, tenant, evaluation)
    # Checked again under the lock, during which no conflict can be declared and no assignment withdrawn.
    row = await connection.fetchrow(_SELECT_ASSIGNMENT, tenant, evaluation, member)
    if row is None:
        return False
    if row["conflict"]:
        raise ReviewRefused("You have a conflict of interest with this proposal.")
    if not row["readable"]:
        raise ReviewRefused(
            "The document could not be read, so it cannot be reviewed.",
            "Contact the officer in charge of the funding call.",
        )
    return True


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
