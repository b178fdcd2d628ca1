"""Remove replacement text (`ActualText`) that differs from the text drawn on a PDF page.

Runs in the sandboxed process. Replacement text for ligatures, hyphens and characters that the font does not map to
Unicode is legitimate, and is kept."""

import ctypes
import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pypdfium2.raw as pdfium

from workers.sandbox.page_picture import objects_of

_MAX_BYTES = 4_000
"""Maximum number of bytes read from one replacement text."""
_SHORT = 3
"""Maximum number of letters in a replacement text that may differ from the drawn text."""


def remove_false_replacements(document: Any, number: int, page: Any) -> list[str]:
    """Remove the replacement texts that differ from what the page shows, and return them. Call this before reading the
    page's text, which would otherwise contain them. The page's appearance does not change."""
    texts = list(_texts(page))
    replacements = [_replacement_of(item) for item in texts]
    if not any(replacements):
        return []
    drawn = _read_drawn_texts(document, number)
    false: list[str] = []
    place = 0
    for replacement, group in groupby(replacements):
        length = len(list(group))
        if replacement and not _matches_drawn_text(replacement, "".join(drawn[place : place + length])):
            false.append(replacement)
            for item in texts[place : place + length]:
                _remove(item)
        place += length
    return false


def _matches_drawn_text(replacement: str, drawn: str) -> bool:
    letters, drawn_letters = _reduce_to_letters(replacement), _reduce_to_letters(drawn)
    has_no_letters = not drawn_letters and len(letters) <= _SHORT * max(len(drawn), 1)
    return letters == drawn_letters or len(letters) <= _SHORT or has_no_letters


def _reduce_to_letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _texts(page: Any) -> Iterator[Any]:
    return (item for item in objects_of(page) if pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_TEXT)


def _read_drawn_texts(document: Any, number: int) -> list[str]:
    """Return the text that each text object on the page draws, according to its font."""
    page = document[number]
    texts = list(_texts(page))
    for item in texts:
        _remove(item)
    text = page.get_textpage()
    places = {ctypes.addressof(item.contents): place for place, item in enumerate(texts)}
    drawn = [""] * len(texts)
    for index in range(text.count_chars()):
        pointer = pdfium.FPDFText_GetTextObject(text, index)
        if pointer and (place := places.get(ctypes.addressof(pointer.contents))) is not None:
            drawn[place] += chr(pdfium.FPDFText_GetUnicode(text, index))
    text.close()
    page.close()
    return drawn


def _replacement_of(item: Any) -> str:
    """Return a text object's replacement text; empty if it has none."""
    for mark in _marks(item):
        length = ctypes.c_ulong()
        pdfium.FPDFPageObjMark_GetParamBlobValue(mark, b"ActualText", None, 0, length)
        if 0 < length.value <= _MAX_BYTES:
            raw = (ctypes.c_ubyte * length.value)()
            pdfium.FPDFPageObjMark_GetParamBlobValue(mark, b"ActualText", raw, length.value, length)
            return _decode(bytes(raw))
        if length.value:
            return "longer than any drawn text " * 40
    return ""


def _decode(raw: bytes) -> str:
    """Decode a PDF string by its byte order mark or, if there is no mark, as Latin-1, because PDF's own encoding is
    nearly the same."""
    if raw.startswith(b"\xfe\xff"):
        return raw[2:].decode("utf-16-be", "replace")
    return raw[3:].decode("utf-8", "replace") if raw.startswith(b"\xef\xbb\xbf") else raw.decode("latin-1")


def _marks(item: Any) -> list[Any]:
    return [pdfium.FPDFPageObj_GetMark(item, place) for place in range(pdfium.FPDFPageObj_CountMarks(item))]


def _remove(item: Any) -> None:
    for mark in _marks(item):
        length = ctypes.c_ulong()
        pdfium.FPDFPageObjMark_GetParamBlobValue(mark, b"ActualText", None, 0, length)
        if length.value:
            pdfium.FPDFPageObj_RemoveMark(item, mark)
