"""Bytes of a text file to text."""

import codecs
from typing import BinaryIO, Literal, TypeAlias

from assayer.errors import InputError

__all__ = ["Encoding", "decode_text", "encoding_of"]

Encoding: TypeAlias = Literal["utf-8", "utf-8-sig", "utf-16", "cp1252"]

_MARKS: tuple[tuple[bytes, Encoding], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_KINDS = (
    (b"%PDF-", "a PDF", "Name it .pdf."),
    (b"PK\x03\x04", "a ZIP or Office file", "Save it as plain text, CSV or PDF."),
    (b"\x1f\x8b", "compressed", "Unpack it first."),
    (b"{\\rtf", "RTF", "Save it as plain text or PDF."),
    (b"\xd0\xcf\x11\xe0", "an old Office file", "Save it as plain text, CSV or PDF."),
)
_PIECE = 1 << 20
_CONTROLS = tuple(bytes([code]) for code in range(32) if code not in b"\t\n\r\f\b\x1b")


def decode_text(data: bytes, source: str) -> str:
    """UTF-8, UTF-16 with a byte order mark, or Windows-1252. Raises InputError for what is no text."""
    if encoding := _marked(data):
        return data.decode(encoding, "replace")
    _refuse_other_kinds(data, source)
    if b"\0" in data:
        raise _binary(source)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        lenient = data.decode("utf-8", "replace")
        broken = lenient.count("\ufffd")
        special = sum(1 for character in lenient if character > "\x7f")
        return lenient if _mostly_whole(special, broken) else data.decode("cp1252", "replace")


def encoding_of(file: BinaryIO, source: str) -> Encoding:
    """Of a file of many texts, too large to be decoded in one piece; it is read once and left at its start. Raises as
    above, but not for a few binary characters, which cost one of the texts only."""
    file.seek(0)
    start = file.read(_PIECE)
    if encoding := _marked(start):
        file.seek(0)
        return encoding
    _refuse_other_kinds(start, source)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    special = broken = 0
    piece = start
    while piece:
        following = file.read(_PIECE)
        text = decoder.decode(piece, final=not following)
        special += len(text) - len(text.encode("ascii", "ignore"))
        broken += text.count("\ufffd")
        piece = following
    file.seek(0)
    return "utf-8" if not broken or _mostly_whole(special, broken) else "cp1252"


def _marked(data: bytes) -> Encoding | None:
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def _refuse_other_kinds(data: bytes, source: str) -> None:
    for mark, kind, remedy in _KINDS:
        if data.startswith(mark):
            raise InputError(f"{source} is {kind}, not text.", remedy)
    controls = sum(data.count(byte) for byte in _CONTROLS)
    if controls > 0.01 * len(data):
        raise _binary(source)


def _binary(source: str) -> InputError:
    return InputError(f"{source} is not text: it holds binary data.", "Give plain text, Markdown, JSON or PDF.")


def _mostly_whole(special: int, broken: int) -> bool:
    """Whether a text that is not all UTF-8 is UTF-8 with a few broken bytes: most of its special characters are whole.
    `special` counts the broken ones too."""
    return special - broken > broken
