"""Evaluation reports, either complete or masked for reviewers."""

import asyncio

from assayer.models import Report
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.reviewing.redacted_reports import build_numbered_title, redact_report
from orchestrator.services.job_lookup import build_no_result_problem, find_job
from orchestrator.store import PgJobs


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
