"""Parse and convert GROBID's TEI in a separate process, because an untrusted paper's TEI may contain anything."""

import asyncio
from importlib.util import find_spec
from typing import Literal, TypeVar, cast, get_args

from pydantic import TypeAdapter

from assayer.errors import Unreadable
from assayer.models.coverage import UnreadableCause
from workers.documents import PdfLimits
from workers.full_texts.parsed_paper import ParsedPaper
from workers.sandbox.runner import Refused, parse_in_sandbox

TeiFormat = Literal["tei", "json", "markdown"]
"""Output format: unchanged TEI, or a format to which grobid-client-python converts it."""


_CAUSE_DESCRIPTIONS = {
    "too_much_text": "contains too much text",
    "time": "could not be read within the time limit",
    "computing_time": "could not be read within the limit of CPU time",
    "memory": "could not be read within the memory limit",
    "nested": "is nested too deeply",
}
Answer = TypeVar("Answer")


class TeiReader:
    """Parses TEI in a limited number of concurrent child processes, first come, first served."""

    def __init__(self, limits: PdfLimits, at_once: int) -> None:
        """Create a reader. The resource limits for PDFs also apply to TEI."""
        self._limits = limits
        self._slots = asyncio.Semaphore(at_once)

    async def read(self, tei: bytes, source: str) -> ParsedPaper:
        """Parse TEI. Raises Unreadable if it cannot be parsed."""
        return await self._parse_in_process(
            "workers.full_texts.grobid_tei:parse_tei", tei, source, TypeAdapter(ParsedPaper)
        )

    async def convert(self, tei: bytes, form: TeiFormat, source: str) -> str:
        """Convert TEI to another format. Raises Unreadable if that fails, and ModuleNotFoundError if the extra `grobid`
        is not installed."""
        if form != "tei" and find_spec("grobid_client") is None:
            raise ModuleNotFoundError("No module named 'grobid_client'", name="grobid_client")
        return await self._parse_in_process(
            "workers.sandbox.tei_converter:convert", tei, source, TypeAdapter(str), form=form
        )

    async def _parse_in_process(
        self, parser: str, tei: bytes, source: str, answer: TypeAdapter[Answer], **options: object
    ) -> Answer:
        async with self._slots:
            try:
                # The document's name is added to errors here, so that it does not appear in the list of processes.
                return await parse_in_sandbox(parser, tei, self._limits, answer, source="", **options)
            except Refused as refused:
                description = _CAUSE_DESCRIPTIONS.get(refused.cause, "crashed its parser, or exceeded the memory limit")
                message = source + refused.message if refused.message else f"{source} {description}."
                cause = refused.cause if refused.cause in get_args(UnreadableCause) else "markup"
                raise Unreadable(message, refused.hint, cast(UnreadableCause, cause)) from None
