"""Preview and execution of erasures (of an applicant's data, or of a batch)."""

from assayer.reports.wording import format_count, format_money
from assayer_client.erasures import ErasedJob, Erasure, RedactedRanking
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import TERMINAL, BatchId, JobId, TenantId
from orchestrator.services.job_lookup import find_batch
from orchestrator.store import PgJobs
from orchestrator.store.erasure import JobToErase, PgErasures


async def preview_erasure(
    erasures: PgErasures, jobs: PgJobs, tenant: TenantId, source: str | None, batch: str | None
) -> Erasure:
    """Return what an erasure would delete. Raises HttpProblem if the batch does not exist."""
    refused_rows = await erasures.count_rejected_rows(tenant, source)
    if batch is not None:
        refused_rows = len((await find_batch(jobs, tenant, batch)).rejected)
    jobs_to_erase = await erasures.find(tenant, source, None if batch is None else BatchId(batch))
    kept_ids = {job.id for job in jobs_to_erase if batch is None and job.is_kept}
    return Erasure(
        dry_run=True,
        jobs=tuple(
            ErasedJob(
                id=job.id,
                kind=job.kind,
                title=job.subject,
                state=job.state,
                batch=job.batch,
                row=job.row,
                warning=_describe_loss(job) if batch is None else "",
            )
            for job in jobs_to_erase
            if job.id not in kept_ids
        ),
        redacted_rankings=tuple(
            RedactedRanking(
                id=ranking.id,
                title=ranking.subject,
                removed_proposals=ranking.applicant_ideas,
                remaining_proposals=ranking.other_proposals or 0,
            )
            for ranking in jobs_to_erase
            if ranking.id in kept_ids
        ),
        rejected_rows=refused_rows,
        batch=batch,
        proof=None,
    )


def _describe_loss(job_to_erase: JobToErase) -> str:
    """Return a sentence about what other applicants lose if a ranking is deleted with an applicant's data; empty if
    they lose nothing."""
    ranking_name = f"The ranking “{job_to_erase.subject or job_to_erase.id}”"
    if job_to_erase.kind == "ranking" and job_to_erase.state not in TERMINAL:
        return (
            f"{ranking_name} has not finished and will be deleted too. The other proposals must then be ranked again."
        )
    if not job_to_erase.other_proposals:
        return ""
    cost = "cost unknown" if job_to_erase.cost_usd is None else f"cost {format_money(job_to_erase.cost_usd)}"
    remaining_text = format_count(job_to_erase.other_proposals, "proposal")
    return f"{ranking_name} will be deleted too ({cost}), so the remaining {remaining_text} will have no ranking."


async def carry_out_erasure(
    erasures: PgErasures, tenant: TenantId, source: str | None, erasure: Erasure, by: ActBy
) -> Erasure:
    """Delete what `preview_erasure` found, and return the erasure with the number of its proof. `source` is the name
    that was searched for, if any."""
    erased_jobs = [JobId(job.id) for job in erasure.jobs]
    batch = BatchId(erasure.batch) if erasure.batch else None
    kept_rankings = [JobId(ranking.id) for ranking in erasure.redacted_rankings]
    erased_jobs_result = await erasures.erase(
        tenant, erased_jobs, by, source=source, batch=batch, redacted_rankings=kept_rankings
    )
    # Rankings that were still running at the time of the preview but have finished since are kept.
    finished = {
        job.id: RedactedRanking(
            id=job.id, title=job.title, removed_proposals=len(result.ideas), remaining_proposals=result.others
        )
        for job in erasure.jobs
        if (result := erased_jobs_result.finished_rankings.get(JobId(job.id))) is not None
    }
    return erasure.model_copy(
        update={
            "dry_run": False,
            "proof": erased_jobs_result.proof,
            "jobs": tuple(job for job in erasure.jobs if job.id not in finished),
            "redacted_rankings": (*erasure.redacted_rankings, *finished.values()),
        }
    )
