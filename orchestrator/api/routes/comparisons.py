"""`/v1/comparisons`: which of two ideas is better, and why."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from assayer.models import Idea
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
from orchestrator.api.problems import HttpProblem, NoSuchThing
from orchestrator.api.ranking_candidates import idea_of_report
from orchestrator.api.services import Services, ServicesDependency, StreamLimitDependency
from orchestrator.jobs.models import Job, JobId, JobState, LivePriority, TenantId
from orchestrator.jobs.requests import ComparisonRequest, Limits
from orchestrator.jobs.results import ComparisonResult
from orchestrator.jobs.submissions import NewJob

__all__ = [
    "AcceptedComparison",
    "ComparisonBody",
    "ComparisonResource",
    "comparison_request",
    "evaluated_idea",
    "router",
]


EvaluationName = Annotated[str, Field(pattern=r"^ev_[A-Za-z0-9_-]{1,60}$")]


class ComparisonBody(Body):
    """Two ideas, each as its words or as a finished evaluation of one's own."""

    first: IdeaBody | None = None
    second: IdeaBody | None = None
    first_evaluation: EvaluationName | None = None
    """In place of `first`: the idea of this evaluation, as it was judged."""
    second_evaluation: EvaluationName | None = None
    """In place of `second`."""
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


@router.post(**submission_route(404, 409, 410, accepted=AcceptedComparison, ended=ComparisonResource))
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
    first = await _given(services, caller.tenant, body.first, body.first_evaluation, "first")
    second = await _given(services, caller.tenant, body.second, body.second_evaluation, "second")
    work = comparison_request(first, second, services, body)
    job = JobId(services.new_id("cp"))
    new = NewJob(
        id=job,
        request=work,
        subject=f"{first.title} / {second.title}",
        priority=body.priority,
        made_of=tuple(JobId(one) for one in (body.first_evaluation, body.second_evaluation) if one is not None),
    )
    accepted = AcceptedComparison(id=job, link=comparison_path(job))
    answer = await accept_job(request, caller, services, new, accepted.link, accepted, idempotency_key)
    return await answer_when_ended(answer, request, caller, services, streams, prefer, show_comparison)


async def _given(
    services: Services, tenant: TenantId, words: IdeaBody | None, evaluation: str | None, name: str
) -> Idea:
    """Raises HttpProblem."""
    if evaluation is not None:
        if words is not None:
            raise HttpProblem.invalid(f"Give either `{name}` or `{name}_evaluation`.", f"/{name}_evaluation")
        return await evaluated_idea(services, tenant, evaluation, f"/{name}_evaluation")
    if words is None:
        raise HttpProblem.invalid(f"It is required, or `{name}_evaluation` in its place.", f"/{name}")
    return await asyncio.to_thread(idea_of, words, name, f"/{name}")


async def evaluated_idea(services: Services, tenant: TenantId, evaluation: str, pointer: str) -> Idea:
    """The idea of a finished evaluation, masked where it was judged blind. Raises HttpProblem; `pointer` is where the
    request names it, empty for a page's."""
    job = await services.jobs.get(tenant, JobId(evaluation))
    report = None if job is None or job.kind != "evaluation" else await services.jobs.report(tenant, job.id)
    if report is not None:
        return idea_of_report(report)
    if job is None:
        raise NoSuchThing("evaluation", evaluation, f"{evaluation}: There is no such evaluation.")
    why = f"It has no report: it is {job.state}."
    if pointer:
        raise HttpProblem.invalid(why, pointer)
    raise HttpProblem("not-found", f"{evaluation}: {why}")


def comparison_request(
    first: Idea, second: Idea, services: Services, body: ComparisonBody | None = None
) -> ComparisonRequest:
    """Raises HttpProblem where both have the same words."""
    said = body or ComparisonBody()
    if first.id == second.id:
        raise HttpProblem.invalid("It has the same words as `first`: there is nothing to compare.", "/second")
    return ComparisonRequest(
        first=first,
        second=second,
        both_orders=said.both_orders,
        blind=services.judged_blind(said.blind, several=True),
        limits=said.limits,
    )


async def show_comparison(services: Services, job: Job) -> ComparisonResource:
    done = job.state == "done"
    return comparison_resource(job, await services.jobs.result(job.tenant, job.id, ComparisonResult) if done else None)


def comparison_resource(job: Job, result: ComparisonResult | None = None) -> ComparisonResource:
    return ComparisonResource(**job_fields(job), result=result, link=comparison_path(job.id))


def comparison_path(job: str) -> str:
    return f"/v1/comparisons/{job}"


_ROUTES = JobRoutes(router, "comparison", ComparisonResource, comparison_resource, show_comparison)
_ROUTES.add_list("One's own comparisons, the newest first, without their results.")
_ROUTES.add_one("One comparison as it stands, with its result when it is done.", 422)
_ROUTES.add_cancel()
