"""Read the title and sections of an untrusted PDF, which is parsed in a sandboxed child process."""

from typing import NamedTuple

from pydantic import TypeAdapter

from assayer.errors import Unreadable
from assayer.models import FrontMatterField, Frozen, Note, Section
from workers.documents.document_parsing import parse_document
from workers.documents.limits import PdfLimits
from workers.documents.pdf_accents import compose_accents
from workers.documents.pdf_layout import detect_layout
from workers.documents.pdf_lines import PdfLine, TextStyle
from workers.documents.pdf_scripts import write_scripts
from workers.sandbox.office_text import AUTHOR_PROPERTY, HEADS


class HiddenText(NamedTuple):
    """Text in a PDF that is not visible to a reader."""

    page: int
    """Page number, from 1."""
    why: str
    """Reason why the text is hidden, in words: a `PdfHiding` of `workers.sandbox.hidden_pdf_text`."""
    text: str


class ParsedPdf(Frozen):
    """Text of a PDF, by section."""

    title: str
    """Title guessed from the type size or the document's metadata; may be empty."""
    sections: tuple[Section, ...]
    pages: int
    unreadable_pages: int
    notes: tuple[Note, ...] = ()
    front_matter: tuple[FrontMatterField, ...] = ()
    """Author in the document's metadata, and the lines of headers and footers."""
    captions: int = 0
    """Number of captions, which are left out."""
    rotated: int = 0
    """Number of lines of rotated text, which are left out."""
    hidden: tuple[HiddenText, ...] = ()
    """Hidden text, which is excluded from the sections; not sanitised."""
    unrendered_pages: int = 0
    """Number of pages not rendered because time ran out. Their covered or clipped text is included as ordinary text."""


class PdfText(NamedTuple):
    """All visible text of the pages, and the hidden text."""

    text: str
    hidden: tuple[HiddenText, ...]
    pages: int = 1
    unrendered_pages: int = 0
    """Number of pages not rendered because time ran out. Their covered text is included in `text`."""


class _Lines(Frozen):
    pages: int
    unreadable: int
    unlooked: int
    title: str
    author: str
    styles: list[TextStyle]
    lines: list[tuple[int, int, bool, float, str]]
    """Lines as tuples of page, index into `styles`, whether the style is uniform, left edge in points, and text."""
    hidden: list[tuple[int, str, str]]
    """Page, reason and text."""


_ANSWER = TypeAdapter(_Lines)


async def _parse(pdf: bytes, source: str, limits: PdfLimits) -> _Lines:
    start = pdf[:1024]
    if start and b"%PDF-" not in start:
        if b"<html" in start.lower() or b"<!doctype html" in start.lower():
            hint = "Open it in a browser; it may be an error page."
            raise Unreadable(f"{source} is an HTML page, not a PDF.", hint, "html")
        hint = "Export it as PDF."
        raise Unreadable(f"{source} is not a PDF: it does not begin with %PDF-.", hint, "not_a_pdf")
    options = {"pages": limits.pages, "cpu_seconds": limits.cpu_seconds}
    return await parse_document("workers.sandbox.pdf_parser:read_pdf", pdf, source, limits, _ANSWER, **options)


async def extract_pdf(pdf: bytes, limits: PdfLimits | None = None, source: str = "The PDF") -> ParsedPdf:
    """Extract the title and sections of a PDF. `source` names it in errors. Raises Unreadable."""
    parsed = await _parse(pdf, source, limits or PdfLimits())
    lines = [
        PdfLine(page, parsed.styles[style], uniform, compose_accents(text), left)
        for page, style, uniform, left, text in parsed.lines
    ]
    layout = detect_layout(lines, parsed.title)
    if not layout.sections:
        pages = f"{parsed.pages} page{'s' * (parsed.pages != 1)}"
        raise Unreadable(
            f"{source} has {pages} but no text; it probably consists of scanned images.",
            "Run text recognition (OCR) on it first.",
            "no_text",
        )
    return ParsedPdf(
        title=layout.title,
        sections=layout.sections,
        pages=parsed.pages,
        unreadable_pages=parsed.unreadable,
        unrendered_pages=parsed.unlooked,
        notes=layout.notes,
        front_matter=tuple(
            FrontMatterField(name=name, value=value)
            for name, value in ((AUTHOR_PROPERTY, parsed.author.strip()), (HEADS, "; ".join(layout.heads)))
            if value
        ),
        captions=layout.captions,
        rotated=layout.rotated,
        hidden=_collect_hidden_texts(parsed),
    )


def _collect_hidden_texts(parsed: _Lines) -> tuple[HiddenText, ...]:
    return tuple(HiddenText(page + 1, why, text) for page, why, text in parsed.hidden)


async def read_pdf_text(pdf: bytes, limits: PdfLimits, source: str) -> PdfText:
    """Return all lines of a PDF in their original order, including running heads. Raises Unreadable."""
    parsed = await _parse(pdf, source, limits)
    text = "\n".join(write_scripts(compose_accents(text)) for *_, text in parsed.lines)
    return PdfText(text, _collect_hidden_texts(parsed), parsed.pages, parsed.unlooked)
