"""Finds the characters of a PDF page that a reader cannot see, or sees as other letters.

Runs in the sandboxed process. What counts is the picture: a word is shown where the page looks different without it.
The file's own words about a character (its mode, size, place, colour) only say why it is not seen.
"""

import ctypes
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Literal

import pypdfium2.raw as pdfium

from workers.sandbox.letter_shapes import Letter, LetterLine, drawn_as_other_letters
from workers.sandbox.page_picture import Box, TextPicture, objects_of
from workers.sandbox.replacement_text import replacement_of

__all__ = ["PdfHiding", "hidden_characters"]

PdfHiding = Literal[
    "invisible",
    "tiny",
    "off the page",
    "of the colour behind it",
    "covered, cut off or switched off",
    "drawn as other letters",
    "in place of what is drawn",
]

_TINY = 2.0
"""Points."""
_NO_WIDTH = 0.1
_ALIKE = 0x20
_LEAST = 3
"""Letters of a page that its picture lacks; fewer are signs of formulas whose places pdfium misjudges."""
_MOST_APART = 16
"""Text objects of a page, among other text, that are looked at one by one."""
_SHORTEST_LINE = 6
_SLANT = 0.12
"""Of a quarter turn: what is drawn across a page, as a stamp is, is not compared with letters."""
_UNPAINTED = {pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP}
_OUTLINE = {pdfium.FPDF_TEXTRENDERMODE_STROKE, pdfium.FPDF_TEXTRENDERMODE_STROKE_CLIP}


def hidden_characters(page: Any, text: Any, look: bool = True) -> dict[int, PdfHiding]:
    """Indices into the text page, with why nobody sees them. Spaces and line ends that pdfium adds are never listed.

    Without a look at the picture only what the file says of its text counts."""
    objects: dict[int, list[int]] = defaultdict(list)
    for index in range(text.count_chars()):
        pointer = pdfium.FPDFText_GetTextObject(text, index)
        if pointer:
            objects[ctypes.addressof(pointer.contents)].append(index)
    boxes = _character_boxes(text, chain.from_iterable(objects.values()))
    scanned = _is_scan(page, text, objects.values())
    paper = Box(*page.get_bbox())
    hidden: dict[int, PdfHiding] = {}
    drawn: list[list[int]] = []
    for indices in objects.values():
        reason = _plainly_hidden(text, indices[0], boxes[indices[0]], scanned)
        if not reason and _is_squeezed([boxes[index] for index in _inked(text, indices)]):
            reason = "tiny"
        if reason:
            hidden.update(dict.fromkeys(indices, reason))
            continue
        hidden.update((index, "off the page") for index in indices if not paper.holds(*boxes[index].middle))
        seen = [index for index in indices if index not in hidden]
        if seen and _mode(text, seen[0]) not in _UNPAINTED:
            drawn.append(seen)
    if drawn and look:
        hidden.update(_unseen(page, text, drawn, boxes))
    return hidden


def _unseen(page: Any, text: Any, drawn: Sequence[list[int]], boxes: dict[int, Box]) -> dict[int, PdfHiding]:
    """What the picture of the page does not show, or shows as something else."""
    items = [item for item in objects_of(page) if pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_TEXT]
    picture = TextPicture(page, items)
    apart = set(_among_others(text, drawn, boxes))
    hidden: dict[int, PdfHiding] = {}
    for place, indices in enumerate(drawn):
        looked = picture
        if place in apart:
            looked = TextPicture(page, [pdfium.FPDFText_GetTextObject(text, indices[0])], whole=picture)
        for word in _words(text, indices):
            if not any(looked.shows(boxes[index]) for index in word):
                hidden.update(dict.fromkeys(word, _why(text, word[0], boxes[word[0]], picture)))
    if sum(chr(pdfium.FPDFText_GetUnicode(text, index)).isalnum() for index in hidden) < _LEAST:
        hidden.clear()
    shown = [
        [index for index in indices if index not in hidden]
        for indices in drawn
        if not replacement_of(pdfium.FPDFText_GetTextObject(text, indices[0]))
    ]
    lines = list(_lines(text, shown, boxes))
    rotation = page.get_rotation() // 90
    rows = [LetterLine(font, list(_letters(text, line, boxes, rotation))) for font, line in lines]
    others = drawn_as_other_letters(rows, picture, lambda: TextPicture(page, items, closer=True))
    for (_, line), other in zip(lines, others, strict=True):
        if other:
            hidden.update(dict.fromkeys(line, "drawn as other letters"))
    return hidden


