"""`/v1/evaluations/{id}/remarks`: what people add about a proposal, and never change."""

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import Field

from orchestrator.api.acting import PanelReader, acting, actor_of
from orchestrator.api.common_schemas import Body, Page
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import find_job
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import not_there
from orchestrator.api.services import ServicesDependency
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.jobs.models import JobId
from orchestrator.reviewing.models import Remark

__all__ = ["RemarkBody", "RemarkText", "router"]

RemarkText = Annotated[str, Field(min_length=1, max_length=10_000)]

router = APIRouter(prefix="/v1/evaluations/{id}/remarks", tags=["reviewing"])


class RemarkBody(Body):
    text: RemarkText


@router.get("", responses=problem_responses(404, 410))
async def listed(id: PathId, caller: PanelReader, services: ServicesDependency) -> Page[Remark]:
    """The oldest first, all of them."""
    await find_job(services, caller.tenant, id, "evaluation")
    return Page(items=tuple(await services.remarks.of(caller.tenant, JobId(id))), next=None)


@router.post(
    "",
    status_code=201,
    responses=problem_responses(400, 404, 409, 410, 413, 415, 422),
    dependencies=[Depends(json_only)],
)
async def add(
    id: PathId,
    body: RemarkBody,
    caller: Annotated[AuthenticatedCaller, Depends(acting("remark", scope="manage"))],
    services: ServicesDependency,
) -> Remark:
    """Stays as it is, and stands in the audit log. The same words of the same person are one remark. Refused once
    the call is signed off."""
    made = await services.remarks.add(caller.tenant, JobId(id), body.text, actor_of(caller), services.clock.now())
    if made is None:
        raise not_there("evaluation", id)
    return made
