"""Find the characters on a PDF page that a reader cannot see.

Runs in the sandboxed process. A character is hidden if its rendering mode, size or position in the file makes it
invisible. Any other word is visible if the rendered page looks different without it."""

import ctypes
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Literal

import pypdfium2.raw as pdfium

from workers.sandbox.page_picture import Box, TextPicture, objects_of

PdfHiding = Literal[
    "invisible",
    "tiny",
    "off the page",
    "in the background colour",
    "covered, cut off or switched off",
    "different from what is drawn",
]

_TINY = 2.0
"""Size, in points, below which text is too small to read."""
_NO_WIDTH = 0.1
_ALIKE = 0x20
_MIN_LETTERS = 3
"""Minimum number of letters missing from the rendered page for text to count as hidden. Fewer are usually formula
symbols whose positions pdfium gets wrong."""
_MIN_SQUEEZED_LETTERS = 6
"""Minimum number of letters in a text object of zero width for the object to count as hidden."""
_UNPAINTED = {pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP}
_OUTLINE = {pdfium.FPDF_TEXTRENDERMODE_STROKE, pdfium.FPDF_TEXTRENDERMODE_STROKE_CLIP}


def find_hidden_characters(page: Any, text: Any, render_page: bool = True) -> dict[int, PdfHiding]:
    """Return the invisible characters, as indices into the text page, each with the reason.

    Spaces and line ends added by pdfium are never included. Without `render_page`, the page is not rendered, and only
    the file's properties are used."""
    objects: dict[int, list[int]] = defaultdict(list)
    for index in range(text.count_chars()):
        pointer = pdfium.FPDFText_GetTextObject(text, index)
        if pointer:
            objects[ctypes.addressof(pointer.contents)].append(index)
    boxes = _character_boxes(text, chain.from_iterable(objects.values()))
    is_scan = _is_scan(page, text, objects.values())
    paper = Box(*page.get_bbox())
    hidden: dict[int, PdfHiding] = {}
    drawn: list[list[int]] = []
    for indices in objects.values():
        reason = _find_plain_hiding(text, indices[0], boxes[indices[0]], is_scan)
        if not reason and _is_squeezed([boxes[index] for index in _keep_inked(text, indices)]):
            reason = "tiny"
        if reason:
            hidden.update(dict.fromkeys(indices, reason))
            continue
        hidden.update((index, "off the page") for index in indices if not paper.holds(*boxes[index].middle))
        visible = [index for index in indices if index not in hidden]
        if visible and _mode(text, visible[0]) not in _UNPAINTED:
            drawn.append(visible)
    if drawn and render_page:
        hidden.update(_find_unseen(page, text, drawn, boxes))
    return hidden


def _find_unseen(page: Any, text: Any, drawn: Sequence[list[int]], boxes: dict[int, Box]) -> dict[int, PdfHiding]:
    """Return the characters of words whose removal does not change the rendered page."""
    items = [item for item in objects_of(page) if pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_TEXT]
    picture = TextPicture(page, items)
    hidden: dict[int, PdfHiding] = {}
    for indices in drawn:
        for word in _split_words(text, indices):
            if not any(picture.shows(boxes[index]) for index in word):
                hidden.update(dict.fromkeys(word, _find_reason(text, word[0], boxes[word[0]], picture)))
    if sum(chr(pdfium.FPDFText_GetUnicode(text, index)).isalnum() for index in hidden) < _MIN_LETTERS:
        hidden.clear()
    return hidden


def _find_reason(text: Any, index: int, box: Box, picture: TextPicture) -> PdfHiding:
    *colour, _ = _fill(text, index)
    alike = max(abs(a - b) for a, b in zip(picture.background(box), colour, strict=True)) < _ALIKE
    return "in the background colour" if alike else "covered, cut off or switched off"


def _split_words(text: Any, indices: Iterable[int]) -> Iterator[list[int]]:
    word: list[int] = []
    for index in indices:
        if not chr(pdfium.FPDFText_GetUnicode(text, index)).isspace():
            word.append(index)
        elif word:
            yield word
            word = []
    if word:
        yield word


def _find_plain_hiding(text: Any, index: int, box: Box, is_scan: bool) -> PdfHiding | None:
    mode = _mode(text, index)
    if mode in _UNPAINTED and not is_scan:
        return "invisible"
    *_, alpha = _fill(text, index)
    if alpha == 0 and mode not in _OUTLINE and not is_scan:
        return "invisible"
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(text, index, matrix)
    size = pdfium.FPDFText_GetFontSize(text, index) * (math.hypot(matrix.c, matrix.d) or 1.0)
    return "tiny" if size < _TINY and box.top - box.bottom < _TINY else None


def _is_squeezed(letters: Sequence[Box]) -> bool:
    return len(letters) >= _MIN_SQUEEZED_LETTERS and all(
        min(box.right - box.left, box.top - box.bottom) < _NO_WIDTH for box in letters
    )


def _keep_inked(text: Any, indices: Iterable[int]) -> list[int]:
    return [index for index in indices if not chr(pdfium.FPDFText_GetUnicode(text, index)).isspace()]


def _is_scan(page: Any, text: Any, objects: Iterable[list[int]]) -> bool:
    """Return whether nearly all text is the invisible layer that OCR adds over a scanned image."""
    total = unseen = 0
    for indices in objects:
        total += len(indices)
        unseen += len(indices) * (_mode(text, indices[0]) in _UNPAINTED)
    return unseen > 0.9 * total and any(
        pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_IMAGE for item in objects_of(page)
    )


def _mode(text: Any, index: int) -> int:
    return int(pdfium.FPDFTextObj_GetTextRenderMode(pdfium.FPDFText_GetTextObject(text, index)))


def _character_boxes(text: Any, indices: Iterable[int]) -> dict[int, Box]:
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    boxes: dict[int, Box] = {}
    for index in indices:
        pdfium.FPDFText_GetCharBox(text, index, left, right, bottom, top)
        boxes[index] = Box(left.value, bottom.value, right.value, top.value)
    return boxes


def _fill(text: Any, index: int) -> tuple[int, int, int, int]:
    """Return red, green, blue and alpha; opaque black if the fill is a pattern without a single colour."""
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not pdfium.FPDFText_GetFillColor(text, index, red, green, blue, alpha):
        return 0, 0, 0, 255
    return red.value, green.value, blue.value, alpha.value
