"""`/v1/evaluations/{id}/contestation`: what was used to judge a proposal, for the applicant who contests it."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from assayer.reports.contestation import Contestation, contestation_of
from assayer.reports.contestation_page import contestation_page
from assayer.reports.pdf import render_pdf
from orchestrator.api.acting import CallReader
from orchestrator.api.common_schemas import Body
from orchestrator.api.identifiers import PathId
from orchestrator.api.openapi import problem_responses
from orchestrator.api.routes.evaluations import stored_report
from orchestrator.api.routes.printed import note_export, pdf_response
from orchestrator.api.services import ServicesDependency

__all__ = ["ContestationQuery", "router"]

router = APIRouter(tags=["evaluations"])

_PDF: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/pdf": {"schema": {"type": "string", "format": "binary"}}}}
}


class ContestationQuery(Body):
    format: Literal["json", "pdf"] = "json"


@router.get(
    "/v1/evaluations/{id}/contestation",
    response_model=Contestation,
    responses={**_PDF, **problem_responses(404, 409, 410, 422)},
)
async def contestation(
    id: PathId, query: Annotated[ContestationQuery, Query()], caller: CallReader, services: ServicesDependency
) -> Response:
    """What was judged and what was masked, which models, which prompts with versions and digests, which corpus, which
    papers. It can be given to the applicant: nothing of other proposals or of reviewers stands in it."""
    what = contestation_of(await stored_report(services, caller.tenant, id), id)
    if query.format == "json":
        await note_export(services, caller, id, "contestation")
        return Response(what.model_dump_json(), 200, {"Cache-Control": "private, no-cache"}, "application/json")
    made = contestation_page(what)
    pdf = await asyncio.to_thread(render_pdf, "contestation.typ", made, services.settings.fonts)
    await note_export(services, caller, id, "contestation")
    return pdf_response(pdf, f"{id}-contestation.pdf")
