"""Parses PDFs without GROBID: sandboxed children, headings by their type, references and captions by their form."""

import asyncio
from collections.abc import Iterable
from importlib.metadata import version

from assayer.literature.reference_parser import parse_references
from assayer.models import Section
from assayer.text.sanitise import hidden_flags
from assayer.text.section_titles import part_of
from workers.documents import PdfLimits
from workers.documents.pdf_reader import ParsedPdf, extract_pdf
from workers.full_texts.parsed_paper import ParsedPaper

__all__ = ["EmbeddedParser"]

_LAYOUT = "3"
"""Version of our reading of a page; a new one reads stored documents again."""


class EmbeddedParser:
    """A few children at a time, first come, first served."""

    def __init__(self, limits: PdfLimits, at_once: int) -> None:
        self._limits = limits
        self._slots = asyncio.Semaphore(at_once)
        self.version = f"{version('pypdfium2')}.{_LAYOUT}"

    async def parse(self, pdf: bytes, source: str) -> ParsedPaper:
        """Raises Unreadable."""
        async with self._slots:
            parsed = await extract_pdf(pdf, self._limits, source)
        return await asyncio.to_thread(_paper, parsed, self.version)


def _paper(parsed: ParsedPdf, version: str) -> ParsedPaper:
    listed = "\n\n".join(section.text for section in parsed.sections if part_of(section.title) == "references")
    references = parse_references(listed)
    return ParsedPaper(
        parser="pypdfium2",
        version=version,
        title=parsed.title,
        sections=tuple(_without_references(parsed.sections) if references else parsed.sections),
        references=references,
        captions=parsed.captions,
        flags=hidden_flags((f"page {one.page}, {one.why}", one.text) for one in parsed.hidden),
    )


def _without_references(sections: Iterable[Section]) -> Iterable[Section]:
    """The list of references is taken apart, unless nothing could be made of it."""
    return (section for section in sections if part_of(section.title) != "references")
