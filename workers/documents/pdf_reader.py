"""Reads an untrusted PDF to title and sections; a sandboxed child parses it, with limits on what it may use."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, NamedTuple, cast

from pydantic import TypeAdapter, ValidationError

from assayer.errors import FullTextError, Unreadable
from assayer.models import Caption, Frozen, Section, UnreadableCause
from workers.documents.limits import PdfLimits
from workers.documents.pdf_layout import PdfLine, TextStyle, detect_layout
from workers.sandbox.runner import KilledCause, ParserKilled, run_sandboxed

__all__ = ["HiddenText", "ParsedPdf", "PdfText", "extract_pdf", "pdf_text"]

_REMEDY = "Export it again, or give it as plain text."


class HiddenText(NamedTuple):
    """Text in the file that a reader cannot see."""

    page: int
    """From 1."""
    why: str
    """In words: a `PdfHiding` of `workers.sandbox.hidden_pdf_text`."""
    text: str


class ParsedPdf(Frozen):
    """The text of a PDF, by section."""

    title: str
    """A guess from type size or the document's own data; may be empty."""
    sections: tuple[Section, ...]
    pages: int
    unreadable_pages: int
    captions: tuple[Caption, ...] = ()
    """Of figures and tables, taken out of the sections where their type sets them apart."""
    hidden: tuple[HiddenText, ...] = ()
    """Left out of the sections; not sanitised."""
    unlooked_pages: int = 0
    """Not rendered, for want of time: text that is covered or cut off there was read like any other."""


class PdfText(NamedTuple):
    """All that the pages show, and what they hide."""

    text: str
    hidden: tuple[HiddenText, ...]
    pages: int = 1
    unlooked_pages: int = 0
    """Pages that were not rendered, for want of time: covered text counts as shown there."""


class _Refusal(Frozen):
    error: str


class _Lines(Frozen):
    pages: int
    unreadable: int
    unlooked: int
    title: str
    styles: list[TextStyle]
    lines: list[tuple[int, int, bool, str]]
    """Page, index into styles, uniform, text."""
    hidden: list[tuple[int, str, str]]
    """Page, why, text."""


_ANSWER = TypeAdapter[_Refusal | _Lines](_Refusal | _Lines)


def _unreadable_when_refused(error: str, source: str, limits: PdfLimits) -> Unreadable:
    """Each way in which the child refuses: what was wrong and what to do."""
    megabytes = limits.memory_bytes // 1_000_000
    refusals: dict[str, tuple[str, str]] = {
        "encrypted": ("is encrypted", "Save it without a password."),
        "no_pages": ("has no pages", "Export it again."),
        "damaged": ("is damaged or cut short: no page of it can be read", "Export or download it again."),
        "too_many_pages": (f"has more than {limits.pages} pages", "Keep the pages that describe the work."),
        "too_much_text": (f"unpacks to more than {limits.characters:,} characters", "Keep what describes the work."),
        "memory": (f"needs more than {megabytes} MB of memory to parse", _REMEDY),
    }
    wrong, remedy = refusals.get(error, (f"could not be parsed ({error})", _REMEDY))
    cause = cast(UnreadableCause, error) if error in refusals else "broken_parser"
    return Unreadable(f"{source} {wrong}.", remedy, cause)


def _check_kind(start: bytes, source: str) -> None:
    """Judges the first kilobyte."""
    if not start:
        raise Unreadable(f"{source} is empty.", cause="empty")
    if b"%PDF-" in start:
        return
    if b"<html" in start.lower() or b"<!doctype html" in start.lower():
        hint = "Open it in a browser; it may be an error page."
        raise Unreadable(f"{source} is an HTML page, not a PDF.", hint, "html")
    if start.startswith(b"PK"):
        raise Unreadable(f"{source} is a ZIP or Office file, not a PDF.", "Export it as PDF.", "not_a_pdf")
    raise Unreadable(f"{source} is not a PDF: the mark %PDF- is missing at its start.", "Export it again.", "not_a_pdf")


