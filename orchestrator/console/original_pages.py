"""Documents as applicants submitted them, below the pages of a proposal and of its review: for download, and page by
page as pictures.

Nothing of a document is ever interpreted by the browser: downloads have a fixed media type and a sandbox, and pages of
a PDF are rendered in a sandboxed process. Reviewers get the original only if the call is not masked."""

from pathlib import PurePath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.responses import Response

from assayer.errors import FullTextError, Unreadable
from orchestrator.console.page_context import CallReader, PageContext, Reviewer
from orchestrator.jobs.models import JobId
from orchestrator.jobs.submissions import Original
from orchestrator.problems import HttpProblem, not_there, required
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)

_OFFICE = "application/vnd."
_MEDIA_TYPES = {
    ".pdf": "application/pdf",
    ".docx": f"{_OFFICE}openxmlformats-officedocument.wordprocessingml.document",
    ".odt": f"{_OFFICE}oasis.opendocument.text",
}
"""Media types of downloads; every other document is sent as bytes without a type."""
_PACKED = b"PK\x03\x04"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_AT_ONCE = 3
"""Number of pages that one request renders."""


_First = Annotated[int, Query(ge=1, le=100_000)]


@router.get("/proposals/{id}/original")
async def original(id: PathId, context: CallReader) -> Response:
    """Download the document."""
    return await _download(context, await _kept(context, id), id)


@router.get("/proposals/{id}/original/pages")
async def pages(id: PathId, context: CallReader, first: _First = 1) -> Response:
    """Return an HTML fragment with a few PDF pages as images and a placeholder that loads the next pages."""
    return await _pages(context, await _kept(context, id), f"/console/proposals/{id}", id, first)


@router.get("/review/{id}/original")
async def assigned_original(id: PathId, context: Reviewer) -> Response:
    """Download the document of a proposal that the person reviews."""
    return await _download(context, await _kept_for_review(context, id), id)


@router.get("/review/{id}/original/pages")
async def assigned_pages(id: PathId, context: Reviewer, first: _First = 1) -> Response:
    """Return pages of a document that the person reviews, like `pages`."""
    return await _pages(context, await _kept_for_review(context, id), f"/console/review/{id}", id, first)


async def _download(context: PageContext, kept: Original, id: str) -> Response:
    """Return the document as a download, which the audit log records as an export. Raises HttpProblem."""
    document = await _document(context, id)
    name, suffix = kept.name, PurePath(kept.name).suffix.lower()
    if document.startswith(_PACKED) and suffix not in _MEDIA_TYPES:
        name += ".zip"  # the files of a TeX document
    await context.services.audit_log.record(context.tenant, context.by, "exported", id, format="original")
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    media_type = _MEDIA_TYPES.get(suffix, "application/octet-stream")
    return Response(document, 200, {**_HEADERS, "Content-Disposition": disposition}, media_type)


async def _pages(context: PageContext, kept: Original, here: str, id: str, first: int) -> Response:
    document = await _document(context, id)
    fault, count, pictures = "", 0, list[str]()
    try:
        async with context.services.rendering:
            count, pictures = await context.services.page_pictures(document, kept.name, first, _AT_ONCE)
    except Unreadable as error:
        fault = str(error)
    return context.page("original_pages.html", here=here, first=first, fault=fault, count=count, pictures=pictures)


async def _kept(context: PageContext, id: str) -> Original:
    """Return the record of the stored document. Raises HttpProblem."""
    job = await context.find_evaluation(id)
    kept = await context.services.jobs.original(context.tenant, job.id)
    return required(kept, not_there("evaluation", id, "document"))


async def _kept_for_review(context: PageContext, id: str) -> Original:
    """Return the record of a document that the person reviews. Raises HttpProblem unless they may read it."""
    given = await context.reviewing.assignments.blind_given(context.tenant, JobId(id), context.caller.subject)
    required(given, not_there("evaluation", id, "proposal"))
    kept = await _kept(context, id)
    if kept.blind:
        raise HttpProblem("forbidden", "This call is masked: reviewers read the masked text, not the original.")
    return kept


async def _document(context: PageContext, id: str) -> bytes:
    """Return the content of the document. Raises HttpProblem."""
    try:
        document = await context.services.jobs.read_original(context.tenant, JobId(id))
    except FullTextError as error:
        raise HttpProblem("gone", str(error)) from None
    return required(document, not_there("evaluation", id, "document"))
