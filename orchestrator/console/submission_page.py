"""Page `/console/calls/new`: prepare, check, estimate and submit a call. The page's script uses the API for this."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from orchestrator.console.page_context import CallRunner
from orchestrator.jobs.requests import EvaluationRequest

router = APIRouter(prefix="/console/calls", tags=["pages"], include_in_schema=False)

_FORM_SHARE = 0.9
"""Fraction of the maximum body size available to files; the rest is for the form's own data about each file."""


@router.get("/new")
async def new_call(context: CallRunner, mend: Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{0,64}$")] = "") -> Response:
    """Show the form for a new call. `mend` is the id of a call whose refused rows are to be corrected."""
    services, options = context.services, context.services.options
    mended = await context.find_batch(mend) if mend else None
    most = int(services.settings.max_upload_bytes * _FORM_SHARE)
    return context.page(
        "submission.html",
        known_methods=options.offered,
        usual_method=EvaluationRequest.model_fields["method"].default,
        overnight=options.overnight,
        personas=100 if options.personas is None else options.personas,
        board_models=options.board_models,
        blind=options.judged_blind(None, several=True),
        today=context.now.date(),
        most_bytes=most,
        most_file_bytes=min(most, services.batches.file_bytes),
        most_rows=services.batches.rows,
        mended=mended,
    )