def _letters(text: Any, line: Iterable[int], boxes: dict[int, Box], rotation: int) -> Iterator[Letter]:
    """Those that stand upright or on their sides; `rotation` is the page's, in quarters with the clock."""
    for index in line:
        quarters = pdfium.FPDFText_GetCharAngle(text, index) / (math.pi / 2)
        if abs(quarters - round(quarters)) < _SLANT:
            yield Letter(chr(pdfium.FPDFText_GetUnicode(text, index)), boxes[index], -round(quarters) - rotation)


def _why(text: Any, index: int, box: Box, picture: TextPicture) -> PdfHiding:
    *colour, _ = _fill(text, index)
    alike = max(abs(a - b) for a, b in zip(picture.background(box), colour, strict=True)) < _ALIKE
    return "of the colour behind it" if alike else "covered, cut off or switched off"


def _words(text: Any, indices: Iterable[int]) -> Iterator[list[int]]:
    word: list[int] = []
    for index in indices:
        if not chr(pdfium.FPDFText_GetUnicode(text, index)).isspace():
            word.append(index)
        elif word:
            yield word
            word = []
    if word:
        yield word


def _lines(text: Any, drawn: Iterable[list[int]], boxes: dict[int, Box]) -> Iterator[tuple[int, list[int]]]:
    """Characters in a row, on one line and in one font, with the font."""
    line: list[int] = []
    last: tuple[int, float] | None = None
    for indices in drawn:
        if not indices:
            continue
        font = pdfium.FPDFTextObj_GetFont(pdfium.FPDFText_GetTextObject(text, indices[0]))
        here = ctypes.addressof(font.contents) if font else 0, boxes[indices[0]].bottom
        if last and (here[0] != last[0] or abs(here[1] - last[1]) > 3):
            if len(line) >= _SHORTEST_LINE:
                yield last[0], line
            line = []
        line += indices
        last = here
    if last and len(line) >= _SHORTEST_LINE:
        yield last[0], line


def _among_others(text: Any, drawn: Sequence[list[int]], boxes: dict[int, Box]) -> list[int]:
    """Places of the objects that stand where other text stands, which would be taken for them; no doubled letters."""
    cells: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    for place, indices in enumerate(drawn):
        for index in indices:
            x, y = boxes[index].middle
            cells[int(x // 4), int(y // 4)].add((place, pdfium.FPDFText_GetUnicode(text, index)))
    among: list[int] = []
    for place, indices in enumerate(drawn):
        letters = shared = 0
        for index in indices:
            unit = pdfium.FPDFText_GetUnicode(text, index)
            if chr(unit).isspace():
                continue
            letters += 1
            x, y = boxes[index].middle
            others = [one for one in cells[int(x // 4), int(y // 4)] if one[0] != place]
            shared += bool(others) and all(other != unit for _, other in others)
        if letters >= _LEAST and 2 * shared > letters:
            among.append(place)
    return among[:_MOST_APART]


def _plainly_hidden(text: Any, index: int, box: Box, scanned: bool) -> PdfHiding | None:
    mode = _mode(text, index)
    if mode in _UNPAINTED and not scanned:
        return "invisible"
    *_, alpha = _fill(text, index)
    if alpha == 0 and mode not in _OUTLINE and not scanned:
        return "invisible"
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(text, index, matrix)
    size = pdfium.FPDFText_GetFontSize(text, index) * (math.hypot(matrix.c, matrix.d) or 1.0)
    return "tiny" if size < _TINY and box.top - box.bottom < _TINY else None


def _is_squeezed(letters: Sequence[Box]) -> bool:
    return len(letters) >= _SHORTEST_LINE and all(
        min(box.right - box.left, box.top - box.bottom) < _NO_WIDTH for box in letters
    )


def _inked(text: Any, indices: Iterable[int]) -> list[int]:
    return [index for index in indices if not chr(pdfium.FPDFText_GetUnicode(text, index)).isspace()]


def _is_scan(page: Any, text: Any, objects: Iterable[list[int]]) -> bool:
    """Whether nearly all text is the invisible layer that text recognition lays over a scanned picture."""
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
    """Red, green, blue, alpha; opaque black where the colour is a pattern that nobody can name."""
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not pdfium.FPDFText_GetFillColor(text, index, red, green, blue, alpha):
        return 0, 0, 0, 255
    return red.value, green.value, blue.value, alpha.value
