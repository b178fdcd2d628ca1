"""Pages for reviewers: their queue, and the review page, where they give a first opinion, read the report and revise
their opinion."""

import asyncio
import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse
from pydantic import ValidationError
from starlette.responses import Response

from assayer_client.calls import CallTerms
from assayer_client.reviewing import Assignment, JudgementBody, Opinion, OpinionBody, Reason
from orchestrator.console.evidence_view import build_evidence_view
from orchestrator.console.page_context import PageContext, Reviewer
from orchestrator.console.proposal_text import render_proposal
from orchestrator.jobs.models import JobId
from orchestrator.jobs.report_figures import compute_figures
from orchestrator.problems import HttpProblem, build_missing_problem, require
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.reviewing.review_forms import find_answer_fault
from orchestrator.services.job_lookup import find_report_for_reviewer
from orchestrator.services.opinions import judge_point, read_proposal, require_blind_opinion
from orchestrator.validation_wording import describe_validation_error
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)


class _RefusedReview(NamedTuple):
    """A refused review: the reason, and the values entered."""

    reason: str
    values: Mapping[str, str]


_TITLES = {"note": "Comments to the panel", "to_applicant": "Comments to the applicant"}
_NO_REVIEW_SEEN = "first"
"""Value of the form field `seen` before the first review. Afterwards, the field holds the time of the latest review."""


@router.get("/queue")
async def show_queue(context: Reviewer, removed: Annotated[bool, Query()] = False) -> Response:
    """Show the reviewer's assignments; those that still need an opinion come first."""
    assignments = await context.reviewing.assignments.list_assignments(
        context.tenant, member=context.caller.subject, masked=True
    )
    by_call = defaultdict[str, list[Assignment]](list)
    for assignment in assignments:
        by_call[assignment.batch].append(assignment)
    expertise = await context.reviewing.expertise.get(context.tenant, context.caller.subject)
    return context.render_page(
        "queue.html",
        assigned=assignments,
        removed=removed,
        by_call=by_call.values(),
        today=context.now.date(),
        undeclared=expertise is None or expertise.declared_at is None,
        calls_for_bids=await context.reviewing.bids.list_calls(context.tenant, context.caller.subject),
    )


@router.get("/review/{id}")
async def show_review(id: PathId, context: Reviewer) -> Response:
    """Show a proposal and the reviewer's opinion on it. The report stays hidden until the first opinion is stored."""
    return await _render_review(context, id)


@router.post("/review/{id}/opinion")
async def store_review(id: PathId, context: Reviewer) -> Response:
    """Store the review. The first one is kept permanently; later ones revise it. Nothing is stored if another tab has
    stored a review since the page was opened."""
    opinions, tenant = context.reviewing.opinions, context.tenant
    await _require_assignment(context, id)
    form_values = {name: value for name, value in (await context.request.form()).items() if isinstance(value, str)}
    terms = await context.services.call_details.get_terms(tenant, JobId(id))
    body = _parse_review(terms, form_values)
    if isinstance(body, str):
        return await _render_review(context, id, _RefusedReview(body, form_values))
    try:
        if form_values.get("seen", _NO_REVIEW_SEEN) == _NO_REVIEW_SEEN:
            await opinions.submit(tenant, JobId(id), body, context.by)
        else:
            await opinions.revise(tenant, JobId(id), body, context.by, _parse_time(form_values["seen"]))
    except ReviewRefused as refusal:
        return await _render_review(context, id, _RefusedReview(str(refusal), form_values))
    return RedirectResponse(await _find_next_path(context) if "next" in form_values else f"/console/review/{id}", 303)


@router.post("/review/{id}/judgement")
async def judge_claim(
    id: PathId,
    context: Reviewer,
    point: Annotated[str, Form(max_length=300)],
    agrees: Annotated[bool, Form()],
    reason: Annotated[str, Form(max_length=5_000)] = "",
    claim: Annotated[int, Form(ge=1, le=10_000)] = 1,
) -> Response:
    """Agree or disagree with one claim in the report. `claim` is its number on the page."""
    await require_blind_opinion(context.reviewing.assignments, context.tenant, id, context.caller.subject)
    if not agrees and len(reason.strip()) < 3:
        raise HttpProblem("invalid-request", "Give a reason for disagreeing (at least 3 characters).")
    body = JudgementBody(point=point, agrees=agrees, reason=reason.strip())
    await judge_point(context.reviewing.opinions, context.services.jobs, context.tenant, JobId(id), body, context.by)
    return RedirectResponse(f"/console/review/{id}#claim-{claim}", 303)


@router.post("/review/{id}/conflict")
async def declare_conflict(
    id: PathId,
    context: Reviewer,
    reason: Annotated[Reason, Form()],
    kind: Annotated[Literal["conflict", "expertise", "time"], Form()] = "conflict",
) -> Response:
    """Declare a conflict of interest, or decline the review. The proposal leaves the reviewer's queue permanently."""
    await _require_assignment(context, id)
    prefix = {"conflict": "", "expertise": "Not my field: ", "time": "No time: "}[kind]
    source: Literal["declared", "declined"] = "declared" if kind == "conflict" else "declined"
    await context.reviewing.assignments.declare(
        context.tenant, JobId(id), context.caller.subject, prefix + reason, context.by, source
    )
    return RedirectResponse("/console/queue?removed=1", 303)


