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
from orchestrator.console.evidence_view import evidence_of
from orchestrator.console.page_context import PageContext, Reviewer
from orchestrator.console.proposal_text import proposal_html
from orchestrator.jobs.models import JobId
from orchestrator.jobs.report_figures import compute_figures
from orchestrator.problems import HttpProblem, build_missing_problem, require
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.reviewing.review_forms import fault_of_answers
from orchestrator.services.opinions import judge_point, read_proposal, require_blind_opinion
from orchestrator.services.reports import report_of_reviewer
from orchestrator.validation_wording import describe_validation_error
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)


class _Refused(NamedTuple):
    """A refused review: the reason, and the values entered."""

    why: str
    values: Mapping[str, str]


_TITLES = {"note": "Comments to the panel", "to_applicant": "Comments to the applicant"}
_FIRST = "first"
"""Value of the form field `seen` before the first review. Afterwards, the field holds the time of the latest review."""


@router.get("/queue")
async def queue(context: Reviewer, removed: Annotated[bool, Query()] = False) -> Response:
    """Show the reviewer's assignments; those that still need an opinion come first."""
    assignments = await context.reviewing.assignments.list_assignments(
        context.tenant, member=context.caller.subject, masked=True
    )
    by_call = defaultdict[str, list[Assignment]](list)
    for item in assignments:
        by_call[item.batch].append(item)
    expertise = await context.reviewing.expertise.get(context.tenant, context.caller.subject)
    return context.page(
        "queue.html",
        assigned=assignments,
        removed=removed,
        by_call=by_call.values(),
        today=context.now.date(),
        undeclared=expertise is None or expertise.declared_at is None,
        asked=await context.reviewing.bids.list_calls(context.tenant, context.caller.subject),
    )


@router.get("/review/{id}")
async def review(id: PathId, context: Reviewer) -> Response:
    """Show a proposal and the reviewer's opinion on it. The report stays hidden until the first opinion is stored."""
    return await _review(context, id)


@router.post("/review/{id}/opinion")
async def give(id: PathId, context: Reviewer) -> Response:
    """Store the review. The first one is kept permanently; later ones revise it. Nothing is stored if another tab has
    stored a review since the page was opened."""
    opinions, tenant = context.reviewing.opinions, context.tenant
    await _blind_given(context, id)
    form_values = {name: value for name, value in (await context.request.form()).items() if isinstance(value, str)}
    terms = await context.services.call_details.get_terms(tenant, JobId(id))
    body = _review_of(terms, form_values)
    if isinstance(body, str):
        return await _review(context, id, _Refused(body, form_values))
    try:
        if form_values.get("seen", _FIRST) == _FIRST:
            await opinions.submit(tenant, JobId(id), body, context.by)
        else:
            await opinions.revise(tenant, JobId(id), body, context.by, _moment(form_values["seen"]))
    except ReviewRefused as refusal:
        return await _review(context, id, _Refused(str(refusal), form_values))
    return RedirectResponse(await _next(context) if "next" in form_values else f"/console/review/{id}", 303)


