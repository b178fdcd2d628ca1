"""Bytes of a text file to text."""

import codecs

from assayer.errors import InputError

__all__ = ["decode_text"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_KINDS = (
    (b"%PDF-", "a PDF", "Name it .pdf."),
    (b"PK\x03\x04", "a ZIP or Office file", "Save it as plain text or PDF."),
    (b"\x1f\x8b", "compressed", "Unpack it first."),
    (b"{\\rtf", "RTF", "Save it as plain text or PDF."),
    (b"\xd0\xcf\x11\xe0", "an old Office file", "Save it as plain text or PDF."),
)


def decode_text(data: bytes, source: str) -> str:
    """UTF-8, UTF-16 with a byte order mark, or Windows-1252. Raises InputError for what is no text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    for mark, kind, remedy in _KINDS:
        if data.startswith(mark):
            raise InputError(f"{source} is {kind}, not text.", remedy)
    controls = sum(data.count(byte) for byte in _CONTROLS)
    if b"\0" in data or controls > 0.01 * len(data):
        raise InputError(f"{source} is not text: it holds binary data.", "Give plain text, Markdown, JSON or PDF.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _legacy(data)


_CONTROLS = tuple(bytes([code]) for code in range(32) if code not in b"\t\n\r\f\b\x1b")


def _legacy(data: bytes) -> str:
    """UTF-8 with a few broken bytes where most of its special characters are whole, else Windows-1252."""
    lenient = data.decode("utf-8", "replace")
    broken = lenient.count("\ufffd")
    whole = sum(1 for character in lenient if character > "\x7f") - broken
    return lenient if whole > broken else data.decode("cp1252", "replace")
