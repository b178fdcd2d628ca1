"""Parse stored documents with GROBID if it is available, otherwise in a child process, and store the result."""

import asyncio
import logging
import re

from assayer.errors import ParserUnavailable, StoredCopyLost, Unreadable
from assayer.ports import Clock
from workers.full_texts.archive import FullTextArchive, build_version_key
from workers.full_texts.embedded_parser import EmbeddedParser
from workers.full_texts.grobid_pool import GrobidPool
from workers.full_texts.grobid_tei import TEI_PARSER_VERSION
from workers.full_texts.metrics import PARSE_FAILURES, PARSE_SECONDS, PARSED
from workers.full_texts.parsed_paper import ParsedPaper, ParserName
from workers.full_texts.tei_reader import TeiReader
from workers.full_texts.visible_text import keep_visible_text

_LOG = logging.getLogger(__name__)

_UNSAFE_CHARS = re.compile(r"[^A-Za-z0-9.]+")


class CachingDocumentReader:
    def __init__(
        self,
        archive: FullTextArchive,
        grobid: GrobidPool | None,
        tei_reader: TeiReader,
        embedded_parser: EmbeddedParser,
        clock: Clock,
    ) -> None:
        self._archive = archive
        self._grobid = grobid
        self._tei_reader = tei_reader
        self._embedded_parser = embedded_parser
        self._clock = clock

    async def read(self, sha256: str, source: str, seconds: float) -> ParsedPaper:
        """Return the stored parsed paper, or parse the document now. `source` names the document in errors.

        If GROBID cannot read the document or is unreachable, the embedded parser reads it. The result names its parser.
        Raises FullTextError if neither can read it."""
        parsed_names = await self._archive.list_parsed_names(sha256)
        if self._grobid is not None:
            paper = await self._parse_with_grobid(self._grobid, sha256, source, seconds, parsed_names)
            if paper is not None:
                return paper
        return await self._parse_with_embedded_parser(sha256, source, parsed_names)

    async def _parse_with_grobid(
        self, grobid: GrobidPool, sha256: str, source: str, seconds: float, parsed_names: list[str]
    ) -> ParsedPaper | None:
        """Return the document as parsed by GROBID; None if GROBID cannot read it now or at all."""
        version = await grobid.get_version()
        if version is None:
            return await self._read_latest(sha256, parsed_names)
        name = f"{build_grobid_name(version)}-{TEI_PARSER_VERSION}"
        paper = await self._archive.read_paper(sha256, name) if name in parsed_names else None
        if paper is not None:
            return paper
        if await self._archive.read_failure(sha256, name) is not None:
            return None
        try:
            tei = await self._fetch_tei(grobid, sha256, build_grobid_name(version), source, seconds)
            paper = await self._tei_reader.read(tei, f"The TEI of {source}")
            paper = await self._remove_hidden_text(paper, sha256, source)
        except ParserUnavailable:
            PARSE_FAILURES.labels("grobid", "out_of_reach").inc()
            return None
        except Unreadable as error:
            PARSE_FAILURES.labels("grobid", error.cause).inc()
            await self._archive.add_failure(sha256, name, error)
            return None
        await self._archive.add_paper(sha256, name, paper)
        return paper

    async def _fetch_tei(self, grobid: GrobidPool, sha256: str, name: str, source: str, seconds: float) -> bytes:
        """Return the document's TEI, stored or new. TEI is stored in addition to its parsed form, so that a better TEI
        parser does not need GROBID again."""
        tei = await self._archive.read_tei(sha256, name)
        if tei is None:
            pdf = await self._read_document(sha256, source)
            started = self._clock.monotonic()
            tei = await grobid.parse(pdf, source, seconds)
            PARSE_SECONDS.labels("grobid").observe(self._clock.monotonic() - started)
            PARSED.labels("grobid").inc()
            await self._archive.add_tei(sha256, name, tei)
        return tei

    async def _remove_hidden_text(self, paper: ParsedPaper, sha256: str, source: str) -> ParsedPaper:
        """Remove hidden text from the paper as parsed by GROBID. Return it unchanged if the embedded parser cannot read
        the document."""
        try:
            pages = await self._embedded_parser.read_pages(await self._read_document(sha256, source), source)
        except Unreadable as error:
            _LOG.warning("hidden text cannot be removed from GROBID's output: %s", error)
            return paper
        return await asyncio.to_thread(keep_visible_text, paper, pages)

    async def _read_latest(self, sha256: str, parsed_names: list[str]) -> ParsedPaper | None:
        """Return the stored paper from the latest GROBID version; None if there is none."""
        names = [name for name in parsed_names if name.startswith("grobid-")]
        return await self._archive.read_paper(sha256, max(names, key=build_version_key)) if names else None

    async def _parse_with_embedded_parser(self, sha256: str, source: str, parsed_names: list[str]) -> ParsedPaper:
        name = _build_parser_name("pypdfium2", self._embedded_parser.version)
        paper = await self._archive.read_paper(sha256, name) if name in parsed_names else None
        if paper is not None:
            return paper
        failure = await self._archive.read_failure(sha256, name)
        if failure is not None:
            raise failure
        pdf = await self._read_document(sha256, source)
        started = self._clock.monotonic()
        try:
            paper = await self._embedded_parser.parse(pdf, source)
        except Unreadable as error:
            PARSE_FAILURES.labels("pypdfium2", error.cause).inc()
            await self._archive.add_failure(sha256, name, error)
            raise
        PARSE_SECONDS.labels("pypdfium2").observe(self._clock.monotonic() - started)
        PARSED.labels("pypdfium2").inc()
        await self._archive.add_paper(sha256, name, paper)
        return paper

    async def _read_document(self, sha256: str, source: str) -> bytes:
        pdf = await self._archive.read_document(sha256)
        if pdf is None:
            raise StoredCopyLost(f"{source} is missing or damaged in the document store.", "Fetch it again.")
        return pdf


def build_grobid_name(version: str) -> str:
    """Return the name under which the archive stores the TEI from a GROBID server of this version."""
    return _build_parser_name("grobid", version)


def _build_parser_name(parser: ParserName, version: str) -> str:
    return f"{parser}-{_UNSAFE_CHARS.sub('_', version)[:60]}"
