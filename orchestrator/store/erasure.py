"""Search for and erasure of all data that a tenant has stored about an applicant or a batch."""

from collections.abc import Sequence, Set
from functools import partial

import asyncpg

from assayer.models import Frozen
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import BatchId, JobId, JobKind, JobState, TenantId
from orchestrator.store.audit_log import LoggedStore, PgAuditLog
from orchestrator.store.database import Connection, Database
from orchestrator.store.documents import PgDocuments
from orchestrator.store.erasure_steps import ErasureStart, ErasureSteps, StartedErasure, find_idea_ids, remove_nul
from orchestrator.store.job_sql import source_matches
from orchestrator.store.ranking_redaction import (
    APPLICANT_IDEAS,
    MIN_REMAINING_PROPOSALS,
    REDACTION_SECONDS,
    SELECT_UNREDACTED,
)

_JOBS_PER_TRANSACTION = 200


def _source_has_name(column: str) -> str:
    return source_matches(column, "$2")


# Comparisons, scores and rankings contain complete ideas. They are found by the sender's name for an idea, or by the id
# of an idea whose evaluation matches. Item lists name ideas by `id`, `reference` or `source`.
_SELECT_JOBS_TO_ERASE = f"""
    WITH {APPLICANT_IDEAS}
    SELECT id, kind, state, subject, batch, "row", cost_usd, size AS ranked,
           coalesce(applicant_ideas, 0) AS applicant_ideas, remaining_ideas
    FROM jobs LEFT JOIN rankings ON job = id LEFT JOIN LATERAL (
        SELECT count(*)::integer AS remaining_ideas, (count(*) FILTER (
            WHERE {_source_has_name("ranking_ideas.source")} OR idea IN (SELECT idea FROM own)
        ))::integer AS applicant_ideas
        FROM ranking_ideas WHERE jobs.kind = 'ranking' AND ranking_ideas.job = jobs.id HAVING count(*) > 0
    ) AS ideas ON true
    WHERE tenant = $1 AND (
        id IN (SELECT id FROM direct)
        OR applicant_ideas > 0
        OR kind NOT IN ('evaluation', 'ranking') AND (
            EXISTS (
                SELECT FROM jsonb_path_query(request, '$.**.source') AS named
                WHERE {_source_has_name("(named #>> '{}')")}
            )
            OR EXISTS (
                SELECT FROM jsonb_path_query(request, '$.items[*]') AS item
                WHERE $2::text IN (item ->> 'id', item ->> 'reference')
            )
            OR EXISTS (
                SELECT FROM jsonb_path_query(request, '$.**.id') AS named
                WHERE named #>> '{{}}' IN (SELECT idea FROM own)
            )
        )
    )
    ORDER BY created_at, id
"""
_COUNT_REJECTED_ROWS = f"""
    SELECT count(*)::integer AS rows FROM batches, jsonb_array_elements(rejected) AS rejected_row
    WHERE tenant = $1 AND {_source_has_name("(rejected_row ->> 'source')")}
"""
_CLOSE_BATCH = "UPDATE batches SET open = false WHERE tenant = $1 AND id = $2"
_SELECT_SOME_OF_BATCH = "SELECT id FROM jobs WHERE tenant = $1 AND batch = $2 ORDER BY id LIMIT $3"


_SELECT_REMAINING = """
    SELECT id FROM jobs WHERE tenant = $1 AND id = ANY($2)
    UNION SELECT id FROM batches WHERE tenant = $1 AND id = ANY($2)
    UNION SELECT job FROM document_files WHERE job = ANY($2)
    UNION SELECT payload #>> '{data,id}' FROM deliveries JOIN webhooks ON webhooks.id = webhook
          WHERE webhooks.tenant = $1 AND payload #>> '{data,id}' = ANY($2)
    UNION SELECT contents.subject FROM audit_contents AS contents JOIN audit_log AS entry USING (tenant, number)
          WHERE contents.tenant = $1 AND contents.subject = ANY($2) AND entry.action <> 'erased'
    ORDER BY id
"""


class JobToErase(Frozen):
    id: JobId
    kind: JobKind
    state: JobState
    subject: str
    batch: BatchId | None
    row: int | None
    cost_usd: float | None
    ranked: int | None
    """Number of ideas in a finished ranking; None for other jobs."""
    remaining_ideas: int | None
    """Number of ranked ideas that have not been erased yet."""
    applicant_ideas: int
    """Number of ranked ideas that belong to the applicant."""

    @property
    def other_proposals(self) -> int | None:
        """Number of other applicants' proposals in a finished ranking."""
        return None if self.remaining_ideas is None else self.remaining_ideas - self.applicant_ideas

    @property
    def is_kept(self) -> bool:
        """True if the job is a finished ranking that is kept, because enough proposals remain without the
        applicant's."""
        return (
            self.kind == "ranking"
            and self.state == "succeeded"
            and self.other_proposals is not None
            and self.other_proposals >= MIN_REMAINING_PROPOSALS
        )


