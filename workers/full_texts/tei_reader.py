"""Reads GROBID's TEI in a process of its own: a server's answer about a stranger's paper may be anything."""

import asyncio
import tempfile

from pydantic import TypeAdapter, ValidationError

from assayer.errors import Unreadable
from assayer.models import Frozen
from assayer.models.coverage import UnreadableCause
from workers.documents import PdfLimits
from workers.full_texts.parsed_paper import ParsedPaper
from workers.sandbox.runner import KilledCause, ParserKilled, run_sandboxed

__all__ = ["TeiReader"]


class _Refused(Frozen):
    error: str
    """Begins with `The TEI`."""
    hint: str
    cause: UnreadableCause


_ITS_NAME = "The TEI"
_ANSWER: TypeAdapter[ParsedPaper | _Refused] = TypeAdapter(ParsedPaper | _Refused)
_KILLED: dict[KilledCause, str] = {
    "too_much_text": "holds too much text",
    "time": "takes too long to read",
    "computing_time": "takes too much computing to read",
    "broken_parser": "breaks what reads it, or needs too much memory",
}


class TeiReader:
    """A few children at a time, first come, first served."""

    def __init__(self, limits: PdfLimits, at_once: int) -> None:
        """A TEI may use what a PDF may."""
        self._limits = limits
        self._slots = asyncio.Semaphore(at_once)

    async def read(self, tei: bytes, source: str) -> ParsedPaper:
        """Raises Unreadable."""
        limits = self._limits
        command = ("-m", "workers.sandbox.tei_parser", str(limits.memory_bytes), str(limits.cpu_seconds))
        async with self._slots:
            with tempfile.TemporaryFile() as file:
                file.write(tei)
                file.seek(0)
                try:
                    output = await run_sandboxed(command, file, limits.wall_seconds, 8 * limits.characters + 1_000_000)
                    answer = await asyncio.to_thread(_ANSWER.validate_json, output)
                except ParserKilled as killed:
                    raise Unreadable(f"{source} {_KILLED[killed.cause]}.", "", killed.cause) from None
                except ValidationError:
                    raise Unreadable(f"{source} makes what reads it answer nonsense.", "", "broken_parser") from None
        if isinstance(answer, _Refused):
            raise Unreadable(source + answer.error.removeprefix(_ITS_NAME), answer.hint, answer.cause)
        return answer
