"""A paper's full text as GROBID read it, in the forms in which others take it: TEI, JSON, Markdown."""

import hashlib
from dataclasses import dataclass

from assayer.errors import ConfigurationError, ParserUnavailable
from workers.full_texts.archive import FullTextArchive
from workers.full_texts.document_reader import TeiParser, grobid_reading_name
from workers.full_texts.tei_reader import TeiFormat, TeiReader

__all__ = ["PaperExport"]


@dataclass(frozen=True)
class PaperExport:
    archive: FullTextArchive
    """What GROBID has read once is taken from here, and put here."""
    grobid: TeiParser | None
    teis: TeiReader
    seconds: float
    """For one document."""

    async def tei(self, pdf: bytes, source: str) -> bytes:
        """By any version of GROBID that has read the document, else by one that reads it now. Raises
        ConfigurationError without a server, Unreadable, ParserUnavailable."""
        sha256 = hashlib.sha256(pdf).hexdigest()
        stored = await self.archive.newest_tei(sha256)
        if stored is not None:
            return stored
        if self.grobid is None:
            raise ConfigurationError(
                f"{source} has not been read by GROBID, and no server is set.",
                "Set ASSAYER_GROBID__URLS (docs/operations/services.md), or give a TEI file.",
            )
        version = await self.grobid.version()
        if version is None:
            raise ParserUnavailable("No GROBID server is in reach.", "Check that they run and ASSAYER_GROBID__URLS.")
        tei = await self.grobid.parse(pdf, source, self.seconds)
        await self.archive.add_tei(sha256, grobid_reading_name(version), tei)
        return tei

    async def text(self, tei: bytes, form: TeiFormat, source: str) -> str:
        """Raises Unreadable, and ModuleNotFoundError without `assayer[grobid]`."""
        return await self.teis.convert(tei, form, f"The TEI of {source}")
