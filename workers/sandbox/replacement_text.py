"""Remove replacement text (`ActualText`) that differs from the text drawn on a PDF page.

Runs in the sandboxed process. Replacement text for ligatures, hyphens and characters that the font does not map to
Unicode is legitimate, and is kept."""

import ctypes
import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pypdfium2.raw as pdfium

from workers.sandbox.page_picture import list_objects

_MAX_BYTES = 4_000
"""Maximum number of bytes read from one replacement text."""
_MAX_DIFFERENT_LETTERS = 3
"""Maximum number of letters in a replacement text that may differ from the drawn text."""


def remove_false_replacements(document: Any, number: int, page: Any) -> list[str]:
    """Remove the replacement texts that differ from what the page shows, and return them. Call this before reading the
    page's text, which would otherwise contain them. The page's appearance does not change."""
    texts = list(_list_text_objects(page))
    replacements = [_read_replacement(item) for item in texts]
    if not any(replacements):
        return []
    drawn_texts = _read_drawn_texts(document, number)
    false_replacements: list[str] = []
    start = 0
    for replacement, group in groupby(replacements):
        length = len(list(group))
        if replacement and not _is_drawn_text(replacement, "".join(drawn_texts[start : start + length])):
            false_replacements.append(replacement)
            for item in texts[start : start + length]:
                _remove_replacement(item)
        start += length
    return false_replacements


def _is_drawn_text(replacement: str, drawn: str) -> bool:
    letters, drawn_letters = _reduce_to_letters(replacement), _reduce_to_letters(drawn)
    has_no_letters = not drawn_letters and len(letters) <= _MAX_DIFFERENT_LETTERS * max(len(drawn), 1)
    return letters == drawn_letters or len(letters) <= _MAX_DIFFERENT_LETTERS or has_no_letters


def _reduce_to_letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _list_text_objects(page: Any) -> Iterator[Any]:
    return (item for item in list_objects(page) if pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_TEXT)


def _read_drawn_texts(document: Any, number: int) -> list[str]:
    """Return the text that each text object on the page draws, according to its font."""
    page = document[number]
    texts = list(_list_text_objects(page))
    for item in texts:
        _remove_replacement(item)
    text = page.get_textpage()
    indices = {ctypes.addressof(item.contents): text_index for text_index, item in enumerate(texts)}
    drawn_texts = [""] * len(texts)
    for index in range(text.count_chars()):
        pointer = pdfium.FPDFText_GetTextObject(text, index)
        if pointer and (text_index := indices.get(ctypes.addressof(pointer.contents))) is not None:
            drawn_texts[text_index] += chr(pdfium.FPDFText_GetUnicode(text, index))
    text.close()
    page.close()
    return drawn_texts


def _read_replacement(item: Any) -> str:
    """Return a text object's replacement text; empty if it has none."""
    for mark in _list_marks(item):
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


def _list_marks(item: Any) -> list[Any]:
    return [pdfium.FPDFPageObj_GetMark(item, number) for number in range(pdfium.FPDFPageObj_CountMarks(item))]


def _remove_replacement(item: Any) -> None:
    for mark in _list_marks(item):
        length = ctypes.c_ulong()
        pdfium.FPDFPageObjMark_GetParamBlobValue(mark, b"ActualText", None, 0, length)
        if length.value:
            pdfium.FPDFPageObj_RemoveMark(item, mark)
