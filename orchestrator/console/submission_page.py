"""`/console/calls/new`: a call is put together, checked, estimated and sent. The page's script asks the API for it."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.services import ServicesDependency
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.requests import EvaluationRequest

__all__ = ["router"]

router = APIRouter(prefix="/console/calls", tags=["pages"], include_in_schema=False)

CallRunner = Annotated[SignedIn, Depends(allowed_to("run calls"))]
_FORM_SHARE = 0.9
"""Of what a body may hold: files, without what a form says about each of them."""


@router.get("/new")
async def new_call(
    request: Request,
    who: CallRunner,
    services: ServicesDependency,
    mend: Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{0,64}$")] = "",
) -> Response:
    """`mend` is a call whose refused rows are to be mended here."""
    mended = await services.find_batch(who.tenant, mend) if mend else None
    most = int(services.settings.max_upload_bytes * _FORM_SHARE)
    return page_response(
        "submission.html",
        request,
        who,
        known_methods=services.offered,
        usual_method=EvaluationRequest.model_fields["method"].default,
        overnight=services.overnight,
        personas=100 if services.personas is None else services.personas,
        board_models=services.board_models,
        blind=services.judged_blind(None, several=True),
        today=services.clock.now().date(),
        most_bytes=most,
        most_file_bytes=min(most, services.batches.file_bytes),
        most_rows=services.batches.rows,
        mended=mended,
    )
