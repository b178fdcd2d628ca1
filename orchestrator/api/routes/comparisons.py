"""`/v1/comparisons`: which of two ideas is better, and why."""

import asyncio

from fastapi import APIRouter, Request
from fastapi.responses import Response

from orchestrator.api.authentication import Submitter
from orchestrator.api.common_schemas import Body, IdeaBody, JobResource, Resource
from orchestrator.api.idempotency import IdempotencyKey
from orchestrator.api.job_routes import (
    JobRoutes,
    PreferHeader,
    accept_job,
    answer_when_ended,
    idea_of,
    job_fields,
    submission_route,
)
from orchestrator.api.problems import HttpProblem
from orchestrator.api.services import Services, ServicesDependency, StreamLimitDependency
from orchestrator.jobs.models import Job, JobId, JobState, LivePriority
from orchestrator.jobs.requests import ComparisonRequest, Limits
from orchestrator.jobs.results import ComparisonResult
from orchestrator.jobs.submissions import NewJob

__all__ = ["AcceptedComparison", "ComparisonBody", "ComparisonResource", "router"]


class ComparisonBody(Body):
    first: IdeaBody
    second: IdeaBody
    both_orders: bool = True
    """Ask twice, the second time with the ideas in the other order: this reveals a judge that prefers a position."""
    blind: bool | None = None
    """Mask names, affiliations, acknowledgements and the like before the judge sees the ideas; null: yes, unless the
    service is set otherwise."""
    limits: Limits = Limits()
    priority: LivePriority = "interactive"


class AcceptedComparison(Resource):
    """The comparison is stored, and will end in exactly one verdict."""

    id: str
    state: JobState = "queued"
    link: str


class ComparisonResource(JobResource):
    """`title`: of both ideas."""

    result: ComparisonResult | None
    """`outcomes` says which idea is better in each respect, `answers` why; null until the state is done."""
    link: str


router = APIRouter(prefix="/v1/comparisons", tags=["comparisons"])


@router.post(**submission_route(accepted=AcceptedComparison, ended=ComparisonResource))
async def ask(
    body: ComparisonBody,
    request: Request,
    caller: Submitter,
    services: ServicesDependency,
    streams: StreamLimitDependency,
    idempotency_key: IdempotencyKey = None,
    prefer: PreferHeader = None,
) -> Response:
    """Asks which of two ideas is better."""
    first = await asyncio.to_thread(idea_of, body.first, "first", "/first")
    second = await asyncio.to_thread(idea_of, body.second, "second", "/second")
    if first.id == second.id:
        raise HttpProblem.invalid("It has the same words as `first`: there is nothing to compare.", "/second")
    job = JobId(services.new_id("cp"))
    work = ComparisonRequest(
        first=first,
        second=second,
        both_orders=body.both_orders,
        blind=services.judged_blind(body.blind, several=True),
        limits=body.limits,
    )
    new = NewJob(id=job, request=work, subject=f"{first.title} / {second.title}", priority=body.priority)
    accepted = AcceptedComparison(id=job, link=comparison_path(job))
    answer = await accept_job(request, caller, services, new, accepted.link, accepted, idempotency_key)
    return await answer_when_ended(answer, request, caller, services, streams, prefer, show_comparison)


async def show_comparison(services: Services, job: Job) -> ComparisonResource:
    stored = await services.jobs.result(job.tenant, job.id) if job.state == "done" else None
    return comparison_resource(job, None if stored is None else ComparisonResult.model_validate(stored))


def comparison_resource(job: Job, result: ComparisonResult | None = None) -> ComparisonResource:
    return ComparisonResource(**job_fields(job), result=result, link=comparison_path(job.id))


def comparison_path(job: str) -> str:
    return f"/v1/comparisons/{job}"


_ROUTES = JobRoutes(router, "comparison", ComparisonResource, comparison_resource, show_comparison)
_ROUTES.add_list("One's own comparisons, the newest first, without their results.")
_ROUTES.add_one("One comparison as it stands, with its result when it is done.", 422)
_ROUTES.add_cancel()
