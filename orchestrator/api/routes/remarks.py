"""Routes `/v1/evaluations/{id}/remarks`: permanent remarks that people add to a proposal."""

from fastapi import APIRouter

from assayer_client.resources import Page
from assayer_client.reviewing import RemarkBody
from orchestrator.api.permissions import Commenter, PanelReader
from orchestrator.jobs.models import JobId
from orchestrator.problems import build_missing_problem, require
from orchestrator.reviewing.models import Remark
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/v1/evaluations/{id}/remarks", tags=["reviewing"])


@router.get("")
async def list_remarks(id: PathId, context: PanelReader) -> Page[Remark]:
    """List all remarks, oldest first."""
    await context.find_job(id, "evaluation")
    return Page(items=tuple(await context.reviewing.remarks.list_remarks(context.tenant, JobId(id))), next=None)


@router.post("", status_code=201)
async def create_remark(id: PathId, body: RemarkBody, context: Commenter) -> Remark:
    """Add a remark. It is permanent and recorded in the audit log. The same text from the same person is stored only
    once. Rejected once the call is signed off."""
    remark = await context.reviewing.remarks.add(context.tenant, JobId(id), body.text, context.by)
    return require(remark, build_missing_problem("evaluation", id))
