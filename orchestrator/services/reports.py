"""Evaluation reports, either complete or masked for reviewers."""

import asyncio

from assayer.models import Report
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.reviewing.shown_reports import numbered_title, report_for_reviewer
from orchestrator.services.job_lookup import find_job, no_result_problem
from orchestrator.store import PgJobs


async def stored_report(jobs: PgJobs, tenant: TenantId, id: str) -> Report:
    """Return an evaluation's report. Raises HttpProblem if there is none."""
    job = await find_job(jobs, tenant, id, "evaluation")
    report = await jobs.get_report(tenant, job.id) if job.state == "succeeded" else None
    if report is None:
        raise no_result_problem(job)
    return report


async def report_of_reviewer(jobs: PgJobs, tenant: TenantId, id: str) -> Report | None:
    """Return the report as a reviewer may read it; in blind mode, without details that identify the applicant. None if
    there is no report."""
    report = await jobs.get_report(tenant, JobId(id))
    if report is None:
        return None
    job = await jobs.get(tenant, JobId(id))
    return await asyncio.to_thread(report_for_reviewer, report, numbered_title(None if job is None else job.row))