class PgErasures(LoggedStore):
    def __init__(self, database: Database, log: PgAuditLog, documents: PgDocuments | None = None) -> None:
        super().__init__(database, log)
        self._documents = documents

    async def find(
        self, tenant: TenantId, source: str | None, batch: BatchId | None, ideas: Set[str] = frozenset()
    ) -> list[JobToErase]:
        """Return the jobs that an erasure would affect, oldest first. These are the evaluations named `source` by their
        sender or belonging to `batch`, and all other jobs that contain their ideas or `ideas`."""
        return await self._database.select(
            JobToErase, _SELECT_JOBS_TO_ERASE, tenant, remove_nul(source), batch, list(ideas)
        )

    async def count_rejected_rows(self, tenant: TenantId, source: str | None) -> int:
        """Return the number of batch rows with this name that were rejected because they contain no usable idea."""
        row = await self._database.fetch_one(_COUNT_REJECTED_ROWS, tenant, remove_nul(source))
        return 0 if row is None else int(row["rows"])

    async def erase(
        self,
        tenant: TenantId,
        jobs: Sequence[JobId],
        by: ActBy,
        *,
        source: str | None = None,
        batch: BatchId | None = None,
        ranking: JobId | None = None,
        redacted_rankings: Sequence[JobId] = (),
        ideas: Set[str] = frozenset(),
    ) -> StartedErasure:
        """Erase these jobs, the rejected rows named `source`, and the batch with everything it contains by then.
        Unfinished jobs are cancelled without notifying webhooks.

        `ranking` names a ranking that is deleted on its own, not as part of an applicant's data. Raises ReviewRefused
        if a call that it ranks is signed off, because decisions may be based on it. `redacted_rankings` holds finished
        rankings that are kept without the applicant, even after sign-off. `ideas` holds the idea ids of evaluations
        deleted earlier."""
        # The log entry comes first: if the erasure is interrupted, the log states more than was done, never less.
        first_step = ErasureStart(self._log, tenant, by, source, batch, jobs, ranking, redacted_rankings, ideas)
        started = await self._database.run(first_step.record_and_cancel)
        kept_rankings = [*redacted_rankings, *started.finished_rankings]
        jobs = [job for job in jobs if job not in started.finished_rankings]
        steps = ErasureSteps(self._log, tenant, by, first_step.audit_subject, started.proof)
        if source is not None:
            # Rankings come before evaluations, because a repeated erasure finds the ideas by the evaluations.
            for item in kept_rankings:
                await self._database.run(
                    partial(steps.remove_from_ranking, item, source, started.ideas), REDACTION_SECONDS
                )
        for start in range(0, len(jobs), _JOBS_PER_TRANSACTION):
            await self._database.run(partial(steps.delete_jobs, jobs[start : start + _JOBS_PER_TRANSACTION]))
        if source is not None:
            await self._database.run(partial(steps.delete_rejected_rows, source))
        if batch is not None:
            # From here on the batch accepts no more rows, and all rows that were being added are in.
            await self._database.execute(_CLOSE_BATCH, tenant, batch)
            started.ideas.update(await self._database.run(partial(find_idea_ids, tenant, None, batch)))
            while rows := await self._database.fetch(_SELECT_SOME_OF_BATCH, tenant, batch, _JOBS_PER_TRANSACTION):
                await self._database.run(partial(steps.delete_jobs, [JobId(row["id"]) for row in rows]))
            await self._database.run(partial(steps.delete_batch, batch))
        if source is not None or batch is not None:
            await self._erase_later_jobs(tenant, by, {*jobs, *kept_rankings}, source, batch, started.ideas)
        if self._documents is not None:
            await self._documents.try_delete_released()
        return started

    async def _erase_later_jobs(
        self,
        tenant: TenantId,
        by: ActBy,
        known_jobs: Set[JobId],
        source: str | None,
        batch: BatchId | None,
        ideas: Set[str],
    ) -> None:
        """Erase jobs that were started with these ideas after the search, with a separate log entry. Evaluations
        submitted under the same name since then are kept, because they were not part of the preview."""
        jobs_with_ideas = [item for item in await self.find(tenant, source, None, ideas) if item.kind != "evaluation"]
        later_jobs = [item for item in jobs_with_ideas if item.id not in known_jobs]
        if later_jobs:
            kept_rankings = [item.id for item in later_jobs if batch is None and item.is_kept]
            deleted_jobs = [item.id for item in later_jobs if item.id not in kept_rankings]
            await self.erase(
                tenant, deleted_jobs, by, source=source, batch=batch, redacted_rankings=kept_rankings, ideas=ideas
            )

    async def find_remaining(
        self, tenant: TenantId, resource_ids: Sequence[str], redacted_rankings: Sequence[str] = (), proof: int = 0
    ) -> list[str]:
        """Return the job and batch ids about which data is still stored: the resource itself, a document file, a
        webhook message, or content in the audit log. `redacted_rankings` holds rankings that erasure number `proof`
        redacted; return those that still contain data about a removed idea."""
        rows = await self._database.fetch(_SELECT_REMAINING, tenant, list(resource_ids))
        if redacted_rankings:

            async def select_unredacted(connection: Connection) -> list[asyncpg.Record]:
                values = (tenant, list(redacted_rankings), str(proof))
                return await connection.fetch(SELECT_UNREDACTED, *values, timeout=REDACTION_SECONDS)

            rows += await self._database.run(select_unredacted, REDACTION_SECONDS)
        return sorted({row["id"] for row in rows})
