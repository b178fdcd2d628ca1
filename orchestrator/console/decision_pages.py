"""Page `/console/calls/{id}/decisions`: fund, reserve or decline proposals within the call's budget."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import RedirectResponse
from pydantic import ValidationError
from starlette.datastructures import FormData
from starlette.responses import Response

from assayer_client.decisions import DecisionBody
from orchestrator.console.page_context import Overrider, PageContext, PanelReader
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.problems import build_missing_problem, require
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.store.proposal_decisions import DecisionView
from orchestrator.web.path_parameters import CallInPath

router = APIRouter(prefix="/console/calls/{id}/decisions", tags=["pages"], include_in_schema=False)


@router.get("")
async def show_decisions(context: PanelReader, call: CallInPath, view: Annotated[DecisionView, Query()]) -> Response:
    return await _render_decisions(context, call, view)


@router.post("")
async def decide_proposals(context: Overrider, call: CallInPath, view: Annotated[DecisionView, Query()]) -> Response:
    """Decide on the ticked proposals. If the decision is refused, show the typed values again."""
    form = await context.request.form()
    body = _parse_decision(form)
    if isinstance(body, str):
        return await _render_decisions(context, call, view, fault=body, form=form)
    try:
        decided = await context.reviewing.proposal_decisions.decide(context.tenant, call.id, body, context.by)
    except ReviewRefused as refusal:
        return await _render_decisions(context, call, view, fault=str(refusal), form=form)
    require(
        decided,
        build_missing_problem(
            "evaluation", body.proposals[0].evaluation, "At least one of these proposals is not in this call."
        ),
    )
    query = context.request.url.query
    return RedirectResponse(f"/console/calls/{call.id}/decisions{f'?{query}' if query else ''}#table", 303)


def _parse_decision(form: FormData) -> DecisionBody | str:
    """Parse the decision in a submitted form. If it is invalid, return a sentence that explains why."""
    ticked = [str(value).rpartition(":") for value in form.getlist("proposal")]
    if not ticked:
        return "Tick at least one proposal."
    amount = str(form.get("amount", "")).replace(",", "").strip()
    fields = {
        "proposals": [{"evaluation": id, "version": version} for id, _, version in ticked],
        "outcome": form.get("outcome"),
        "amount": amount or None,
        "reason": str(form.get("reason", "")).strip(),
    }
    try:
        return DecisionBody.model_validate(fields)
    except ValidationError as error:
        messages = {
            "amount": "The amount must be a number, 0 or more.",
            "outcome": "Choose one of fund, reserve and decline.",
            "reason": "The reason is too long.",
        }
        return messages.get(str(error.errors()[0]["loc"][0]), "The form cannot be read. Reload the page.")


async def _render_decisions(
    context: PageContext, call: BatchStatus, view: DecisionView, *, fault: str = "", form: FormData | None = None
) -> Response:
    reviewing, tenant = context.reviewing, context.tenant
    rankings = await context.services.rankings.list_rankings(tenant, batch=call.id, state="succeeded")
    ranked = view if view.ranking or not rankings else view.model_copy(update={"ranking": rankings[0].id})
    page = await reviewing.proposal_decisions.get_page(tenant, call.id, ranked)
    return await context.render_call_page(
        "decisions.html",
        call,
        "decisions",
        status=409 if fault else 200,
        page=page,
        view=view,
        ranked=ranked.ranking,
        parameters=view.model_dump(exclude_defaults=True),
        budget_use=await reviewing.proposal_decisions.get_budget_use(tenant, call.id),
        sign_off=await reviewing.decisions.get_sign_off(tenant, call.id),
        fault=fault,
        typed=dict(form or {}),
        ticked=[str(value).rpartition(":")[0] for value in form.getlist("proposal")] if form else [],
    )
