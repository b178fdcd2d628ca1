"""Original documents as applicants submitted them, for the proposal page and the review page: as a download, and as
images of their pages.

The browser never interprets a document's content: downloads have a fixed media type and a sandbox policy, and PDF pages
are rendered in a sandboxed process. Reviewers can see the original only if the call is not masked."""

from pathlib import PurePath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.responses import Response

from assayer.errors import FullTextError, Unreadable
from orchestrator.console.page_context import CallReader, PageContext, Reviewer
from orchestrator.jobs.models import JobId
from orchestrator.jobs.submissions import Original
from orchestrator.problems import HttpProblem, build_missing_problem, require
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)

_OFFICE = "application/vnd."
_MEDIA_TYPES = {
    ".pdf": "application/pdf",
    ".docx": f"{_OFFICE}openxmlformats-officedocument.wordprocessingml.document",
    ".odt": f"{_OFFICE}oasis.opendocument.text",
}
"""Media types for downloads. Any other document is sent as `application/octet-stream`."""
_ZIP_SIGNATURE = b"PK\x03\x04"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_PAGES_PER_REQUEST = 3
"""Number of pages rendered per request."""


_FirstPage = Annotated[int, Query(ge=1, le=100_000)]


@router.get("/proposals/{id}/original")
async def download_original(id: PathId, context: CallReader) -> Response:
    """Download the original document."""
    return await _send_original(context, await _find_original(context, id), id)


@router.get("/proposals/{id}/original/pages")
async def show_original_pages(id: PathId, context: CallReader, first: _FirstPage = 1) -> Response:
    """Return an HTML fragment with a few PDF pages as images and a placeholder that loads the next pages."""
    return await _render_original_pages(
        context, await _find_original(context, id), f"/console/proposals/{id}", id, first
    )


@router.get("/review/{id}/original")
async def download_assigned_original(id: PathId, context: Reviewer) -> Response:
    """Download the original document of a proposal assigned to the reviewer."""
    return await _send_original(context, await _find_assigned_original(context, id), id)


@router.get("/review/{id}/original/pages")
async def show_assigned_original_pages(id: PathId, context: Reviewer, first: _FirstPage = 1) -> Response:
    """Return the same fragment as `show_original_pages`, for a proposal assigned to the reviewer."""
    return await _render_original_pages(
        context, await _find_assigned_original(context, id), f"/console/review/{id}", id, first
    )


async def _send_original(context: PageContext, original: Original, id: str) -> Response:
    """Return the document as a download, and record the export in the audit log. Raises HttpProblem if the document is
    no longer stored."""
    document = await _read_document(context, id)
    name, suffix = original.name, PurePath(original.name).suffix.lower()
    if document.startswith(_ZIP_SIGNATURE) and suffix not in _MEDIA_TYPES:
        name += ".zip"  # the files of a TeX document
    await context.services.audit_log.record(context.tenant, context.by, "exported", id, format="original")
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    media_type = _MEDIA_TYPES.get(suffix, "application/octet-stream")
    return Response(document, 200, {**_HEADERS, "Content-Disposition": disposition}, media_type)


async def _render_original_pages(
    context: PageContext, original: Original, base_path: str, id: str, first: int
) -> Response:
    document = await _read_document(context, id)
    fault, count, pictures = "", 0, list[str]()
    try:
        async with context.services.rendering:
            count, pictures = await context.services.render_pages(document, original.name, first, _PAGES_PER_REQUEST)
    except Unreadable as error:
        fault = str(error)
    return context.render_page(
        "original_pages.html", base_path=base_path, first=first, fault=fault, count=count, pictures=pictures
    )


async def _find_original(context: PageContext, id: str) -> Original:
    """Return the record of a proposal's stored document. Raises HttpProblem if there is none."""
    job = await context.find_evaluation(id)
    original = await context.services.jobs.get_original(context.tenant, job.id)
    return require(original, build_missing_problem("evaluation", id, "No document is stored for this proposal."))


async def _find_assigned_original(context: PageContext, id: str) -> Original:
    """Return the record of a document assigned to the reviewer. Raises HttpProblem if it is not assigned to them, or if
    the call is masked."""
    blind_given = await context.reviewing.assignments.has_blind_opinion(
        context.tenant, JobId(id), context.caller.subject
    )
    require(blind_given, build_missing_problem("evaluation", id))
    original = await _find_original(context, id)
    if original.blind:
        raise HttpProblem(
            "forbidden", "This call is masked, so reviewers read the masked text instead of the original."
        )
    return original


async def _read_document(context: PageContext, id: str) -> bytes:
    """Return the document's content. Raises HttpProblem if it is no longer stored."""
    try:
        document = await context.services.jobs.read_original(context.tenant, JobId(id))
    except FullTextError as error:
        raise HttpProblem("gone", str(error)) from None
    return require(document, build_missing_problem("evaluation", id, "No document is stored for this proposal."))
