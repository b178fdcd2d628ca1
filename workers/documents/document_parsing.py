"""Parse untrusted documents in the sandbox, and explain why a document cannot be read."""

from typing import Annotated, TypeVar, cast, get_args

from pydantic import Field, TypeAdapter

from assayer.errors import InputError, Unreadable
from assayer.models import UnreadableCause
from workers.documents.limits import OfficeLimits, ParserLimits
from workers.documents.parsed_text import ParsedTable, ParsedText
from workers.sandbox.documents import DocumentKind
from workers.sandbox.runner import Refused, parse_in_sandbox

T = TypeVar("T")

OFFICE_SIGNATURES = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""First bytes of office files; the second value marks encrypted and older files."""
_SAVE_AGAIN = "Save it again, or submit it as PDF or plain text."
_ANSWER = TypeAdapter[ParsedText | ParsedTable](Annotated[ParsedText | ParsedTable, Field(discriminator="kind")])


def _describe_cause(cause: str, limits: ParserLimits) -> tuple[str, str]:
    """Return what is wrong with a document, as words that follow its name, and what the user can do about it."""
    megabytes = limits.memory_bytes // 1_000_000
    descriptions = {
        "encrypted": ("is encrypted", "Save it without a password."),
        "no_pages": ("has no pages", "Export it again."),
        "damaged": ("is damaged or incomplete", "Export or download it again."),
        "too_many_pages": (f"has more than {getattr(limits, 'pages', 0)} pages",
                           "Keep only the pages that describe the work."),
        "too_much_text": (f"has more than {limits.characters:,} characters",
                          "Keep only the text that describes the work."),
        "too_much_unpacked": (f"has more than {getattr(limits, 'unpacked_bytes', 0) / 1e6:g} MB when decompressed",
                              "Remove its pictures."),
        "memory": (f"could not be parsed within the limit of {megabytes} MB of memory", _SAVE_AGAIN),
        "time": (f"could not be parsed within the limit of {limits.wall_seconds:g} s", _SAVE_AGAIN),
        "computing_time": (f"could not be parsed within the limit of {limits.cpu_seconds} s of CPU time", _SAVE_AGAIN),
        "broken_parser": (f"crashed the parser, or exceeded the limit of {megabytes} MB of memory", _SAVE_AGAIN),
        "nested": ("is nested too deeply", _SAVE_AGAIN),
        "old_format": ("is in an Office format from before 2007", "Save it as .docx, .xlsx or PDF."),
        "macros": ("contains macros", "Save it as a document without macros (.docx, .odt, .xlsx) or as PDF."),
        "entities": ("declares XML entities, which are not allowed", _SAVE_AGAIN),
        "other_format": ("is a ZIP file, but neither a Word, LibreOffice or Excel document nor a TeX document",
                         "Submit a .docx, .odt or .xlsx file, or unpack the ZIP file."),
        "other_xml": ("is XML, but not an article in JATS",
                      "Export it as JATS, HTML, PDF or plain text; for a bibliography, as BibTeX or RIS."),
        "no_tex": ("is an archive without a TeX document", "Unpack it, and submit the folder or its files."),
        "encoding": ("is not UTF-8, and its encoding could not be detected", "Save it as UTF-8 in your editor."),
        "no_text": ("has no text", _SAVE_AGAIN),
        "not_installed": ("is an Excel table, and the library that reads Excel tables is not installed",
                          "Install it with: pip install 'assayer-research[tables]', or save the table as CSV."),
    }  # fmt: skip
    return descriptions.get(cause, ("could not be parsed", _SAVE_AGAIN))


async def parse_document(
    parser: str, document: bytes, source: str, limits: ParserLimits, answer: TypeAdapter[T], **options: object
) -> T:
    """Run a parser on a document and return its output. Raises Unreadable, with a message that names `source`."""
    if not document.strip():
        raise Unreadable(f"{source} is empty.", "Check whether it was cut off.", "empty")
    if len(document) > limits.file_bytes:
        raise Unreadable(f"{source} has more than {limits.file_bytes / 1e6:g} MB.", "Shorten it.", "too_large")
    try:
        return await parse_in_sandbox(parser, document, limits, answer, characters=limits.characters, **options)
    except Refused as refused:
        problem, remedy = _describe_cause(refused.cause, limits)
        cause = refused.cause if refused.cause in get_args(UnreadableCause) else "damaged"
        raise Unreadable(f"{source} {problem}.", remedy, cast(UnreadableCause, cause)) from None


async def read_document(
    document: bytes, kind: DocumentKind, source: str, limits: OfficeLimits
) -> ParsedText | ParsedTable:
    """Read an office file, a text with markup, or an archive with the files of a TeX document. Raises InputError."""
    if kind == "office" and document and not document.startswith(OFFICE_SIGNATURES):
        raise InputError(
            f"{source} is not an office document: its file signature (first bytes) does not match.", _SAVE_AGAIN
        )
    options = {"kind": kind, "unpacked_bytes": limits.unpacked_bytes}
    try:
        return await parse_document(
            "workers.sandbox.documents:read_document", document, source, limits, _ANSWER, **options
        )
    except Unreadable as error:
        raise InputError(error.message, error.hint) from error


async def read_table(document: bytes, source: str, limits: OfficeLimits | None = None) -> ParsedTable:
    """Read the table in a workbook. Raises InputError."""
    table = await read_document(document, "office", source, limits or OfficeLimits())
    if not isinstance(table, ParsedTable):
        raise InputError(
            f"{source} is a text document, not a table.", "Rename it to end in .docx or .odt to read it as one idea."
        )
    return table