@router.post("/review/{id}/judgement")
async def judge(
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
async def declare(
    id: PathId,
    context: Reviewer,
    reason: Annotated[Reason, Form()],
    kind: Annotated[Literal["conflict", "expertise", "time"], Form()] = "conflict",
) -> Response:
    """Declare a conflict of interest, or decline the review. The proposal leaves the reviewer's queue permanently."""
    await _blind_given(context, id)
    prefix = {"conflict": "", "expertise": "Not my field: ", "time": "No time: "}[kind]
    source: Literal["declared", "declined"] = "declared" if kind == "conflict" else "declined"
    await context.reviewing.assignments.declare(
        context.tenant, JobId(id), context.caller.subject, prefix + reason, context.by, source
    )
    return RedirectResponse("/console/queue?removed=1", 303)


def _review_of(terms: CallTerms, form_values: Mapping[str, str]) -> OpinionBody | str:
    """Parse the review in a submitted form. If it is invalid, return a sentence that explains why."""
    answers = {
        "criteria": {
            item.name: form_values[f"criterion-{n}"]
            for n, item in enumerate(terms.criteria)
            if form_values.get(f"criterion-{n}")
        },
        "fields": {
            item.name: int(value) if item.kind == "scale" and value.isdigit() else value
            for n, item in enumerate(terms.form.fields)
            if (value := form_values.get(f"field-{n}", ""))
        },
        "confidence": form_values.get("confidence") or None,
        "to_applicant": form_values.get("to_applicant", ""),
    }
    try:
        body = OpinionBody.model_validate(
            {"score": form_values.get("score"), "note": form_values.get("note", ""), "answers": answers}
        )
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        if wrong["loc"][0] == "score":
            return "Give a score from 1 to 5."
        name = str(wrong["loc"][2] if len(wrong["loc"]) > 2 else wrong["loc"][-1])
        return f"{_TITLES.get(name, name)}: {describe_validation_error(wrong)}"
    fault = fault_of_answers(terms, body.answers)
    return fault.detail if fault else body


def _moment(text: str) -> dt.datetime | None:
    """Parse a time in a form. An invalid time becomes the earliest possible one, so that the check for other changes
    fails."""
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        return dt.datetime.min.replace(tzinfo=dt.UTC)


def _values_of(opinion: Opinion, terms: CallTerms) -> dict[str, str]:
    """Return the form values that represent a stored review."""
    values = {"score": str(opinion.score), "note": opinion.note, "to_applicant": opinion.answers.to_applicant}
    values["confidence"] = str(opinion.answers.confidence or "")
    for number, criterion in enumerate(terms.criteria):
        values[f"criterion-{number}"] = str(opinion.answers.criteria.get(criterion.name, ""))
    for number, field in enumerate(terms.form.fields):
        values[f"field-{number}"] = str(opinion.answers.fields.get(field.name, ""))
    return values


async def _next(context: PageContext) -> str:
    """Return the path to the next proposal in the reviewer's queue that has no review; if there is none, the path to
    the queue."""
    assignments = await context.reviewing.assignments.list_assignments(
        context.tenant, member=context.caller.subject, limit=1
    )
    waits = [item for item in assignments if item.opinion == "none"]
    return f"/console/review/{waits[0].evaluation}" if waits else "/console/queue"


async def _blind_given(context: PageContext, id: str) -> bool:
    """Return whether the reviewer has given a first opinion on a proposal. Raises HttpProblem if the proposal is not
    assigned to them."""
    blind_given = await context.reviewing.assignments.has_blind_opinion(
        context.tenant, JobId(id), context.caller.subject
    )
    return require(blind_given, build_missing_problem("evaluation", id))


async def _review(context: PageContext, id: str, refused: _Refused | None = None) -> Response:
    member = context.caller.subject
    await _blind_given(context, id)
    try:
        text, missing = await read_proposal(context.services.jobs, context.tenant, id), ""
    except HttpProblem as problem:
        if problem.status_code != 409:
            raise
        text, missing = None, problem.detail
    own_opinion = await context.reviewing.opinions.list_opinions(context.tenant, evaluation=JobId(id), member=member)
    opinion = own_opinion[0] if own_opinion else None
    # Before there is an opinion, the report is not even read from the database.
    report = await report_of_reviewer(context.services.jobs, context.tenant, id) if own_opinion else None
    judgements = (
        await context.reviewing.opinions.list_judgements(context.tenant, JobId(id), member) if own_opinion else []
    )
    terms = await context.services.call_details.get_terms(context.tenant, JobId(id))
    original = await context.services.jobs.get_original(context.tenant, JobId(id))
    applicant = await context.services.applicants.get(context.tenant, JobId(id))
    seen_revision = _FIRST if opinion is None else (opinion.revised_at or opinion.blind_at).isoformat()
    return context.page(
        "review.html",
        status=409 if refused else 200,
        id=id,
        proposal=text,
        original=None if original is None or original.blind else original,
        words=await asyncio.to_thread(proposal_html, text.text) if text else None,
        missing=missing,
        requested=applicant.amount if applicant else None,
        opinion=opinion,
        sign_off=await context.reviewing.decisions.get_proposal_sign_off(context.tenant, JobId(id)),
        terms=terms,
        seen=seen_revision,
        values=refused.values if refused else _values_of(opinion, terms) if opinion else {},
        report=report,
        figures=None if report is None else compute_figures(report),
        evidence=None if report is None else evidence_of(report),
        judgements={item.point: [item] for item in judgements},
        refused=refused,
    )
