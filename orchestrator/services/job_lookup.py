"""Lookup of a tenant's jobs, batches and reports by id, and the problems raised if they or their results do not
exist."""

import asyncio

from assayer.models import Report
from orchestrator.jobs.models import BatchId, Job, JobId, JobKind, TenantId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.problems import HttpProblem, build_missing_problem, require
from orchestrator.reviewing.redacted_reports import build_numbered_title, redact_report
from orchestrator.store import PgJobs


async def find_job(jobs: PgJobs, tenant: TenantId, job: str, kind: JobKind) -> Job:
    """Return a tenant's job of this kind. Raises HttpProblem with status 404 if there is none, or 410 if it was
    deleted."""
    job_row = await jobs.get(tenant, JobId(job))
    if job_row is None or job_row.kind != kind:
        raise build_missing_problem(kind, job)
    return job_row


async def find_batch(jobs: PgJobs, tenant: TenantId, id: str) -> BatchStatus:
    """Return a batch's current status. Raises HttpProblem with status 404 if it does not exist, or 410 if it was
    deleted."""
    return require(await jobs.get_batch(tenant, BatchId(id)), build_missing_problem("batch", id))


def build_no_result_problem(job: Job) -> HttpProblem:
    """Return the problem that explains why a job has no result."""
    if job.problem is not None:
        return HttpProblem.from_job_problem(job.problem, job.state)
    match job.state:
        case "cancelled":
            return HttpProblem("cancelled", f"The {job.kind} was cancelled before it finished.", state=job.state)
        case "succeeded":
            return HttpProblem("gone", f"The result of this {job.kind} has been deleted.", state=job.state)
        case _:
            return HttpProblem(
                "not-finished", f"The {job.kind} is {job.state}. Its events show when it ends.", state=job.state
            )


async def find_report(jobs: PgJobs, tenant: TenantId, id: str) -> Report:
    """Return an evaluation's report. Raises HttpProblem if there is none."""
    job = await find_job(jobs, tenant, id, "evaluation")
    report = await jobs.get_report(tenant, job.id) if job.state == "succeeded" else None
    if report is None:
        raise build_no_result_problem(job)
    return report


async def find_report_for_reviewer(jobs: PgJobs, tenant: TenantId, id: str) -> Report | None:
    """Return the report as a reviewer may read it; in blind mode, without details that identify the applicant. None if
    there is no report."""
    report = await jobs.get_report(tenant, JobId(id))
    if report is None:
        return None
    job = await jobs.get(tenant, JobId(id))
    return await asyncio.to_thread(redact_report, report, build_numbered_title(None if job is None else job.row))
