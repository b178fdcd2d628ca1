"""Page `/console/calls/new`, on which people prepare, check, estimate and submit a new call or further proposals. Its
script uses the API."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from assayer_client.calls import CallTerms
from orchestrator.console.page_context import CallManager
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.problems import HttpProblem
from orchestrator.services.call_criteria import format_criteria_toml

router = APIRouter(prefix="/console/calls", tags=["pages"], include_in_schema=False)

_FILE_FRACTION = 0.9
"""Fraction of the maximum body size that is available for files; the rest is for the form data about each file."""


_CallId = Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{0,64}$")]


@router.get("/new")
async def show_submission(context: CallManager, mend: _CallId = "", call: _CallId = "") -> Response:
    """Show the form for a new call. With `call`, the proposals are added to that existing call. With `mend`, the form
    corrects that call's refused rows and adds them to it, or to a new call if it is signed off."""
    services, options = context.services, context.services.options
    call_to_correct = await context.find_batch(mend) if mend else None
    target_call = await context.find_batch(call) if call else call_to_correct
    if target_call and await context.reviewing.decisions.get_sign_off(context.tenant, target_call.id):
        if not call_to_correct:
            raise HttpProblem("conflict", "This call is signed off, so no proposals can be added.")
        target_call = None
    terms = (await services.call_details.get(context.tenant, target_call.id)).terms if target_call else CallTerms()
    max_bytes = int(services.settings.max_upload_bytes * _FILE_FRACTION)
    return context.render_page(
        "submission.html",
        available_methods=options.available_methods,
        default_method=EvaluationRequest.model_fields["method"].default,
        overnight=options.overnight,
        personas=options.personas,
        board_models=options.board_models,
        blind=options.is_judged_blind(None, several=True),
        today=context.now.date(),
        max_bytes=max_bytes,
        max_file_bytes=min(max_bytes, services.batches.file_bytes),
        max_rows=services.batches.rows,
        call_to_correct=call_to_correct,
        target_call=target_call,
        next_row=await services.jobs.get_next_row(context.tenant, target_call.id) if target_call else 1,
        criteria=format_criteria_toml(terms.criteria),
    )
