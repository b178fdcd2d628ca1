"""Extract the references from an idea's PDF with GROBID."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assayer.errors import FullTextError
from assayer.models import CitedWork
from workers.documents import PdfLimits
from workers.full_texts.settings import GrobidSettings

if TYPE_CHECKING:
    from workers.full_texts.grobid_pool import GrobidPool
    from workers.full_texts.tei_reader import TeiReader


@dataclass(frozen=True)
class GrobidBibliography:
    """Extracts references with GROBID. Implements `workers.documents.idea_reader.Bibliography`."""

    grobid: "GrobidPool"
    tei_reader: "TeiReader"
    seconds: float

    async def extract_references(self, pdf: bytes, source: str) -> tuple[CitedWork, ...]:
        """Return the references; empty if GROBID cannot read the PDF or is unreachable. Callers then parse references
        from the text."""
        try:
            tei = await self.grobid.parse(pdf, source, self.seconds)
            return (await self.tei_reader.read(tei, f"The TEI of {source}")).references
        except FullTextError:
            return ()


@asynccontextmanager
async def open_bibliography(settings: GrobidSettings) -> AsyncIterator[GrobidBibliography | None]:
    """Open a pool of GROBID servers, and yield a bibliography that uses it; yield None if no server is configured."""
    if not settings.urls:
        yield None
        return
    from workers.full_texts.grobid_pool import GrobidPool
    from workers.full_texts.tei_reader import TeiReader

    async with GrobidPool(settings) as pool:
        yield GrobidBibliography(pool, TeiReader(PdfLimits(), settings.slots), settings.document_seconds)
