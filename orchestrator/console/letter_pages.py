"""Pages under `/console/calls/{id}/letters`: letters to applicants and their templates, released comments, and
objections."""

import datetime as dt
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse
from pydantic import Field, ValidationError
from starlette.responses import Response

from assayer.models import Frozen
from assayer_client.letters import AnswerBody, LetterTemplates, ObjectionBody
from orchestrator.console.page_context import Overrider, PageContext, PanelReader
from orchestrator.jobs.models import JobId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.problems import HttpProblem, build_missing_problem, require
from orchestrator.reviewing.letters import PLACEHOLDERS
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.services.letters import build_letters, check_templates
from orchestrator.web.path_parameters import CallInPath, PathId

router = APIRouter(prefix="/console/calls/{id}/letters", tags=["pages"], include_in_schema=False)


class _TemplatesForm(Frozen, extra="ignore", defer_build=False):
    """The submitted templates, and the version on which they are based."""

    fund: str = Field(default="", max_length=20_000)
    reserve: str = Field(default="", max_length=20_000)
    decline: str = Field(default="", max_length=20_000)
    closing: str = Field(default="", max_length=20_000)
    version: int = Field(default=0, ge=0, le=2**31)


@router.get("")
async def show_letters(context: PanelReader, call: CallInPath) -> Response:
    return await _render_letters(context, call)


@router.post("/templates")
async def change_templates(context: Overrider, call: CallInPath, form: Annotated[_TemplatesForm, Form()]) -> Response:
    """Store the templates. If someone has changed them since the page was opened, show the typed text again instead."""
    store = context.reviewing.letters
    templates = LetterTemplates(**form.model_dump(exclude={"version"}))
    try:
        check_templates(templates)
        await store.change_templates(context.tenant, call.id, templates, context.by, form.version)
    except (HttpProblem, ReviewRefused) as refusal:
        return await _render_letters(context, call, fault=str(refusal), typed_templates=templates)
    return RedirectResponse(f"/console/calls/{call.id}/letters", 303)


@router.post("/release")
async def release_all_comments(context: Overrider, call: CallInPath) -> Response:
    """Release all comments on each proposal that has none released yet."""
    try:
        await context.reviewing.letters.release_all_comments(context.tenant, call.id, context.by)
    except ReviewRefused as refusal:
        return await _render_letters(context, call, fault=str(refusal))
    return RedirectResponse(f"/console/calls/{call.id}/letters", 303)


@router.post("/sent")
async def mark_sent(
    context: Overrider,
    call: CallInPath,
    letter: Annotated[list[str], Form(max_length=1_000)] = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    """Record the ticked letters as sent."""
    store = context.reviewing.letters
    if not letter:
        return await _render_letters(context, call, fault="Tick the letters that were sent.")
    details, today = context.services.call_details, context.now.date()
    chosen = await build_letters(store, details, context.tenant, call, today, letter)
    try:
        await store.mark_sent(
            context.tenant,
            call.id,
            {chosen_letter.evaluation: chosen_letter.text for chosen_letter in chosen},
            context.by,
        )
    except ReviewRefused as refusal:
        return await _render_letters(context, call, fault=str(refusal))
    return RedirectResponse(f"/console/calls/{call.id}/letters#letters", 303)


@router.get("/{evaluation}")
async def show_letter(evaluation: PathId, context: PanelReader, call: CallInPath) -> Response:
    """Show a letter, the comments that it can include, and the objections to the decision."""
    return await _render_letter(context, call, evaluation)


@router.post("/{evaluation}/comments")
async def release_comments(
    evaluation: PathId,
    context: Overrider,
    call: CallInPath,
    reviewer: Annotated[list[str], Form(max_length=100)] = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    """Release the ticked reviewers' comments, and withhold everyone else's."""
    job = await context.find_proposal(call, evaluation)
    try:
        await context.reviewing.letters.release_comments(context.tenant, job, reviewer, context.by)
    except ReviewRefused as refusal:
        return await _render_letter(context, call, job, str(refusal))
    return RedirectResponse(f"/console/calls/{call.id}/letters/{job}", 303)


@router.post("/{evaluation}/objections")
async def record_objection(
    evaluation: PathId,
    context: Overrider,
    call: CallInPath,
    text: Annotated[str, Form(max_length=20_000)] = "",
    received_on: Annotated[dt.date | None, Form()] = None,
) -> Response:
    job = await context.find_proposal(call, evaluation)
    try:
        body = ObjectionBody(text=text, received_on=received_on or context.now.date())
    except ValidationError:
        return await _render_letter(
            context, call, job, "Describe what the applicant objects to (at least 3 characters)."
        )
    await context.reviewing.letters.record_objection(context.tenant, job, body, context.by)
    return RedirectResponse(f"/console/calls/{call.id}/letters/{job}#objections", 303)


@router.post("/{evaluation}/objections/{number}")
async def answer_objection(
    evaluation: PathId,
    number: Annotated[int, Field(ge=1, le=2**62)],
    context: Overrider,
    call: CallInPath,
    answer: Annotated[str, Form(max_length=20_000)] = "",
) -> Response:
    """Record the answer to an objection. It cannot be changed later."""
    job = await context.find_proposal(call, evaluation)
    try:
        body = AnswerBody(answer=answer)
    except ValidationError:
        return await _render_letter(context, call, job, "Write the answer (at least 3 characters).")
    objection = await context.reviewing.letters.answer_objection(context.tenant, job, number, body.answer, context.by)
    require(objection, build_missing_problem("evaluation", evaluation, f"The proposal has no objection {number}."))
    return RedirectResponse(f"/console/calls/{call.id}/letters/{job}#objections", 303)


async def _render_letters(
    context: PageContext, call: BatchStatus, *, fault: str = "", typed_templates: LetterTemplates | None = None
) -> Response:
    store, tenant, today = context.reviewing.letters, context.tenant, context.now.date()
    templates = await store.get_templates(tenant, call.id)
    letters = await build_letters(store, context.services.call_details, tenant, call, today)
    objections = await store.list_objections(tenant, batch=call.id)
    return await context.render_call_page(
        "letters.html",
        call,
        "letters",
        status=409 if fault else 200,
        fault=fault,
        letters=letters,
        stored=templates,
        templates=typed_templates or templates.templates,
        placeholders=PLACEHOLDERS,
        withheld=sum(letter.comments > 0 and not letter.released_comments for letter in letters),
        open_objections=[objection for objection in objections if objection.answer is None],
        objections={objection.evaluation for objection in objections},
        sign_off=await context.reviewing.decisions.get_sign_off(tenant, call.id),
    )


async def _render_letter(context: PageContext, call: BatchStatus, evaluation: str, fault: str = "") -> Response:
    store, tenant = context.reviewing.letters, context.tenant
    job = await context.find_proposal(call, evaluation)
    letters = await build_letters(store, context.services.call_details, tenant, call, context.now.date(), [job])
    return await context.render_call_page(
        "letter.html",
        call,
        "letters",
        status=409 if fault else 200,
        fault=fault,
        job=await context.find_evaluation(job),
        letter=letters[0] if letters else None,
        reviews=[
            opinion
            for opinion in await context.reviewing.opinions.list_opinions(tenant, evaluation=JobId(job))
            if opinion.answers.to_applicant
        ],
        released={comment.member: comment for comment in await store.list_released_comments(tenant, JobId(job))},
        objections=await store.list_objections(tenant, evaluation=JobId(job)),
        sign_off=await context.reviewing.decisions.get_sign_off(tenant, call.id),
        today=context.now.date(),
    )
