"""Routes `/v1/comparisons`: which of two ideas is better, and why."""

import asyncio

from fastapi import APIRouter
from fastapi.responses import Response

from assayer.models import Idea
from assayer_client.comparisons import AcceptedComparison, ComparisonBody, ComparisonResource, ComparisonResult
from assayer_client.evaluations import IdeaBody
from orchestrator.api.job_routes import (
    JobRoutes,
    SubmissionDependency,
    describe_submission_route,
    get_job_fields,
)
from orchestrator.jobs.models import Job, JobId, TenantId
from orchestrator.jobs.submissions import NewJob
from orchestrator.problems import HttpProblem
from orchestrator.services.comparisons import build_comparison_request
from orchestrator.services.submitted_ideas import get_evaluated_idea, parse_idea_body
from orchestrator.web.services import Services

router = APIRouter(prefix="/v1/comparisons", tags=["comparisons"])


@router.post(**describe_submission_route(AcceptedComparison, ComparisonResource))
async def create_comparison(body: ComparisonBody, submission: SubmissionDependency) -> Response:
    """Compare two ideas and decide which is better."""
    services, tenant = submission.services, submission.context.tenant
    first_idea = await _load_idea(services, tenant, body.first, body.first_evaluation, "first")
    second_idea = await _load_idea(services, tenant, body.second, body.second_evaluation, "second")
    request = build_comparison_request(
        first_idea, second_idea, blind=services.options.is_judged_blind(body.blind, several=True), body=body
    )
    job = submission.new_id("cp")
    new_job = NewJob(
        id=job,
        request=request,
        subject=f"{first_idea.title} / {second_idea.title}",
        priority=body.priority,
        required_evaluations=tuple(
            JobId(evaluation)
            for evaluation in (body.first_evaluation, body.second_evaluation)
            if evaluation is not None
        ),
    )
    receipt = AcceptedComparison(id=job, link=_build_path(job))
    return await submission.respond(new_job, receipt.link, receipt, _show)


async def _load_idea(
    services: Services, tenant: TenantId, idea_body: IdeaBody | None, evaluation: str | None, name: str
) -> Idea:
    """Return the idea given in the body, either in words or by evaluation id. Raises HttpProblem if both or neither are
    given, or if the evaluation does not exist."""
    if evaluation is not None:
        if idea_body is not None:
            raise HttpProblem.invalid(f"Give either `{name}` or `{name}_evaluation`, not both.", f"/{name}_evaluation")
        return await get_evaluated_idea(services.jobs, tenant, evaluation, f"/{name}_evaluation")
    if idea_body is None:
        raise HttpProblem.invalid(f"It is required unless `{name}_evaluation` is given.", f"/{name}")
    return await asyncio.to_thread(parse_idea_body, idea_body, name, f"/{name}")


async def _show(services: Services, job: Job) -> ComparisonResource:
    has_succeeded = job.state == "succeeded"
    return _build_resource(
        job, await services.jobs.get_result(job.tenant, job.id, ComparisonResult) if has_succeeded else None
    )


def _build_resource(job: Job, result: ComparisonResult | None = None) -> ComparisonResource:
    return ComparisonResource(**get_job_fields(job), result=result, link=_build_path(job.id))


def _build_path(job: str) -> str:
    return f"/v1/comparisons/{job}"


_ROUTES = JobRoutes(router, "comparison", ComparisonResource, _build_resource, _show)
_ROUTES.add_list_route("List the tenant's comparisons, newest first, without their results.")
_ROUTES.add_get_route("Return a comparison in its current state, with its result once it has succeeded.")
_ROUTES.add_cancel_route()
