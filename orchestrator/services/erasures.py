"""Preview and execution of erasures (of an applicant's data, or of a batch)."""

from assayer.reports.wording import format_count, format_money
from assayer_client.erasures import ErasedJob, Erasure, RedactedRanking
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import TERMINAL, BatchId, JobId, TenantId
from orchestrator.services.job_lookup import find_batch
from orchestrator.store import PgJobs
from orchestrator.store.erasure import JobToErase, PgErasures


async def erasure_of(
    erasures: PgErasures, jobs: PgJobs, tenant: TenantId, source: str | None, batch: str | None
) -> Erasure:
    """Return what an erasure would delete. Raises HttpProblem if the batch does not exist."""
    refused_rows = await erasures.refused_rows(tenant, source)
    if batch is not None:
        refused_rows = len((await find_batch(jobs, tenant, batch)).rejected)
    erasure = await erasures.find(tenant, source, None if batch is None else BatchId(batch))
    stay = {item.id for item in erasure if batch is None and item.stays}
    return Erasure(
        dry_run=True,
        jobs=tuple(
            ErasedJob(
                id=item.id,
                kind=item.kind,
                title=item.subject,
                state=item.state,
                batch=item.batch,
                row=item.row,
                warning=_loss(item) if batch is None else "",
            )
            for item in erasure
            if item.id not in stay
        ),
        redacted_rankings=tuple(
            RedactedRanking(
                id=item.id, title=item.subject, removed_proposals=item.taken, remaining_proposals=item.left or 0
            )
            for item in erasure
            if item.id in stay
        ),
        rejected_rows=refused_rows,
        batch=batch,
        proof=None,
    )


def _loss(job_to_erase: JobToErase) -> str:
    """Return a sentence about what other applicants lose if a ranking is deleted with an applicant's data; empty if
    they lose nothing."""
    ranking_name = f"The ranking “{job_to_erase.subject or job_to_erase.id}”"
    if job_to_erase.kind == "ranking" and job_to_erase.state not in TERMINAL:
        return (
            f"{ranking_name} has not finished and will be deleted too. The other proposals must then be ranked again."
        )
    if not job_to_erase.left:
        return ""
    cost = "cost unknown" if job_to_erase.cost_usd is None else f"cost {format_money(job_to_erase.cost_usd)}"
    remaining_text = format_count(job_to_erase.left, "proposal")
    return f"{ranking_name} will be deleted too ({cost}), so the remaining {remaining_text} will have no ranking."


async def erase_found(
    erasures: PgErasures, tenant: TenantId, source: str | None, erasure: Erasure, by: ActBy
) -> Erasure:
    """Delete what `erasure_of` found, and return the erasure with the number of its proof. `source` is the name that
    was searched for, if any."""
    erased_jobs = [JobId(job.id) for job in erasure.jobs]
    batch = BatchId(erasure.batch) if erasure.batch else None
    kept_rankings = [JobId(item.id) for item in erasure.redacted_rankings]
    erased_jobs_result = await erasures.erase(
        tenant, erased_jobs, by, source=source, batch=batch, redacted_rankings=kept_rankings
    )
    # Rankings that were still running at the time of the preview but have finished since are kept.
    finished = {
        job.id: RedactedRanking(
            id=job.id, title=job.title, removed_proposals=len(standing.ideas), remaining_proposals=standing.others
        )
        for job in erasure.jobs
        if (standing := erased_jobs_result.finished.get(JobId(job.id))) is not None
    }
    return erasure.model_copy(
        update={
            "dry_run": False,
            "proof": erased_jobs_result.proof,
            "jobs": tuple(job for job in erasure.jobs if job.id not in finished),
            "redacted_rankings": (*erasure.redacted_rankings, *finished.values()),
        }
    )
