"""Storage of proposals' applicants, and searches for proposals that have the same text or contain a name."""

from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

from assayer_client.decisions import Applicant, ApplicantBody, SameText
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.store.audit_log import LoggedStore
from orchestrator.store.database import Connection, in_transaction
from orchestrator.store.job_sql import CALL_TITLE
from orchestrator.store.json_columns import replace_nul
from orchestrator.store.open_calls import prevent_sign_off

_SELECT_APPLICANT = """
    SELECT coalesce(name, '') AS name, coalesce(institution, '') AS institution, amount,
           coalesce(columns, '{}') AS columns
    FROM jobs LEFT JOIN applicants ON evaluation = jobs.id
    WHERE tenant = $1 AND jobs.id = $2 AND kind = 'evaluation'
"""
_UPSERT_APPLICANT = """
    INSERT INTO applicants (evaluation, name, institution, amount, columns)
    SELECT id, $3, $4, $5, '{}' FROM jobs WHERE tenant = $1 AND id = $2 AND kind = 'evaluation' FOR KEY SHARE
    ON CONFLICT (evaluation) DO UPDATE SET name = $3, institution = $4, amount = $5 RETURNING evaluation
"""
# Proposals with the same text have the same idea id, which is known once there is a report.
_SELECT_SAME_TEXTS = f"""
    SELECT searched.id AS searched, matching.id AS evaluation, matching.batch, {CALL_TITLE} AS call, matching."row"
    FROM jobs AS searched JOIN evaluations AS own ON own.id = searched.run_id
    JOIN evaluations AS same ON same.idea_id = own.idea_id JOIN runs ON runs.run_id = same.id
    JOIN jobs AS matching ON matching.id = runs.job AND matching.run_id = same.id
    LEFT JOIN batches ON batches.id = matching.batch
    WHERE searched.tenant = $1 AND searched.id = ANY($2) AND matching.tenant = $1 AND matching.kind = 'evaluation'
      AND matching.id <> searched.id
    ORDER BY searched.id, matching.batch = searched.batch DESC, matching.created_at, matching.id
"""
_SELECT_BY_NAME = f"""
    SELECT jobs.id, jobs.subject AS title, source_name AS source, {CALL_TITLE} AS call, "row"
    FROM jobs LEFT JOIN applicants ON evaluation = jobs.id LEFT JOIN batches ON batches.id = jobs.batch
    LEFT JOIN evaluations ON evaluations.id = jobs.run_id
    WHERE jobs.tenant = $1 AND kind = 'evaluation' AND (
        strpos(lower(applicants.name), $2) > 0 OR strpos(lower(columns::text), $2) > 0
        OR strpos(lower(source_name), $2) > 0
        OR EXISTS (
            SELECT FROM jsonb_array_elements(coalesce(request #> '{{idea,people_fields}}', '[]')) AS above
            WHERE strpos(lower(above #>> '{{}}'), $2) > 0
        )
        OR EXISTS (
            SELECT FROM jsonb_path_query(report, '$.idea.blinding.masked[*].text') AS masked
            WHERE strpos(lower(masked #>> '{{}}'), $2) > 0
        )
        OR EXISTS (
            SELECT FROM jsonb_array_elements(coalesce(report #> '{{idea,people_fields}}', '[]')) AS above
            WHERE strpos(lower(above #>> '{{}}'), $2) > 0
        )
        OR strpos(lower(left(coalesce(report #>> '{{idea,text}}', request #>> '{{idea,text}}', ''), 2000)), $2) > 0
    )
    ORDER BY jobs.created_at, jobs.id LIMIT 50
"""


class ProposalWithName(NamedTuple):
    """A proposal in which a searched name occurs: as applicant, elsewhere in its row, in its file name, or near the
    beginning of its text."""

    id: JobId
    title: str
    source: str
    call: str
    row: int | None


class PgApplicants(LoggedStore):
    async def get(self, tenant: TenantId, evaluation: JobId) -> Applicant | None:
        """Return a proposal's applicant together with the other proposals that have the same text; None if the proposal
        does not exist."""
        applicant = await self._database.select_one(Applicant, _SELECT_APPLICANT, tenant, evaluation)
        if applicant is None:
            return None
        same_texts = (await self.find_same_texts(tenant, [evaluation])).get(evaluation, ())
        return applicant.model_copy(update={"same_text": tuple(same_texts)})

    @in_transaction
    async def change(
        self, connection: Connection, tenant: TenantId, evaluation: JobId, body: ApplicantBody, by: ActBy
    ) -> bool:
        """Store a proposal's applicant. Return False if the proposal does not exist. Raises ReviewRefused if its call
        is signed off."""
        await prevent_sign_off(connection, tenant, evaluation)
        name, institution = replace_nul(body.name.strip()), replace_nul(body.institution.strip())
        if await connection.fetchrow(_UPSERT_APPLICANT, tenant, evaluation, name, institution, body.amount) is None:
            return False
        content = {"name": name, "institution": institution, "amount": body.amount}
        await self._log.append(connection, tenant, by, "applicant changed", evaluation, **content)
        return True

    async def find_same_texts(self, tenant: TenantId, evaluations: Collection[JobId]) -> dict[JobId, list[SameText]]:
        """Return, by proposal, the other proposals that have the same text; those in the same call come first."""
        texts_by_job = defaultdict[JobId, list[SameText]](list)
        for row in await self._database.fetch(_SELECT_SAME_TEXTS, tenant, list(evaluations)):
            texts_by_job[JobId(row["searched"])].append(SameText.model_validate(dict(row)))
        return texts_by_job

    async def find_by_name(self, tenant: TenantId, name: str) -> list[ProposalWithName]:
        """Return up to 50 proposals in which a name occurs. Slow for tenants with many proposals, because it
        reads their texts."""
        search_name = replace_nul(" ".join(name.lower().split()))
        if len(search_name) <= 2:
            return []
        return await self._database.select(ProposalWithName, _SELECT_BY_NAME, tenant, search_name)
