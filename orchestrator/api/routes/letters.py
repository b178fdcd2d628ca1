"""Routes for letters to applicants, their templates, reviewers' released comments, and objections."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import Field

from assayer.reports.pdf import render_pdf
from assayer_client.letters import (
    AnswerBody,
    Letter,
    LetterTemplatesBody,
    Objection,
    ObjectionBody,
    ReleaseBody,
    ReleasedComment,
    SentBody,
    StoredTemplates,
)
from assayer_client.resources import Page
from orchestrator.api.idempotency import CreationDependency
from orchestrator.api.permissions import Overrider, PanelReader
from orchestrator.api.url_queries import UrlQuery
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.problems import build_missing_problem, require
from orchestrator.services.letters import LettersSheet, build_letters, check_templates, zip_letters
from orchestrator.web.path_parameters import CallInPath, EvaluationInPath, PathId

router = APIRouter(tags=["letters"])

_BINARY = {"schema": {"type": "string", "format": "binary"}}
_FILE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The letters", "content": {"application/pdf": _BINARY, "application/zip": _BINARY}}
}


class LettersQuery(UrlQuery):
    format: Literal["json", "pdf", "zip"] = "json"
    """`json`, `pdf` for one PDF with all letters, or `zip` for an archive with one text file per letter."""
    outcome: Literal["fund", "reserve", "decline"] | None = None
    """Return only letters with this decision."""
    evaluation: str | None = Field(default=None, max_length=64)
    """Return only the letter about this proposal."""


@router.get("/v1/batches/{id}/letter-templates")
async def get_letter_templates(context: PanelReader, batch: CallInPath) -> StoredTemplates:
    """Return a batch's letter templates, or the built-in ones if none were stored."""
    return await context.reviewing.letters.get_templates(context.tenant, batch.id)


@router.put("/v1/batches/{id}/letter-templates")
async def change_letter_templates(id: PathId, body: LetterTemplatesBody, context: Overrider) -> StoredTemplates:
    """Store a batch's letter templates. This is allowed even after sign-off."""
    check_templates(body.templates)
    store = context.reviewing.letters
    stored_templates = await store.change_templates(
        context.tenant, BatchId(id), body.templates, context.by, body.version
    )
    return require(stored_templates, build_missing_problem("batch", id))


@router.get("/v1/batches/{id}/letters", response_model=Page[Letter], responses=_FILE_RESPONSES)
async def list_letters(query: Annotated[LettersQuery, Query()], context: PanelReader, call: CallInPath) -> Response:
    """Return a batch's decision letters, as they were sent or would be sent now."""
    evaluations = None if query.evaluation is None else [query.evaluation]
    details, today = context.services.call_details, context.now.date()
    letters = await build_letters(context.reviewing.letters, details, context.tenant, call, today, evaluations)
    letters = [letter for letter in letters if query.outcome in (None, letter.outcome)]
    if query.format == "json":
        page = Page[Letter](items=tuple(letters), next=None)
        return Response(page.model_dump_json(), 200, {"Cache-Control": "no-store"}, "application/json")
    export_record = {"format": f"letters, {query.format}"}
    await context.services.audit_log.record(context.tenant, context.by, "exported", call.id, **export_record)
    if query.format == "zip":
        content, media_type = await asyncio.to_thread(zip_letters, letters), "application/zip"
    else:
        sheet = LettersSheet(title=call.name or call.id, letters=tuple(letter.text for letter in letters))
        fonts = context.services.settings.fonts
        content, media_type = await asyncio.to_thread(render_pdf, "letters.typ", sheet, fonts), "application/pdf"
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{call.id}-letters.{query.format}"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(content, 200, headers, media_type)


@router.post("/v1/batches/{id}/letters/sent")
async def mark_letters_sent(body: SentBody, context: Overrider, call: CallInPath) -> Page[Letter]:
    """Record letters as sent, with their current text. Rejected before sign-off. Letters recorded earlier are
    unchanged."""
    store, details, today = context.reviewing.letters, context.services.call_details, context.now.date()
    letters = await build_letters(store, details, context.tenant, call, today, body.evaluations)
    await store.mark_sent(context.tenant, call.id, {letter.evaluation: letter.text for letter in letters}, context.by)
    sent_letters = await build_letters(store, details, context.tenant, call, today, body.evaluations)
    return Page(items=tuple(sent_letters), next=None)


@router.put("/v1/evaluations/{id}/released-comments")
async def release_comments(body: ReleaseBody, context: Overrider, job: EvaluationInPath) -> Page[ReleasedComment]:
    """Release reviewers' comments to the applicant, with their current wording. Comments by reviewers who are not
    listed are withheld. Rejected once the call is signed off."""
    comments = await context.reviewing.letters.release_comments(context.tenant, job.id, body.reviewers, context.by)
    return Page(items=tuple(comments), next=None)


@router.get("/v1/evaluations/{id}/released-comments")
async def list_released_comments(context: PanelReader, job: EvaluationInPath) -> Page[ReleasedComment]:
    """List reviewers' comments that were released to the applicant."""
    return Page(items=tuple(await context.reviewing.letters.list_released_comments(context.tenant, job.id)), next=None)


@router.post("/v1/evaluations/{id}/objections")
async def record_objection(
    id: PathId, body: ObjectionBody, context: Overrider, creation: CreationDependency
) -> Objection:
    """Record an applicant's objection to the decision on a proposal. This is allowed even after sign-off. A repeated
    request returns the objection in its current state."""
    record = await creation.build_record(b"{}", f"/v1/evaluations/{id}/objections")
    objection = await context.reviewing.letters.record_objection(context.tenant, JobId(id), body, context.by, record)
    return require(objection, build_missing_problem("evaluation", id))


@router.get("/v1/evaluations/{id}/objections")
async def list_objections(context: PanelReader, job: EvaluationInPath) -> Page[Objection]:
    """List the objections to the decision on a proposal, with their answers."""
    objections = await context.reviewing.letters.list_objections(context.tenant, evaluation=job.id)
    return Page(items=tuple(objections), next=None)


@router.post("/v1/evaluations/{id}/objections/{number}/answer")
async def answer_objection(
    id: PathId,
    number: Annotated[int, Field(ge=1, le=2**62)],
    body: AnswerBody,
    context: Overrider,
    creation: CreationDependency,
) -> Objection:
    """Record the answer to an objection. It cannot be changed later. A repeated request returns the objection in its
    current state."""
    record = await creation.build_record(b"{}", f"/v1/evaluations/{id}/objections/{number}/answer")
    store = context.reviewing.letters
    objection = await store.answer_objection(context.tenant, JobId(id), number, body.answer, context.by, record)
    return require(objection, build_missing_problem("evaluation", id, f"The proposal has no objection {number}."))
