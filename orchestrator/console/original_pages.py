"""Documents as applicants submitted them, under `/console/originals/{id}`: for download, and page by page as pictures.

Nothing of a document is ever interpreted by the browser: downloads have a fixed media type and a sandbox, and pages of
a PDF are rendered in a sandboxed process. Reviewers get the original only if the call is not masked."""

from pathlib import PurePath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.responses import Response

from assayer.errors import FullTextError, Unreadable
from orchestrator.console.page_context import PageContext, SignedIn
from orchestrator.jobs.models import JobId
from orchestrator.jobs.submissions import Original
from orchestrator.problems import HttpProblem, not_there, required
from orchestrator.web.path_parameters import PathId
from orchestrator.web.signed_in import require_act

router = APIRouter(prefix="/console/originals", tags=["pages"], include_in_schema=False)

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


@router.get("/{id}")
async def original(id: PathId, context: SignedIn) -> Response:
    """Download the document. The audit log records it as an export."""
    kept = await _readable(context, id)
    document = await _document(context, id)
    name, suffix = kept.name, PurePath(kept.name).suffix.lower()
    if document.startswith(_PACKED) and suffix not in _MEDIA_TYPES:
        name += ".zip"  # the files of a TeX document
    await context.services.audit_log.record(context.tenant, context.by, "exported", id, format="original")
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    media_type = _MEDIA_TYPES.get(suffix, "application/octet-stream")
    return Response(document, 200, {**_HEADERS, "Content-Disposition": disposition}, media_type)


@router.get("/{id}/pages")
async def pages(id: PathId, context: SignedIn, first: Annotated[int, Query(ge=1, le=100_000)] = 1) -> Response:
    """Return the fragment with some pages of a PDF as pictures, and a place that loads those after them."""
    kept = await _readable(context, id)
    document = await _document(context, id)
    fault, count, pictures = "", 0, list[str]()
    try:
        async with context.services.rendering:
            count, pictures = await context.services.page_pictures(document, kept.name, first, _AT_ONCE)
    except Unreadable as error:
        fault = str(error)
    return context.page(
        "original_pages.html",
        id=id,
        fault=fault,
        first=first,
        count=count,
        pictures=pictures,
    )


async def _readable(context: PageContext, id: str) -> Original:
    """Return what is stored of the document if the person is allowed to read it. Raises HttpProblem."""
    kept = required(await context.services.jobs.original(context.tenant, JobId(id)), not_there("evaluation", id))
    if not context.caller.may("see calls"):
        require_act(context.caller, "give opinions")
        given = await context.reviewing.assignments.blind_given(context.tenant, JobId(id), context.caller.subject)
        required(given, not_there("evaluation", id, "proposal"))
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
