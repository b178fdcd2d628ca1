"""Page `/console/calls/new`: prepare, check, estimate and submit a call. The page's script uses the API for this."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from orchestrator.access.api_keys import Caller
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.web.services import ServicesDependency
from orchestrator.web.signed_in import allowed_to

router = APIRouter(prefix="/console/calls", tags=["pages"], include_in_schema=False)

CallRunner = Annotated[Caller, Depends(allowed_to("run calls"))]
_FORM_SHARE = 0.9
"""Fraction of the maximum body size available to files; the rest is for the form's own data on each file."""


@router.get("/new")
async def new_call(
    request: Request,
    who: CallRunner,
    services: ServicesDependency,
    mend: Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{0,64}$")] = "",
) -> Response:
    """Show the form for a new call; `mend` is a call whose refused rows are corrected here."""
    mended = await services.find_batch(who.tenant, mend) if mend else None
    most = int(services.settings.max_upload_bytes * _FORM_SHARE)
    return page_response(
        "submission.html",
        request,
        who,
        known_methods=services.options.offered,
        usual_method=EvaluationRequest.model_fields["method"].default,
        overnight=services.options.overnight,
        personas=100 if services.options.personas is None else services.options.personas,
        board_models=services.options.board_models,
        blind=services.options.judged_blind(None, several=True),
        today=services.clock.now().date(),
        most_bytes=most,
        most_file_bytes=min(most, services.batches.file_bytes),
        most_rows=services.batches.rows,
        mended=mended,
    )
