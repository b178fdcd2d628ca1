"""An idea out of one untrusted document: a PDF, or a text of Word or LibreOffice. What was hidden in it is flagged."""

import asyncio
from pathlib import Path
from typing import Protocol

from assayer.errors import InputError
from assayer.ideas.parsing import idea_of_sections
from assayer.ideas.tables import IdeaTable
from assayer.models import CitedWork, Idea
from assayer.text.sanitise import hidden_flags
from workers.documents.limits import DocumentLimits, OfficeLimits, PdfLimits
from workers.documents.office_reader import OFFICE_MARKS, OfficeTable, OfficeText, read_office
from workers.documents.pdf_reader import extract_pdf

__all__ = ["Bibliography", "read_document_idea", "read_office_idea", "read_pdf_idea", "read_table"]


class Bibliography(Protocol):
    """What tells the references of a PDF apart better than its text does."""

    async def references(self, pdf: bytes, source: str) -> tuple[CitedWork, ...]:
        """Empty where it cannot."""
        ...


async def read_document_idea(
    document: bytes, source: str, limits: DocumentLimits | None = None, bibliography: Bibliography | None = None
) -> Idea:
    """By what the document is, whatever its name says. Raises Unreadable, or InputError for a text that is no idea."""
    limits = limits or DocumentLimits()
    if document.startswith(OFFICE_MARKS):
        return await read_office_idea(document, source, limits.office)
    return await read_pdf_idea(document, source, limits.pdf, bibliography)


async def read_pdf_idea(
    pdf: Path | bytes, source: str, limits: PdfLimits | None = None, bibliography: Bibliography | None = None
) -> Idea:
    """Raises Unreadable, or InputError for a text that is no idea."""
    parsed = await extract_pdf(pdf, limits, source)
    lost = f" ({parsed.unreadable_pages} of {parsed.pages} pages unreadable)" if parsed.unreadable_pages else ""
    if parsed.unlooked_pages:
        lost += f" ({parsed.unlooked_pages} of {parsed.pages} pages not searched for covered text)"
    idea = idea_of_sections(parsed.sections, f"{source}{lost}", parsed.title or None)
    hidden = hidden_flags((f"page {one.page}, {one.why}", one.text) for one in parsed.hidden)
    references = await _references(pdf, source, bibliography) if bibliography else ()
    return idea.model_copy(update={"flags": (*idea.flags, *hidden), "references": references})


async def _references(pdf: Path | bytes, source: str, bibliography: Bibliography) -> tuple[CitedWork, ...]:
    """Of a file that the sandbox has found to be a PDF within its limits."""
    content = await asyncio.to_thread(pdf.read_bytes) if isinstance(pdf, Path) else pdf
    return await bibliography.references(content, source)


async def read_office_idea(document: bytes, source: str, limits: OfficeLimits | None = None) -> Idea:
    """Raises InputError."""
    text = await read_office(document, source, limits)
    if not isinstance(text, OfficeText):
        raise InputError(f"{source} is a table, not a text.", "Name it .xlsx: then every row is read as an idea.")
    sections = text.sections()
    if not sections:
        raise InputError(f"{source} has no text that can be seen.", "If it holds pictures of text, run OCR first.")
    lost = f" ({text.parts_unread} documents within it not read)" if text.parts_unread else ""
    idea = idea_of_sections(sections, f"{source}{lost}", text.title or None)
    return idea.model_copy(update={"flags": (*idea.flags, *hidden_flags(text.hidden))})


async def read_table(document: bytes, source: str, limits: OfficeLimits | None = None) -> IdeaTable:
    """Of a workbook. Raises InputError."""
    table = await read_office(document, source, limits)
    if not isinstance(table, OfficeTable):
        raise InputError(f"{source} is a text, not a table.", "Name it .docx or .odt: then it is read as one idea.")
    return table
