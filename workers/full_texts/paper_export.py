"""Export a paper's full text, as parsed by GROBID, as TEI, JSON or Markdown."""

import hashlib
from dataclasses import dataclass

from assayer.errors import ConfigurationError, ParserUnavailable
from workers.full_texts.archive import FullTextArchive
from workers.full_texts.document_reader import build_grobid_name
from workers.full_texts.grobid_pool import GrobidPool
from workers.full_texts.tei_reader import TeiFormat, TeiReader


@dataclass(frozen=True)
class PaperExport:
    archive: FullTextArchive
    """Archive that is searched for TEI and in which new TEI is stored."""
    grobid: GrobidPool | None
    tei_reader: TeiReader
    seconds: float
    """Maximum seconds for one document."""

    async def obtain_tei(self, pdf: bytes, source: str) -> bytes:
        """Return the document's stored TEI from any GROBID version or, if there is none, send it to a server now.
        Raises ConfigurationError if no server is configured, Unreadable if GROBID cannot read the document, or
        ParserUnavailable."""
        sha256 = hashlib.sha256(pdf).hexdigest()
        stored = await self.archive.read_newest_tei(sha256)
        if stored is not None:
            return stored
        if self.grobid is None:
            raise ConfigurationError(
                f"{source} has not been read by GROBID, and no GROBID server is configured.",
                "Set ASSAYER_GROBID__URLS (docs/run/services.md), or pass a TEI file.",
            )
        version = await self.grobid.get_version()
        if version is None:
            raise ParserUnavailable(
                "No GROBID server can be reached.", "Check that the servers in ASSAYER_GROBID__URLS are running."
            )
        tei = await self.grobid.parse(pdf, source, self.seconds)
        await self.archive.add_tei(sha256, build_grobid_name(version), tei)
        return tei

    async def convert_tei(self, tei: bytes, form: TeiFormat, source: str) -> str:
        """Convert TEI to the requested format. Raises Unreadable if that fails, or ModuleNotFoundError if the extra
        `grobid` is not installed."""
        return await self.tei_reader.convert(tei, form, f"The TEI of {source}")