def _parse_review(terms: CallTerms, form_values: Mapping[str, str]) -> OpinionBody | str:
    """Parse the review in a submitted form. If it is invalid, return a sentence that explains why."""
    answers = {
        "criteria": {
            criterion.name: form_values[f"criterion-{number}"]
            for number, criterion in enumerate(terms.criteria)
            if form_values.get(f"criterion-{number}")
        },
        "fields": {
            field.name: int(value) if field.kind == "scale" and value.isdigit() else value
            for number, field in enumerate(terms.form.fields)
            if (value := form_values.get(f"field-{number}", ""))
        },
        "confidence": form_values.get("confidence") or None,
        "to_applicant": form_values.get("to_applicant", ""),
    }
    try:
        body = OpinionBody.model_validate(
            {"score": form_values.get("score"), "note": form_values.get("note", ""), "answers": answers}
        )
    except ValidationError as error:
        first_error = error.errors(include_url=False)[0]
        if first_error["loc"][0] == "score":
            return "Give a score from 1 to 5."
        name = str(first_error["loc"][2] if len(first_error["loc"]) > 2 else first_error["loc"][-1])
        return f"{_TITLES.get(name, name)}: {describe_validation_error(first_error)}"
    fault = find_answer_fault(terms, body.answers)
    return fault.detail if fault else body


def _parse_time(text: str) -> dt.datetime | None:
    """Parse a time in a form. An invalid time becomes the earliest possible one, so that the check for other changes
    fails."""
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        return dt.datetime.min.replace(tzinfo=dt.UTC)


def _get_form_values(opinion: Opinion, terms: CallTerms) -> dict[str, str]:
    """Return the form values that represent a stored review."""
    values = {"score": str(opinion.score), "note": opinion.note, "to_applicant": opinion.answers.to_applicant}
    values["confidence"] = str(opinion.answers.confidence or "")
    for number, criterion in enumerate(terms.criteria):
        values[f"criterion-{number}"] = str(opinion.answers.criteria.get(criterion.name, ""))
    for number, field in enumerate(terms.form.fields):
        values[f"field-{number}"] = str(opinion.answers.fields.get(field.name, ""))
    return values


async def _find_next_path(context: PageContext) -> str:
    """Return the path to the next proposal in the reviewer's queue that has no review; if there is none, the path to
    the queue."""
    assignments = await context.reviewing.assignments.list_assignments(
        context.tenant, member=context.caller.subject, limit=1
    )
    open_assignments = [assignment for assignment in assignments if assignment.opinion == "none"]
    return f"/console/review/{open_assignments[0].evaluation}" if open_assignments else "/console/queue"


async def _require_assignment(context: PageContext, id: str) -> bool:
    """Return whether the reviewer has given a first opinion on a proposal. Raises HttpProblem if the proposal is not
    assigned to them."""
    blind_given = await context.reviewing.assignments.has_blind_opinion(
        context.tenant, JobId(id), context.caller.subject
    )
    return require(blind_given, build_missing_problem("evaluation", id))


async def _render_review(context: PageContext, id: str, refused: _RefusedReview | None = None) -> Response:
    member = context.caller.subject
    await _require_assignment(context, id)
    try:
        text, missing_reason = await read_proposal(context.services.jobs, context.tenant, id), ""
    except HttpProblem as problem:
        if problem.status_code != 409:
            raise
        text, missing_reason = None, problem.detail
    own_opinion = await context.reviewing.opinions.list_opinions(context.tenant, evaluation=JobId(id), member=member)
    opinion = own_opinion[0] if own_opinion else None
    # Before there is an opinion, the report is not even read from the database.
    report = await find_report_for_reviewer(context.services.jobs, context.tenant, id) if own_opinion else None
    judgements = (
        await context.reviewing.opinions.list_judgements(context.tenant, JobId(id), member) if own_opinion else []
    )
    terms = await context.services.call_details.get_terms(context.tenant, JobId(id))
    original = await context.services.jobs.get_original(context.tenant, JobId(id))
    applicant = await context.services.applicants.get(context.tenant, JobId(id))
    seen_revision = _NO_REVIEW_SEEN if opinion is None else (opinion.revised_at or opinion.blind_at).isoformat()
    return context.render_page(
        "review.html",
        status=409 if refused else 200,
        id=id,
        proposal=text,
        original=None if original is None or original.blind else original,
        proposal_html=await asyncio.to_thread(render_proposal, text.text) if text else None,
        missing_reason=missing_reason,
        requested_amount=applicant.amount if applicant else None,
        opinion=opinion,
        sign_off=await context.reviewing.decisions.get_proposal_sign_off(context.tenant, JobId(id)),
        terms=terms,
        seen=seen_revision,
        values=refused.values if refused else _get_form_values(opinion, terms) if opinion else {},
        report=report,
        figures=None if report is None else compute_figures(report),
        evidence=None if report is None else build_evidence_view(report),
        judgements={judgement.point: [judgement] for judgement in judgements},
        refused=refused,
    )
