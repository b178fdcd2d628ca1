"""The references of an idea's PDF, as GROBID tells them apart."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from assayer.errors import FullTextError
from assayer.models import CitedWork
from workers.documents import PdfLimits
from workers.full_texts.document_reader import TeiParser
from workers.full_texts.grobid_pool import GrobidPool
from workers.full_texts.settings import GrobidSettings
from workers.full_texts.tei_reader import TeiReader

__all__ = ["GrobidBibliography", "open_bibliography"]


@dataclass(frozen=True)
class GrobidBibliography:
    """Implements `workers.documents.idea_reader.Bibliography`."""

    grobid: TeiParser
    teis: TeiReader
    seconds: float

    async def references(self, pdf: bytes, source: str) -> tuple[CitedWork, ...]:
        """Empty where GROBID cannot read it, or is out of reach: they are then read from the text."""
        try:
            tei = await self.grobid.parse(pdf, source, self.seconds)
            return (await self.teis.read(tei, f"The TEI of {source}")).references
        except FullTextError:
            return ()


@asynccontextmanager
async def open_bibliography(settings: GrobidSettings) -> AsyncIterator[GrobidBibliography | None]:
    """None where no server is configured."""
    if not settings.urls:
        yield None
        return
    async with GrobidPool(settings) as pool:
        yield GrobidBibliography(pool, TeiReader(PdfLimits(), settings.slots), settings.document_seconds)
