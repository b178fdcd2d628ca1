"""Routes `/v1/evaluations/{id}/remarks`: what people add about a proposal and cannot change later."""

from typing import Annotated

from fastapi import APIRouter, Depends

from assayer_client.resources import Page
from assayer_client.reviewing import RemarkBody
from orchestrator.access.api_keys import Caller
from orchestrator.api.acting import PanelReader, acting
from orchestrator.jobs.models import JobId
from orchestrator.problems import not_there, required
from orchestrator.reviewing.models import Remark
from orchestrator.services.job_lookup import find_job
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import ServicesDependency

router = APIRouter(prefix="/v1/evaluations/{id}/remarks", tags=["reviewing"])


@router.get("")
async def list_remarks(id: PathId, caller: PanelReader, services: ServicesDependency) -> Page[Remark]:
    """List all remarks, oldest first."""
    await find_job(services.jobs, caller.tenant, id, "evaluation")
    return Page(items=tuple(await services.reviewing.remarks.of(caller.tenant, JobId(id))), next=None)


@router.post("", status_code=201)
async def create_remark(
    id: PathId,
    body: RemarkBody,
    caller: Annotated[Caller, Depends(acting("remark", scope="manage"))],
    services: ServicesDependency,
) -> Remark:
    """Add a remark, which is permanent and recorded in the audit log. Identical text by the same person is stored
    once. Rejected once the call is signed off."""
    made = await services.reviewing.remarks.add(caller.tenant, JobId(id), body.text, services.by(caller))
    return required(made, not_there("evaluation", id))
