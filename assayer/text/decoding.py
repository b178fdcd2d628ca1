"""Decoding of a text file: as Unicode if it is marked or valid as such, otherwise in the encoding detected from its
bytes. Files whose encoding cannot be detected are refused."""

import codecs
import re
from typing import BinaryIO

from assayer.errors import InputError
from assayer.text.encoding_detection import detect_encoding, special_lines, utf16_without_mark

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks. Each is listed before any shorter mark that is its prefix."""
_KINDS = (
    (b"%PDF-", "a PDF", "Name it .pdf."),
    (b"PK\x03\x04", "a ZIP or Office file", "Save it as plain text, CSV or PDF."),
    (b"\x1f\x8b", "compressed", "Unpack it first."),
    (b"{\\rtf", "RTF", "Name it .rtf."),
    (b"\xd0\xcf\x11\xe0", "an old Office file", "Save it as plain text, CSV or PDF."),
)
_NAMES = {
    "cp1250": "Windows-1250", "cp1251": "Windows-1251", "cp1252": "Windows-1252", "cp1253": "Windows-1253",
    "cp1254": "Windows-1254", "cp1255": "Windows-1255", "cp1256": "Windows-1256", "cp1257": "Windows-1257",
    "cp932": "Shift-JIS", "cp949": "EUC-KR", "cp874": "Windows-874", "mac_roman": "Mac Roman",
    "mac_latin2": "Mac Latin 2", "mac_cyrillic": "Mac Cyrillic",
}  # fmt: skip
_TWICE = re.compile("[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u2122]")
"""Pattern for the first two bytes of a UTF-8 character, both decoded as Windows-1252."""
_HZ = re.compile(rb"~\{(?:[\x21-\x77][\x21-\x7e]){2,}~\}")
"""Pattern for Chinese text in the HZ encoding, which writes each character as two ASCII characters."""
_UTF_7 = re.compile(rb"\+A[A-Za-z0-9+/]{2,}-")
"""Pattern for Latin letters in UTF-7: `+AOk-`."""
_MIN_UTF_7 = 2
_LATIN = re.compile("[\u00a1-\u024f]+")
"""Pattern for special letters of Latin script. Other characters come from a formula that only looks like UTF-7."""
_PIECE = 1 << 20
_SAMPLE = 1 << 16
_CONTROLS = tuple(bytes([code]) for code in range(32) if code not in b"\t\n\r\f\b\x1b")
_JAPANESE_ESCAPE = re.compile(rb"\x1b\$[@B]")


def decode_text(data: bytes, source: str, declared: str = "") -> str:
    """Decode a text. `declared` is the encoding that the text itself declares, if any. Raises InputError if the bytes
    are not text or their encoding cannot be detected."""
    mark = _find_encoding_mark(data)
    if not mark:
        _refuse_other_kinds(data, source)
    if mark or b"\0" in data:
        return data.decode(mark or _detect_utf16(data, source), "replace")
    if (text := _decode_seven_bits(data)) is not None:
        return text
    if (text := _decode_strictly(data, "utf-8")) is not None and not _JAPANESE_ESCAPE.search(data):
        return _repair_double_encoding(text)
    if declared and (text := _decode_strictly(data, declared)) is not None:
        return text
    lenient = data.decode("utf-8", "replace")
    special = sum(1 for character in lenient if character > "\x7f")
    if special and _is_mostly_intact(special, lenient.count("\ufffd")):
        return lenient
    return data.decode(_recognise_encoding(data, source), "replace")


def _repair_double_encoding(text: str) -> str:
    """Restore a text whose UTF-8 bytes were decoded as Windows-1252 and then saved as UTF-8 again. Returns other texts
    unchanged."""
    if not _TWICE.search(text):
        return text
    try:
        return b"".join(_encode_windows(character) for character in text).decode("utf-8")
    except UnicodeError:
        return text


def _decode_seven_bits(data: bytes) -> str | None:
    """Decode a text that is all ASCII bytes but was written in a 7-bit encoding. Returns None for other texts."""
    if not data.isascii():
        return None
    if _HZ.search(data):
        return _decode_strictly(data, "hz")
    words = _UTF_7.findall(data)
    text = _decode_strictly(data, "utf-7") if len(words) >= _MIN_UTF_7 else None
    return text if text and all(_LATIN.fullmatch(word.decode("utf-7")) for word in words) else None


def _encode_windows(character: str) -> bytes:
    return character.encode("latin-1" if "\x80" <= character <= "\x9f" else "cp1252")


def encoding_of(file: BinaryIO, source: str) -> str:
    """Detect the encoding of a file that contains many texts and is too large to decode at once. The file is read once
    and rewound to its start. Raises the errors of `decode_text`, except that it tolerates a few binary characters,
    which affect only one of the texts."""
    file.seek(0)
    start = file.read(_PIECE)
    if mark := _find_encoding_mark(start):
        file.seek(0)
        return mark
    _refuse_other_kinds(start, source)
    if start.count(b"\0") > 0.01 * len(start) or utf16_without_mark(start):
        file.seek(0)
        return _detect_utf16(start, source)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    special = broken = 0
    sample, piece = b"", start
    while piece:
        following = file.read(_PIECE)
        text = decoder.decode(piece, final=not following)
        special += len(text) - len(text.encode("ascii", "ignore"))
        broken += text.count("\ufffd")
        if len(sample) < _SAMPLE:
            sample += special_lines(piece, _SAMPLE - len(sample)) + b"\n"
        piece = following
    file.seek(0)
    if not broken or _is_mostly_intact(special, broken):
        return "utf-8"
    return _recognise_encoding(sample, source)


def encoding_name(encoding: str) -> str:
    """Return the usual name of an encoding, for messages."""
    return _NAMES.get(encoding, codecs.lookup(encoding).name.upper().removesuffix("-SIG"))


def _find_encoding_mark(data: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def _decode_strictly(data: bytes, encoding: str) -> str | None:
    """Return the decoded text; None if the bytes are invalid in that encoding, or the encoding is unknown."""
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _detect_utf16(data: bytes, source: str) -> str:
    encoding = utf16_without_mark(data)
    if encoding is None:
        raise _build_binary_error(source)
    return encoding


def _recognise_encoding(data: bytes, source: str) -> str:
    if _JAPANESE_ESCAPE.search(data) and _decode_strictly(data, "iso2022_jp") is not None:
        return "iso2022_jp"
    encoding = detect_encoding(data)
    if encoding is None:
        raise InputError(
            f"{source} is not UTF-8, and its encoding could not be detected.",
            "Save it as UTF-8: most editors offer that under Save As.",
        )
    return encoding


def _refuse_other_kinds(data: bytes, source: str) -> None:
    for mark, kind, remedy in _KINDS:
        if data.startswith(mark):
            raise InputError(f"{source} is {kind}, not text.", remedy)
    controls = sum(data.count(byte) for byte in _CONTROLS if byte != b"\0")
    if controls > 0.01 * len(data) and not utf16_without_mark(data):
        raise _build_binary_error(source)


def _build_binary_error(source: str) -> InputError:
    return InputError(f"{source} is not text: it contains binary data.", "Use plain text, Markdown, JSON or PDF.")


def _is_mostly_intact(special: int, broken: int) -> bool:
    """Return whether a text is UTF-8 with a few broken bytes: most of its special characters are intact. `special`
    includes the broken characters."""
    return special - broken > broken
