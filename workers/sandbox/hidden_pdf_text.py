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

from workers.sandbox.page_picture import Box, TextPicture, list_objects

PdfHiding = Literal[
    "invisible",
    "tiny",
    "off the page",
    "in the background colour",
    "covered, cut off or switched off",
    "different from what is drawn",
]

_MIN_READABLE_SIZE = 2.0
"""Size, in points, below which text is too small to read."""
_MIN_WIDTH = 0.1
_MAX_COLOUR_DIFFERENCE = 0x20
_MIN_LETTERS = 3
"""Minimum number of letters missing from the rendered page for text to count as hidden. Fewer are usually formula
symbols whose positions pdfium gets wrong."""
_MIN_SQUEEZED_LETTERS = 6
"""Minimum number of letters in a text object of zero width for the object to count as hidden."""
_UNPAINTED_MODES = {pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP}
_OUTLINE_MODES = {pdfium.FPDF_TEXTRENDERMODE_STROKE, pdfium.FPDF_TEXTRENDERMODE_STROKE_CLIP}


def find_hidden_characters(page: Any, text: Any, render_page: bool = True) -> dict[int, PdfHiding]:
    """Return the invisible characters, as indices into the text page, each with the reason.

    Spaces and line ends added by pdfium are never included. Without `render_page`, the page is not rendered, and only
    the file's properties are used."""
    objects: dict[int, list[int]] = defaultdict(list)
    for index in range(text.count_chars()):
        pointer = pdfium.FPDFText_GetTextObject(text, index)
        if pointer:
            objects[ctypes.addressof(pointer.contents)].append(index)
    boxes = _find_character_boxes(text, chain.from_iterable(objects.values()))
    is_scan = _is_scan(page, text, objects.values())
    page_box = Box(*page.get_bbox())
    hidden: dict[int, PdfHiding] = {}
    visible_objects: list[list[int]] = []
    for indices in objects.values():
        reason = _find_plain_hiding(text, indices[0], boxes[indices[0]], is_scan)
        if not reason and _is_squeezed([boxes[index] for index in _select_inked(text, indices)]):
            reason = "tiny"
        if reason:
            hidden.update(dict.fromkeys(indices, reason))
            continue
        hidden.update((index, "off the page") for index in indices if not page_box.contains(*boxes[index].centre))
        visible = [index for index in indices if index not in hidden]
        if visible and _get_rendering_mode(text, visible[0]) not in _UNPAINTED_MODES:
            visible_objects.append(visible)
    if visible_objects and render_page:
        hidden.update(_find_invisible_words(page, text, visible_objects, boxes))
    return hidden


def _find_invisible_words(
    page: Any, text: Any, visible_objects: Sequence[list[int]], boxes: dict[int, Box]
) -> dict[int, PdfHiding]:
    """Return the characters of words whose removal does not change the rendered page."""
    items = [item for item in list_objects(page) if pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_TEXT]
    picture = TextPicture(page, items)
    hidden: dict[int, PdfHiding] = {}
    for indices in visible_objects:
        for word in _split_words(text, indices):
            if not any(picture.is_visible(boxes[index]) for index in word):
                hidden.update(dict.fromkeys(word, _find_reason(text, word[0], boxes[word[0]], picture)))
    if sum(chr(pdfium.FPDFText_GetUnicode(text, index)).isalnum() for index in hidden) < _MIN_LETTERS:
        hidden.clear()
    return hidden


def _find_reason(text: Any, index: int, box: Box, picture: TextPicture) -> PdfHiding:
    *colour, _ = _get_fill_colour(text, index)
    is_same_colour = (
        max(abs(a - b) for a, b in zip(picture.get_background(box), colour, strict=True)) < _MAX_COLOUR_DIFFERENCE
    )
    return "in the background colour" if is_same_colour else "covered, cut off or switched off"


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
    mode = _get_rendering_mode(text, index)
    if mode in _UNPAINTED_MODES and not is_scan:
        return "invisible"
    *_, alpha = _get_fill_colour(text, index)
    if alpha == 0 and mode not in _OUTLINE_MODES and not is_scan:
        return "invisible"
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(text, index, matrix)
    size = pdfium.FPDFText_GetFontSize(text, index) * (math.hypot(matrix.c, matrix.d) or 1.0)
    return "tiny" if size < _MIN_READABLE_SIZE and box.top - box.bottom < _MIN_READABLE_SIZE else None


def _is_squeezed(letters: Sequence[Box]) -> bool:
    return len(letters) >= _MIN_SQUEEZED_LETTERS and all(
        min(box.right - box.left, box.top - box.bottom) < _MIN_WIDTH for box in letters
    )


def _select_inked(text: Any, indices: Iterable[int]) -> list[int]:
    return [index for index in indices if not chr(pdfium.FPDFText_GetUnicode(text, index)).isspace()]


def _is_scan(page: Any, text: Any, objects: Iterable[list[int]]) -> bool:
    """Return whether nearly all text is the invisible layer that OCR adds over a scanned image."""
    character_count = unpainted_count = 0
    for indices in objects:
        character_count += len(indices)
        unpainted_count += len(indices) * (_get_rendering_mode(text, indices[0]) in _UNPAINTED_MODES)
    return unpainted_count > 0.9 * character_count and any(
        pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_IMAGE for item in list_objects(page)
    )


def _get_rendering_mode(text: Any, index: int) -> int:
    return int(pdfium.FPDFTextObj_GetTextRenderMode(pdfium.FPDFText_GetTextObject(text, index)))


def _find_character_boxes(text: Any, indices: Iterable[int]) -> dict[int, Box]:
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    boxes: dict[int, Box] = {}
    for index in indices:
        pdfium.FPDFText_GetCharBox(text, index, left, right, bottom, top)
        boxes[index] = Box(left.value, bottom.value, right.value, top.value)
    return boxes


def _get_fill_colour(text: Any, index: int) -> tuple[int, int, int, int]:
    """Return red, green, blue and alpha; opaque black if the fill is a pattern without a single colour."""
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not pdfium.FPDFText_GetFillColor(text, index, red, green, blue, alpha):
        return 0, 0, 0, 255
    return red.value, green.value, blue.value, alpha.value
