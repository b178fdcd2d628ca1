"""Read an idea from one untrusted document, detecting its format from its content: a PDF, a Word or LibreOffice text,
TeX, HTML or RTF. Hidden content is flagged."""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Literal, Protocol

from assayer.errors import InputError
from assayer.ideas.parsing import idea_of_document
from assayer.models import CitedWork, Document, Idea, UnreadPart
from assayer.text.sanitise import build_hidden_flags
from assayer.text.tex import looks_like_tex
from workers.documents.document_parsing import OFFICE_SIGNATURES, read_document
from workers.documents.limits import DocumentLimits, OfficeLimits, PdfLimits
from workers.documents.parsed_text import ParsedText
from workers.documents.pdf_reader import extract_pdf
from workers.documents.tex_package import is_tex_archive
from workers.sandbox.documents import DocumentKind

KINDS: dict[str, DocumentKind | Literal["pdf"]] = {
    ".pdf": "pdf", ".docx": "office", ".odt": "office", ".html": "html", ".htm": "html", ".rtf": "rtf", ".zip": "tex",
    ".gz": "tex", ".tgz": "tex", ".xml": "jats",
}  # fmt: skip
"""Kinds of documents by file name suffix. Archives are read if they contain a TeX document."""
_KIND_NAMES = {"pdf": "a PDF", "office": "an office document", "html": "an HTML page", "rtf": "RTF", "tex": "TeX",
          "jats": "an article in JATS"}  # fmt: skip
_GZIP_SIGNATURE = b"\x1f\x8b"
_JATS_START = re.compile(
    rb"(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*(?:<!doctype\s+article\b|<(?:\w+:)?(?:article|pmc-articleset)\b)",
    re.IGNORECASE | re.DOTALL,
)
_HTML_START = re.compile(
    rb"(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)


class Bibliography(Protocol):
    """Extractor of a PDF's references that is more reliable than parsing the PDF's text."""

    async def extract_references(self, pdf: bytes, source: str) -> tuple[CitedWork, ...]:
        """Return the references; empty if the extraction fails."""
        ...


async def read_document_idea(
    document: bytes,
    source: str,
    limits: DocumentLimits | None = None,
    bibliography: Bibliography | None = None,
    kind: DocumentKind | Literal["pdf"] | None = None,
) -> Idea:
    """Read an idea from a document. Without `kind`, the kind is detected from the content, or, if that is not
    recognised, from the suffix of `source`, the document's name. Raises Unreadable, or InputError for a text that is
    not an idea."""
    limits = limits or DocumentLimits()
    suffix = PurePath(source).suffix.lower()
    kind = kind or detect_kind(document) or KINDS.get(suffix, "pdf")
    is_misnamed = KINDS.get(suffix, kind) != kind
    try:
        if kind == "pdf":
            idea = await read_pdf_idea(document, source, limits.pdf, bibliography)
        else:
            idea = await _read_text(document, kind, source, limits.office)
    except InputError as error:
        if not is_misnamed:
            raise
        message = f"The name {source} ends in {suffix}, but the file is {_KIND_NAMES[kind]}. {error.message}"
        raise InputError(message, error.hint) from error
    suffix_note = UnreadPart(
        part=f"the suffix {suffix} of the name", reason=f"the file is {_KIND_NAMES[kind]} and was read as such"
    )
    return add_left_out(idea, [suffix_note] if is_misnamed else [])


def detect_kind(document: bytes) -> DocumentKind | Literal["pdf"] | None:
    """Return the kind of a document detected from its content, or None if it is not recognised."""
    start = document[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if b"%PDF-" in document[:1024]:
        return "pdf"
    if start.startswith(b"{\\rtf"):
        return "rtf"
    if document.startswith(_GZIP_SIGNATURE) or (document.startswith(OFFICE_SIGNATURES) and is_tex_archive(document)):
        return "tex"
    if document.startswith(OFFICE_SIGNATURES):
        return "office"
    if markup := _JATS_START.match(start) or _HTML_START.match(start):
        return "jats" if markup.re is _JATS_START else "html"
    is_text = b"\0" not in document[:4096]
    return "tex" if is_text and looks_like_tex(document.decode("utf-8", "replace")) else None


async def _read_text(document: bytes, kind: DocumentKind, source: str, limits: OfficeLimits) -> Idea:
    text = await read_document(document, kind, source, limits)
    if not isinstance(text, ParsedText):
        raise InputError(
            f"{source} contains a table; a text document is required.",
            "Rename it to end in .xlsx to read every row as an idea.",
        )
    return text.to_idea(source)


async def read_pdf_idea(
    pdf: bytes, source: str, limits: PdfLimits | None = None, bibliography: Bibliography | None = None
) -> Idea:
    """Read an idea from a PDF. Raises Unreadable, or InputError for a text that is not an idea."""
    parsed = await extract_pdf(pdf, limits, source)
    unreadable_note = (
        f" ({parsed.unreadable_pages} of {parsed.pages} pages unreadable)" if parsed.unreadable_pages else ""
    )
    if parsed.unrendered_pages:
        unreadable_note += f" ({parsed.unrendered_pages} of {parsed.pages} pages not searched for covered text)"
    left_out = tuple(
        UnreadPart(part=f"{pages} of {parsed.pages} pages", reason=reason)
        for pages, reason in (
            (parsed.unreadable_pages, "they could not be read"),
            (parsed.unrendered_pages, "they were read, but not searched for covered text"),
        )
        if pages
    )
    if parsed.captions:
        part = f"{parsed.captions} caption{'s' * (parsed.captions != 1)} of figures or tables"
        left_out += (UnreadPart(part=part, reason="figures are not read"),)
    if parsed.rotated:
        part = f"{parsed.rotated} line{'s' * (parsed.rotated != 1)} of rotated text"
        left_out += (UnreadPart(part=part, reason="margins and labels of figures are not read"),)
    document = Document(
        title=parsed.title,
        front_matter=parsed.front_matter,
        sections=parsed.sections,
        notes=parsed.notes,
        left_out=left_out,
    )
    idea = idea_of_document(document, f"{source}{unreadable_note}")
    hidden_flags = build_hidden_flags((f"page {item.page}, {item.why}", item.text) for item in parsed.hidden)
    idea = idea.model_copy(update={"flags": (*idea.flags, *hidden_flags)})
    references = await bibliography.extract_references(pdf, source) if bibliography else ()
    if not references or _count_parsed_fields(references) < _count_parsed_fields(idea.references):
        return idea
    reading = idea.reading and idea.reading.model_copy(update={"references": len(references)})
    return idea.model_copy(update={"references": references, "references_reader": "grobid", "reading": reading})


def _count_parsed_fields(references: Sequence[CitedWork]) -> int:
    """Return how many titles and author lists were read; of two ways to read a list, the better one finds more."""
    return sum(bool(work.title) + bool(work.authors) for work in references)


def add_left_out(idea: Idea, parts: Sequence[UnreadPart]) -> Idea:
    """Return the idea with `parts` added to the record of what was left out."""
    if idea.reading is None or not parts:
        return idea
    reading = idea.reading.model_copy(update={"unread_parts": (*idea.reading.unread_parts, *parts)})
    return idea.model_copy(update={"reading": reading})
