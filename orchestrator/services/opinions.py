"""Reviewers' opinions on a proposal: the requirement for a blind first opinion, the text shown to reviewers, and their
judgements on points in the report."""

import asyncio
import re

from pydantic import BaseModel

from assayer.blinding.blind import blind_idea
from assayer.errors import InputError
from assayer.models import Point, Report
from assayer_client.calls import ReviewAnswers
from assayer_client.reviewing import JudgementBody, ProposalToRead
from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.problems import HttpProblem, build_missing_problem, require
from orchestrator.reviewing.review_forms import find_answer_fault
from orchestrator.services.job_lookup import find_job
from orchestrator.store import PgJobs
from orchestrator.store.assignments import PgAssignments
from orchestrator.store.call_details import PgCallDetails
from orchestrator.store.opinions import PgOpinions


async def require_blind_opinion(assignments: PgAssignments, tenant: TenantId, evaluation: str, reviewer: str) -> None:
    """Raise HttpProblem unless the proposal is assigned to the reviewer and they have submitted their first opinion,
    which they must do before reading the report."""
    blind_given = await assignments.has_blind_opinion(tenant, JobId(evaluation), MemberId(reviewer))
    if not require(blind_given, build_missing_problem("evaluation", evaluation)):
        raise HttpProblem(
            "forbidden",
            f"Submit your own opinion before you read the report: POST /v1/evaluations/{evaluation}/opinions.",
        )


async def require_answers(
    call_details: PgCallDetails, tenant: TenantId, evaluation: JobId, answers: ReviewAnswers
) -> None:
    """Raise HttpProblem unless the answers are complete and match the call's review form."""
    if fault := find_answer_fault(await call_details.get_terms(tenant, evaluation), answers):
        raise HttpProblem.invalid(fault.detail, f"/answers{fault.pointer}")


_POINTER_PATTERN = re.compile(r"(?:/[A-Za-z_]{1,40}|/[0-9]{1,4}){1,12}")


async def read_proposal(jobs: PgJobs, tenant: TenantId, id: str) -> ProposalToRead:
    """Return a proposal's text as its reviewers may read it. In blind mode it is masked, as in the report if there is
    one. Raises HttpProblem with status 404 if the proposal does not exist, or 409 if its document has not been read yet
    or masking would leave no text."""
    job = await find_job(jobs, tenant, id, "evaluation")
    request = await jobs.get_request(tenant, job.id)
    if not isinstance(request, EvaluationRequest):
        raise build_missing_problem("evaluation", id)
    report = await jobs.get_report(tenant, job.id) if request.blind or request.idea is None else None
    if request.idea is not None and report is None:
        try:
            idea = await asyncio.to_thread(blind_idea, request.idea) if request.blind else request.idea
        except InputError:
            raise HttpProblem(
                "conflict", "Almost all of the text identifies its authors, so nothing is left after masking."
            ) from None
        return ProposalToRead(evaluation=job.id, title=idea.title, text=idea.whole_text, masked=request.blind)
    if report is None:
        raise HttpProblem(
            "not-finished",
            "The proposal was submitted as a document. Its text becomes available once the evaluation has "
            "extracted it.",
        )
    return ProposalToRead(evaluation=job.id, title=report.idea.title, text=report.idea.whole_text, masked=request.blind)


async def judge_point(
    opinions: PgOpinions, jobs: PgJobs, tenant: TenantId, id: JobId, body: JudgementBody, by: ActBy
) -> bool:
    """Store whether a reviewer agrees with a point in the report. Return False if the proposal is not assigned to the
    reviewer. Raises HttpProblem if the point does not exist, and ReviewRefused in the same cases as
    `PgOpinions.judge_point`."""
    report = await jobs.get_report(tenant, id)
    if report is None:
        raise HttpProblem("not-finished", "There is no report yet.")
    if not _is_point(report, body.point):
        raise HttpProblem.invalid("The report contains no point at this location.", "/point")
    return await opinions.judge_point(tenant, id, body.point, body.agrees, body.reason, by)


def _is_point(report: Report, pointer: str) -> bool:
    """Return whether the pointer leads to a point in the report rather than, for example, to a notice."""
    if not _POINTER_PATTERN.fullmatch(pointer):
        return False
    value: object = report
    for step in pointer[1:].split("/"):
        if isinstance(value, BaseModel) and step in type(value).model_fields:
            value = getattr(value, step)
        elif isinstance(value, tuple) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False
    return isinstance(value, Point)
