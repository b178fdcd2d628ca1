"""Export of a paper's full text, as read by GROBID, in common formats: TEI, JSON and Markdown."""

import hashlib
from dataclasses import dataclass

from assayer.errors import ConfigurationError, ParserUnavailable
from workers.full_texts.archive import FullTextArchive
from workers.full_texts.document_reader import grobid_reading_name
from workers.full_texts.grobid_pool import GrobidPool
from workers.full_texts.tei_reader import TeiFormat, TeiReader


@dataclass(frozen=True)
class PaperExport:
    archive: FullTextArchive
    """Archive from which GROBID's TEI is taken and in which new TEI is stored."""
    grobid: GrobidPool | None
    teis: TeiReader
    seconds: float
    """Maximum seconds for one document."""

    async def tei(self, pdf: bytes, source: str) -> bytes:
        """Return the stored TEI from any GROBID version, or have a server process the document now. Raises
        ConfigurationError if no server is configured, Unreadable, ParserUnavailable."""
        sha256 = hashlib.sha256(pdf).hexdigest()
        stored = await self.archive.newest_tei(sha256)
        if stored is not None:
            return stored
        if self.grobid is None:
            raise ConfigurationError(
                f"{source} has not been read by GROBID, and no server is set.",
                "Set ASSAYER_GROBID__URLS (docs/run/services.md), or give a TEI file.",
            )
        version = await self.grobid.version()
        if version is None:
            raise ParserUnavailable("No GROBID server is in reach.", "Check that they run and ASSAYER_GROBID__URLS.")
        tei = await self.grobid.parse(pdf, source, self.seconds)
        await self.archive.add_tei(sha256, grobid_reading_name(version), tei)
        return tei

    async def text(self, tei: bytes, form: TeiFormat, source: str) -> str:
        """Convert TEI to the requested format. Raises Unreadable; ModuleNotFoundError without the extra `grobid`."""
        return await self.teis.convert(tei, form, f"The TEI of {source}")