@contextmanager
def _opened(pdf: Path | bytes, source: str, limits: PdfLimits) -> Iterator[IO[bytes]]:
    """A file that a child can take as its standard input, checked for kind and size."""
    with ExitStack() as stack:
        try:
            if isinstance(pdf, Path):
                file: IO[bytes] = stack.enter_context(pdf.open("rb", buffering=0))
            else:
                file = stack.enter_context(tempfile.TemporaryFile(buffering=0))
                file.write(pdf)
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            start = file.read(1024)
            file.seek(0)
        except OSError as error:
            raise FullTextError(f"{source} cannot be read: {error.strerror}.") from error
        if size > limits.file_bytes:
            raise Unreadable(f"{source} has more than {limits.file_bytes / 1e6:g} MB.", "Shorten it.", "too_large")
        _check_kind(start, source)
        yield file


def _unreadable_when_killed(cause: KilledCause, source: str, limits: PdfLimits) -> Unreadable:
    """Each way in which the child ends without an answer."""
    messages: dict[KilledCause, str] = {
        "too_much_text": f"unpacks to more than {_max_output_bytes(limits) / 1e6:g} MB of text",
        "time": f"takes more than {limits.wall_seconds:g} s to parse",
        "computing_time": f"takes more than {limits.cpu_seconds} s of computing to parse",
        "broken_parser": f"breaks the parser, or needs more than {limits.memory_bytes // 1_000_000} MB of memory",
    }
    return Unreadable(f"{source} {messages[cause]}.", _REMEDY, cause)


def _max_output_bytes(limits: PdfLimits) -> int:
    return 8 * limits.characters + 1_000_000


async def _parse_in_sandbox(file: IO[bytes], source: str, limits: PdfLimits) -> _Lines:
    arguments = (limits.memory_bytes, limits.cpu_seconds, limits.pages, limits.characters)
    command = ("-m", "workers.sandbox.pdf_parser", *map(str, arguments))
    try:
        output = await run_sandboxed(command, file, limits.wall_seconds, _max_output_bytes(limits))
    except ParserKilled as killed:
        raise _unreadable_when_killed(killed.cause, source, limits) from None
    try:
        parsed = _ANSWER.validate_json(output)
    except ValidationError as error:
        message = f"{source} made the parser answer nonsense: {error.errors()[0]['msg']}."
        raise Unreadable(message, _REMEDY, "broken_parser") from error
    if isinstance(parsed, _Refusal):
        raise _unreadable_when_refused(parsed.error, source, limits)
    return parsed


async def extract_pdf(pdf: Path | bytes, limits: PdfLimits | None = None, source: str = "") -> ParsedPdf:
    """Title and sections of a PDF. `source` names it in errors. Raises Unreadable, or FullTextError when the
    file itself is out of reach."""
    limits = limits or PdfLimits()
    source = source or (str(pdf) if isinstance(pdf, Path) else "The PDF")
    with _opened(pdf, source, limits) as file:
        parsed = await _parse_in_sandbox(file, source, limits)
    lines = [PdfLine(page, parsed.styles[style], uniform, text) for page, style, uniform, text in parsed.lines]
    layout = detect_layout(lines, parsed.title)
    if not layout.sections:
        pages = f"{parsed.pages} page{'s' * (parsed.pages != 1)}"
        raise Unreadable(
            f"{source} has {pages} but no text; it probably holds scanned images.",
            "Run text recognition (OCR) on it first.",
            "no_text",
        )
    return ParsedPdf(
        title=layout.title,
        sections=layout.sections,
        pages=parsed.pages,
        unreadable_pages=parsed.unreadable,
        unlooked_pages=parsed.unlooked,
        captions=layout.captions,
        hidden=_hidden(parsed),
    )


def _hidden(parsed: _Lines) -> tuple[HiddenText, ...]:
    return tuple(HiddenText(page + 1, why, text) for page, why, text in parsed.hidden)


async def pdf_text(pdf: bytes, limits: PdfLimits, source: str) -> PdfText:
    """Its lines as they come, running heads and all. Raises Unreadable."""
    with _opened(pdf, source, limits) as file:
        parsed = await _parse_in_sandbox(file, source, limits)
    text = "\n".join(text for *_, text in parsed.lines)
    return PdfText(text, _hidden(parsed), parsed.pages, parsed.unlooked)
