"""Reads an untrusted office document to sections, or to the rows of a table; a sandboxed child parses it."""

import tempfile
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from assayer.errors import InputError
from assayer.ideas.parsing import UNTITLED
from assayer.ideas.tables import IdeaTable
from assayer.models import Frozen, Section
from workers.documents.limits import OfficeLimits
from workers.sandbox.runner import KilledCause, ParserKilled, run_sandboxed

__all__ = ["OFFICE_MARKS", "OFFICE_SUFFIXES", "TABLE_SUFFIX", "OfficeTable", "OfficeText", "read_office"]

OFFICE_SUFFIXES = (".docx", ".odt")
TABLE_SUFFIX = ".xlsx"
OFFICE_MARKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""What such files begin with; the second is what encrypted and older ones begin with."""
_REMEDY = "Save it again, or give it as PDF or plain text."
_MAIN_HEADINGS = 2


class OfficeTable(IdeaTable):
    kind: Literal["table"]


class OfficeText(Frozen):
    """A document's paragraphs."""

    kind: Literal["text"]
    title: str
    """What is styled as its title; may be empty."""
    paragraphs: tuple[tuple[int, str], ...]
    """Level of the heading, 0 for text."""
    hidden: tuple[tuple[str, str], ...]
    """Why nobody sees it, and what it says; not sanitised."""
    parts_unread: int
    """Documents within it."""

    def sections(self) -> tuple[Section, ...]:
        """Under the highest headings that stand more than once; those below them stay in the text."""
        levels = [level for level, _ in self.paragraphs if level]
        main = min((one for one in levels if levels.count(one) >= _MAIN_HEADINGS), default=min(levels, default=0))
        parts: list[tuple[str, list[str]]] = [(UNTITLED, [])]
        for level, text in self.paragraphs:
            if level and level <= main:
                parts.append((text, []))
            else:
                parts[-1][1].append(text)
        return tuple(Section(title=title, text="\n\n".join(texts)) for title, texts in parts if texts)


class _Refusal(Frozen):
    kind: Literal["refusal"]
    error: str


_ANSWER = TypeAdapter[OfficeText | OfficeTable | _Refusal](
    Annotated[OfficeText | OfficeTable | _Refusal, Field(discriminator="kind")]
)


def _refused(error: str, source: str, limits: OfficeLimits) -> InputError:
    """Each way in which the child refuses: what was wrong and what to do."""
    refusals = {
        "encrypted": ("is encrypted", "Save it without a password."),
        "old_format": ("is of an office format of before 2007", "Save it as .docx, .xlsx or PDF."),
        "macros": ("holds macros", "Save it as a document without macros (.docx, .odt, .xlsx) or as PDF."),
        "entities": ("declares entities, which no office program writes", _REMEDY),
        "damaged": ("is damaged or cut short", "Export or download it again."),
        "nested": ("is nested more deeply than any document is", _REMEDY),
        "other_format": ("is a ZIP file, but no document of Word, LibreOffice or Excel", "Send .docx, .odt or .xlsx."),
        "too_much_unpacked": (f"unpacks to more than {limits.unpacked_bytes / 1e6:g} MB", "Leave pictures out of it."),
        "too_much_text": (f"has more than {limits.characters:,} characters", "Keep what describes the work."),
        "memory": (f"needs more than {limits.memory_bytes // 1_000_000} MB of memory to parse", _REMEDY),
        "not_installed": ("is a table of Excel, and what reads those is not installed here",
                          "Install it with: pip install 'assayer[tables]', or save the table as CSV."),
    }  # fmt: skip
    wrong, remedy = refusals.get(error, ("could not be parsed", _REMEDY))
    return InputError(f"{source} {wrong}.", remedy)


def _killed(cause: KilledCause, source: str, limits: OfficeLimits) -> InputError:
    messages: dict[KilledCause, str] = {
        "too_much_text": "unpacks to too much text",
        "time": f"takes more than {limits.wall_seconds:g} s to parse",
        "computing_time": f"takes more than {limits.cpu_seconds} s of computing to parse",
        "broken_parser": f"breaks the parser, or needs more than {limits.memory_bytes // 1_000_000} MB of memory",
    }
    return InputError(f"{source} {messages[cause]}.", _REMEDY)


async def read_office(data: bytes, source: str, limits: OfficeLimits | None = None) -> OfficeText | OfficeTable:
    """By what the file is, whatever its name says. Raises InputError, which `source` names."""
    limits = limits or OfficeLimits()
    if not data:
        raise InputError(f"{source} is empty.", "Was it cut off?")
    if len(data) > limits.file_bytes:
        raise InputError(f"{source} has more than {limits.file_bytes / 1e6:g} MB.", "Leave pictures out of it.")
    if not data.startswith(OFFICE_MARKS):
        raise InputError(f"{source} is no office document: its first bytes do not say so.", _REMEDY)
    arguments = (limits.memory_bytes, limits.cpu_seconds, limits.characters, limits.unpacked_bytes)
    command = ("-m", "workers.sandbox.office_parser", *map(str, arguments))
    try:
        with tempfile.TemporaryFile(buffering=0) as file:
            file.write(data)
            file.seek(0)
            output = await run_sandboxed(command, file, limits.wall_seconds, 12 * limits.characters + 1_000_000)
    except ParserKilled as killed:
        raise _killed(killed.cause, source, limits) from None
    try:
        answer = _ANSWER.validate_json(output)
    except ValidationError as error:
        message = f"{source} made the parser answer nonsense: {error.errors()[0]['msg']}."
        raise InputError(message, _REMEDY) from error
    if isinstance(answer, _Refusal):
        raise _refused(answer.error, source, limits)
    return answer
