"""Pages `/console/calls/set-up` and `/console/calls/{id}/terms`, which create a funding call and show or change its
terms."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assayer_client.calls import CallDetails
from orchestrator.console.call_form import (
    MAX_ROWS,
    CallForm,
    count_form_rows,
    get_field_title,
    get_form_values,
    parse_form,
)
from orchestrator.console.page_context import CallManager, CallReader, PageContext
from orchestrator.jobs.models import BatchId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.store.call_details import StaleCallDetails
from orchestrator.web.path_parameters import CallInPath, PathId

router = APIRouter(prefix="/console/calls", tags=["pages"], include_in_schema=False)

_FIELDS_NOT_COMPARED = ("csrf_token", "version", "criteria_toml")


@router.get("/set-up")
async def show_new_call(context: CallManager) -> Response:
    """Show the form for a new funding call."""
    return _render_new_call(context, CallForm({"currency": "EUR"}, {}, []))


@router.post("/set-up")
async def create_call(context: CallManager) -> Response:
    form = parse_form(await _read_form(context))
    if form.faults:
        return _render_new_call(context, form)
    id = BatchId(context.services.new_id("bt"))
    await context.services.call_details.create(context.tenant, id, form.details, context.caller.member, context.by)
    return RedirectResponse(f"/console/calls/{id}", 303)


@router.get("/{id}/terms")
async def show_terms(context: CallReader, call: CallInPath) -> Response:
    """Show a call's terms; people who may change them get a form."""
    details = await context.services.call_details.get(context.tenant, call.id)
    return await _render_terms(context, call, details, CallForm(get_form_values(call, details.terms), {}, []))


@router.post("/{id}/terms")
async def change_terms(id: PathId, context: CallManager) -> Response:
    """Store the terms. If someone has changed them since the page was opened, nothing is stored and the form keeps the
    typed text."""
    call, form_values = await context.find_batch(id), await _read_form(context)
    form, version = parse_form(form_values), form_values.get("version", "")
    store = context.services.call_details
    if not form.faults:
        seen_version = int(version) if version.isdigit() and len(version) < 10 else -1
        try:
            await store.change(context.tenant, call.id, form.details, context.by, seen_version)
            return RedirectResponse(f"/console/calls/{call.id}/terms", 303)
        except StaleCallDetails as stale:
            current = await context.find_batch(id)
            return await _render_terms(
                context, current, stale.current, form, _find_differences(current, stale.current, form)
            )
        except ReviewRefused as refusal:
            form.faults.append(str(refusal))
    return await _render_terms(context, call, await store.get(context.tenant, call.id), form, version=version)


async def _read_form(context: PageContext) -> dict[str, str]:
    return {name: value for name, value in (await context.request.form()).items() if isinstance(value, str)}


def _find_differences(call: BatchStatus, details: CallDetails, form: CallForm) -> dict[str, str]:
    """Return the stored values that differ from the form, by field title."""
    stored_values = get_form_values(call, details.terms)
    names = [name for name in {**stored_values, **form.values} if name not in _FIELDS_NOT_COMPARED]
    changed_names = [name for name in names if stored_values.get(name, "") != form.values.get(name, "")]
    return {get_field_title(name): stored_values.get(name, "") for name in changed_names}


def _render_new_call(context: PageContext, form: CallForm) -> Response:
    return context.render_page(
        "call_terms.html",
        status=422 if form.faults else 200,
        call=None,
        header=None,
        **_build_form_values(form),
        based_on=0,
    )


async def _render_terms(
    context: PageContext,
    call: BatchStatus,
    details: CallDetails,
    form: CallForm,
    conflicting_values: Mapping[str, str] | None = None,
    version: str = "",
) -> Response:
    """Show a call's form. If someone else changed the call, `conflicting_values` holds the stored values that differ
    from the form. Otherwise `version` may state the version that the form is based on."""
    return await context.render_call_page(
        "call_terms.html",
        call,
        "terms",
        status=409 if conflicting_values is not None else 422 if form.faults else 200,
        details=details,
        conflicting_values=conflicting_values,
        based_on=version or details.version,
        **_build_form_values(form),
    )


def _build_form_values(form: CallForm) -> dict[str, Any]:
    return {
        "values": form.values,
        "faults": form.faults,
        "criteria_rows": count_form_rows(form.values, "criterion"),
        "field_rows": count_form_rows(form.values, "field"),
        "max_rows": MAX_ROWS,
    }
