"""Reads and converts GROBID's TEI in a process of its own: what a server says of a stranger's paper may be anything."""

import asyncio
import tempfile
from importlib.util import find_spec
from typing import Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from assayer.errors import Unreadable
from assayer.models import Frozen
from assayer.models.coverage import UnreadableCause
from workers.documents import PdfLimits
from workers.full_texts.parsed_paper import ParsedPaper
from workers.sandbox.runner import KilledCause, ParserKilled, run_sandboxed

__all__ = ["TeiFormat", "TeiReader"]

TeiFormat = Literal["tei", "json", "markdown"]
"""TEI as it is, or what grobid-client-python makes of it."""


class _Refused(Frozen):
    error: str
    """Begins with `The TEI`."""
    hint: str
    cause: UnreadableCause


class _Converted(Frozen):
    text: str


_ITS_NAME = "The TEI"
_PARSED: TypeAdapter[ParsedPaper | _Refused] = TypeAdapter(ParsedPaper | _Refused)
_CONVERTED: TypeAdapter[_Converted | _Refused] = TypeAdapter(_Converted | _Refused)
_KILLED: dict[KilledCause, str] = {
    "too_much_text": "holds too much text",
    "time": "takes too long to read",
    "computing_time": "takes too much computing to read",
    "broken_parser": "breaks what reads it, or needs too much memory",
}
Answer = TypeVar("Answer", bound=Frozen)


class TeiReader:
    """A few children at a time, first come, first served."""

    def __init__(self, limits: PdfLimits, at_once: int) -> None:
        """A TEI may use what a PDF may."""
        self._limits = limits
        self._slots = asyncio.Semaphore(at_once)

    async def read(self, tei: bytes, source: str) -> ParsedPaper:
        """Raises Unreadable."""
        return await self._answer("workers.sandbox.tei_parser", (), tei, source, _PARSED)

    async def convert(self, tei: bytes, form: TeiFormat, source: str) -> str:
        """Raises Unreadable, and ModuleNotFoundError without `assayer[grobid]`."""
        if form != "tei" and find_spec("grobid_client") is None:
            raise ModuleNotFoundError("No module named 'grobid_client'", name="grobid_client")
        return (await self._answer("workers.sandbox.tei_converter", (form,), tei, source, _CONVERTED)).text

    async def _answer(
        self,
        program: str,
        arguments: tuple[str, ...],
        tei: bytes,
        source: str,
        adapter: TypeAdapter[Answer | _Refused],
    ) -> Answer:
        limits = self._limits
        command = ("-m", program, str(limits.memory_bytes), str(limits.cpu_seconds), *arguments)
        async with self._slots:
            with tempfile.TemporaryFile() as file:
                file.write(tei)
                file.seek(0)
                try:
                    output = await run_sandboxed(command, file, limits.wall_seconds, 8 * limits.characters + 1_000_000)
                    answer = await asyncio.to_thread(adapter.validate_json, output)
                except ParserKilled as killed:
                    raise Unreadable(f"{source} {_KILLED[killed.cause]}.", "", killed.cause) from None
                except ValidationError:
                    raise Unreadable(f"{source} makes what reads it answer nonsense.", "", "broken_parser") from None
        if isinstance(answer, _Refused):
            raise Unreadable(source + answer.error.removeprefix(_ITS_NAME), answer.hint, answer.cause)
        return answer
