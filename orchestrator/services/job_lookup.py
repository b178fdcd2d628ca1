"""Lookup of a tenant's jobs and batches by id, and the problems raised if they, or their results, do not exist."""

from orchestrator.jobs.models import BatchId, Job, JobId, JobKind, TenantId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.problems import HttpProblem, not_there, required
from orchestrator.store import PgJobs


async def find_job(jobs: PgJobs, tenant: TenantId, job: str, kind: JobKind) -> Job:
    """Return the job. Raises HttpProblem: 404 for an unknown id, another tenant's job or a job of another kind; 410
    for a deleted job."""
    job_row = await jobs.get(tenant, JobId(job))
    if job_row is None or job_row.kind != kind:
        raise not_there(kind, job)
    return job_row


async def find_batch(jobs: PgJobs, tenant: TenantId, id: str) -> BatchStatus:
    """Return the current status of the batch. Raises HttpProblem (404, 410)."""
    return required(await jobs.batch(tenant, BatchId(id)), not_there("batch", id))


def no_result_problem(job: Job) -> HttpProblem:
    """Return the problem that explains why a job has no result."""
    if job.problem is not None:
        return HttpProblem.of(job.problem, job.state)
    match job.state:
        case "cancelled":
            return HttpProblem("cancelled", f"The {job.kind} was cancelled before it was done.", state=job.state)
        case "succeeded":
            return HttpProblem("gone", f"The result of this {job.kind} has been deleted.", state=job.state)
        case _:
            return HttpProblem(
                "not-finished", f"The {job.kind} is {job.state}. Its events show when it ends.", state=job.state
            )
