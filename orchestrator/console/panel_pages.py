"""Pages under `/console/calls/{id}/panel`: the opinions of a call's reviewers, score overrides, and the call's
sign-off."""

import asyncio
import math
from typing import Annotated, Literal
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assayer_client.resources import Absent
from assayer_client.reviewing import PanelPair
from orchestrator.batches.results import format_csv
from orchestrator.batches.workbook import render_sheet
from orchestrator.console.page_context import Assigner, Overrider, PageContext, PanelReader, Signer
from orchestrator.jobs.submissions import BatchStatus, count_unfinished
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.anonymous_reviews import build_anonymous_reviews
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.services.panels import build_panel_rows, get_panel, get_panel_figures
from orchestrator.store.decisions import AllowedGaps
from orchestrator.store.panels import PanelView
from orchestrator.web.path_parameters import CallInPath

router = APIRouter(prefix="/console/calls/{id}", tags=["pages"], include_in_schema=False)

_MEDIA_TYPES = {"csv": "text/csv", "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
_MAX_PAIRS = 50
"""Maximum number of reviewer pairs shown."""


@router.get("/panel")
async def show_panel(context: PanelReader, call: CallInPath, view: Annotated[PanelView, Query()]) -> Response:
    """Show the opinions of a call's reviewers."""
    return await _render_panel(context, call, view)


@router.get("/panel/anonymous-reviews")
async def export_anonymous_reviews(
    context: PanelReader, call: CallInPath, format: Literal["csv", "xlsx"] = "csv"
) -> Response:
    """Return a call's reviews as a file without the reviewers' names."""
    panel = await get_panel(context.reviewing, context.tenant, call.id)
    details = await context.services.call_details.get(context.tenant, call.id)
    reviewer_names = {str(review.member): review.name for row in panel.rows for review in row.opinions}
    members = [
        member for member in await context.services.members.list(context.tenant) if str(member.id) in reviewer_names
    ]
    people = {*reviewer_names.values(), *(text for member in members for text in (member.name, member.email))}
    titles = await context.reviewing.panels.get_masked_titles(context.tenant, call.id)
    columns, rows = await asyncio.to_thread(build_anonymous_reviews, panel.rows, titles, details.terms, people)
    await context.services.audit_log.record(
        context.tenant, context.by, "exported", call.id, format=format, what="anonymous reviews"
    )
    content = format_csv(columns, rows) if format == "csv" else render_sheet("Reviews", columns, rows)
    headers = {
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f'attachment; filename="{call.id}-reviews.{format}"',
    }
    return Response(content, 200, headers, _MEDIA_TYPES[format])


@router.post("/override")
async def override_score(
    context: Overrider,
    call: CallInPath,
    evaluation: Annotated[str, Form(max_length=64)],
    score: Annotated[int, Form(ge=1, le=5)],
    reason: Annotated[str, Form(max_length=5_000)],
    back: Annotated[str | None, Form(max_length=500)] = None,
) -> Response:
    """Set a proposal's final score, overriding the reviewers' combined score. `back` is the query string (with its
    question mark) of the panel page to return to; None returns to the proposal."""
    job = await context.find_proposal(call, evaluation)
    if len(reason.strip()) < 3:
        raise HttpProblem("conflict", "Give a reason (at least 3 characters).")
    await context.reviewing.decisions.override_score(context.tenant, job, score, reason.strip(), context.by)
    if back is None:
        return RedirectResponse(f"/console/proposals/{job}#people", 303)
    parameters = parse_qsl(back.removeprefix("?"))
    view = PanelView.model_validate(
        {**dict(parameters), "only": [value for name, value in parameters if name == "only"]}
    )
    query = urlencode(view.model_dump(exclude_defaults=True), doseq=True)
    return RedirectResponse(f"/console/calls/{call.id}/panel{f'?{query}' if query else ''}#{job}", 303)


@router.post("/panel/reminders")
async def send_reminders(context: Assigner, call: CallInPath) -> Response:
    """Send a reminder to each reviewer who has missing reviews and was not reminded within the last day."""
    services = context.services
    if not services.mails.enabled:
        return await _render_panel(context, call, fault="This service does not send email, so no reminder was sent.")
    await services.mails.remind(context.tenant, call.id, context.by, services.audit_log)
    return RedirectResponse(f"/console/calls/{call.id}/panel#reminders", 303)


@router.post("/sign-off")
async def sign_off_call(
    context: Signer,
    call: CallInPath,
    note: Annotated[str, Form(max_length=5_000)] = "",
    allow_missing_opinions: Annotated[bool, Form()] = False,
    allow_unfinished_evaluations: Annotated[bool, Form()] = False,
    allow_undecided_proposals: Annotated[bool, Form()] = False,
) -> Response:
    """Sign off the call. From then on it cannot be changed."""
    try:
        allowed = AllowedGaps(allow_missing_opinions, allow_unfinished_evaluations, allow_undecided_proposals)
        await context.reviewing.decisions.sign_off(context.tenant, call.id, note.strip(), allowed, context.by)
    except ReviewRefused as refusal:
        return await _render_panel(context, call, fault=refusal.message, note=note)
    return RedirectResponse(f"/console/calls/{call.id}/panel#sign-off", 303)


async def _render_panel(
    context: PageContext, call: BatchStatus, view: PanelView | None = None, *, fault: str = "", note: str = ""
) -> Response:
    """Render the panel page. If the sign-off was refused, `fault` states why and `note` is the entered text."""
    view = view or PanelView()
    page, panel, members, signed_names = await asyncio.gather(
        context.reviewing.panels.get_page(context.tenant, call.id, view),
        get_panel_figures(context.reviewing, context.tenant, call.id),
        context.services.members.list(context.tenant),
        context.reviewing.decisions.get_signed_names(context.tenant, call.id),
    )
    proposals = [proposal.evaluation for proposal in page.rows]
    opinions = await context.reviewing.opinions.list_for_proposals(context.tenant, proposals)
    details = await context.services.call_details.get(context.tenant, call.id)
    budget_use = await context.reviewing.proposal_decisions.get_budget_use(context.tenant, call.id)
    missing = await context.services.mails.list_missing_reviewers(context.tenant, call.id)
    ranking = await context.services.rankings.list_rankings(context.tenant, batch=call.id, state="succeeded", limit=1)
    ranking_id = ranking[0].id if ranking else ""
    return await context.render_call_page(
        "panel.html",
        call,
        "reviews",
        status=409 if fault else 200,
        terms=details.terms,
        missing_reviewers=missing,
        remindable=sum(person.is_due(context.now) for person in missing),
        sends_email=context.services.mails.enabled,
        overdue=call.opinions_due is not None and call.opinions_due < context.now.date(),
        decided=budget_use.funded + budget_use.reserved + budget_use.declined,
        undecided=budget_use.undecided,
        panel=panel,
        unfinished=count_unfinished(call.counts),
        pairs=sorted(panel.blind.pairs, key=_get_agreement_key)[:_MAX_PAIRS],
        page=page,
        table_rows=await context.services.tables.get_rows(context.tenant, call.id, proposals, ranking_id),
        bases=await context.services.call_details.list_scoring_bases(context.tenant, call.id),
        ranking=ranking_id,
        rows=build_panel_rows(page.rows, opinions),
        view=view,
        parameters=view.model_dump(include={"sort", "only", "page"}, exclude_defaults=True),
        fault=fault,
        note=note,
        people={str(member.id): member.name for member in members} | signed_names,
    )


def _get_agreement_key(pair: PanelPair) -> float:
    """Return a sort key by which pairs with the lowest agreement come first and pairs with unknown agreement last."""
    return math.inf if isinstance(pair.kappa, Absent) else pair.kappa
