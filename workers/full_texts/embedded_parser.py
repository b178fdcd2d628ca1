"""Parse PDFs without GROBID, in sandboxed child processes."""

import asyncio
import logging
from importlib.metadata import version

from assayer.ideas.documents import insert_notes
from assayer.models import Document
from assayer.reference_lists.entry_parser import parse_references
from assayer.text.sanitise import build_hidden_flags
from assayer.text.section_titles import part_of
from workers.documents import PdfLimits
from workers.documents.pdf_reader import ParsedPdf, PdfText, extract_pdf, read_pdf_text
from workers.full_texts.parsed_paper import ParsedPaper

_LOG = logging.getLogger(__name__)

_LAYOUT_VERSION = "6"
"""Version of the layout detection. A new version causes stored documents to be parsed again."""


class EmbeddedParser:
    """Parses PDFs in a limited number of concurrent child processes, first come, first served."""

    def __init__(self, limits: PdfLimits, at_once: int) -> None:
        self._limits = limits
        self._slots = asyncio.Semaphore(at_once)
        self.version = f"{version('pypdfium2')}.{_LAYOUT_VERSION}"

    async def parse(self, pdf: bytes, source: str) -> ParsedPaper:
        """Parse a PDF. Raises Unreadable if it cannot be parsed."""
        async with self._slots:
            parsed = await extract_pdf(pdf, self._limits, source)
        if parsed.unrendered_pages:
            _LOG.warning(
                "%s: %d of %d pages were not rendered in time: covered or cut-off text on them is not removed",
                source, parsed.unrendered_pages, parsed.pages,
            )  # fmt: skip
        return await asyncio.to_thread(_build_paper, parsed, self.version)

    async def read_pages(self, pdf: bytes, source: str) -> PdfText:
        """Return the visible and the hidden text on the pages. Raises Unreadable if the PDF cannot be parsed."""
        async with self._slots:
            return await read_pdf_text(pdf, self._limits, source)


def _build_paper(parsed: ParsedPdf, version: str) -> ParsedPaper:
    sections = tuple(insert_notes(Document(sections=parsed.sections, notes=parsed.notes)))
    references_text = "\n\n".join(section.text for section in sections if part_of(section.title) == "references")
    references = parse_references(references_text)
    return ParsedPaper(
        parser="pypdfium2",
        version=version,
        title=parsed.title,
        sections=tuple(item for item in sections if not references or part_of(item.title) != "references"),
        references=references,
        flags=build_hidden_flags((f"page {item.page}, {item.why}", item.text) for item in parsed.hidden),
    )
