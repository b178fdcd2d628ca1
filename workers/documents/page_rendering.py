"""Render pages of an untrusted PDF as pictures, in a sandboxed child process."""

from pydantic import TypeAdapter

from workers.documents.document_parsing import parse_document
from workers.documents.limits import PdfLimits

_ANSWER = TypeAdapter(tuple[int, list[str]])


async def render_pages(document: bytes, source: str, first_page: int, max_pages: int) -> tuple[int, list[str]]:
    """Return the number of pages in the document, and at most `max_pages` of them, from page `first_page` on, as Base64
    PNGs. Raises Unreadable, with a message that names `source`."""
    parser = "workers.sandbox.page_rendering:render_pages"
    return await parse_document(parser, document, source, PdfLimits(), _ANSWER, first=first_page, max_pages=max_pages)
