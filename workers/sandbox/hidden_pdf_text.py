"""Finds the characters of a PDF page that a reader cannot see: invisible, tiny, off the page, or of the colour behind
them.

Runs in the sandboxed process. Colours are judged by what is really there: a page with text that might vanish (light
text, text under or on a shape of its colour) is rendered, and where its letters stand there must be something to see.
"""

import ctypes
import math
from collections import defaultdict
from collections.abc import Iterable
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

import pypdfium2.raw as pdfium

__all__ = ["PdfHiding", "hidden_characters"]

PdfHiding = Literal["invisible", "tiny", "off the page", "of the colour behind it"]

_TINY = 2.0
"""Points."""
_LIGHT = 0xC8
"""Each channel at least: may vanish on the paper."""
_ALIKE = 0x20
_CONTRAST = 16
"""Grey levels between the lightest and the darkest pixel of a place where something can be seen."""
_MOST_SHAPES = 2_000
_SAMPLES = 24
_PIXELS = 2_400
"""Longest side of a rendered page."""
_UNPAINTED = {pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP}
_OUTLINE = {pdfium.FPDF_TEXTRENDERMODE_STROKE, pdfium.FPDF_TEXTRENDERMODE_STROKE_CLIP}

_Colour = tuple[int, int, int]


class _Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    def holds(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.bottom <= y <= self.top

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2


class _Shape(NamedTuple):
    """A filled path or an image; later ones lie on top."""

    place: int
    box: _Box
    colour: _Colour | None


def hidden_characters(page: Any, text: Any) -> dict[int, PdfHiding]:
    """Indices into the text page, with why nobody sees them. Spaces and line ends that pdfium adds are never listed."""
    objects: dict[int, list[int]] = defaultdict(list)
    for index in range(text.count_chars()):
        pointer = pdfium.FPDFText_GetTextObject(text, index)
        if pointer:
            objects[ctypes.addressof(pointer.contents)].append(index)
    boxes = _character_boxes(text, chain.from_iterable(objects.values()))
    shapes, order = _shapes(page)
    scanned = _is_scan(text, objects.values(), shapes)
    paper = _Box(*page.get_bbox())
    hidden: dict[int, PdfHiding] = {}
    doubtful: list[list[int]] = []
    for pointer, indices in objects.items():
        reason = _plainly_hidden(text, indices[0], boxes[indices[0]], scanned)
        if reason:
            hidden.update(dict.fromkeys(indices, reason))
            continue
        outside: list[int] = [index for index in indices if not paper.holds(*boxes[index].middle)]
        hidden.update(dict.fromkeys(outside, "off the page"))
        place = order.get(pointer, -1)
        if len(outside) < len(indices) and _may_vanish(text, indices[0], boxes[indices[0]], place, shapes):
            doubtful.append([index for index in indices if index not in hidden])
    if doubtful:
        picture = _Picture(page)
        for indices in doubtful:
            inked = [index for index in indices if not chr(pdfium.FPDFText_GetUnicode(text, index)).isspace()]
            sample = inked[:: max(1, len(inked) // _SAMPLES)]
            if sample and not any(picture.shows(boxes[index]) for index in sample):
                hidden.update(dict.fromkeys(indices, "of the colour behind it"))
    return hidden


def _plainly_hidden(text: Any, index: int, box: _Box, scanned: bool) -> PdfHiding | None:
    mode = pdfium.FPDFTextObj_GetTextRenderMode(pdfium.FPDFText_GetTextObject(text, index))
    if mode in _UNPAINTED and not scanned:
        return "invisible"
    *_, alpha = _fill(text, index)
    if alpha == 0 and mode not in _OUTLINE and not scanned:
        return "invisible"
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(text, index, matrix)
    size = pdfium.FPDFText_GetFontSize(text, index) * (math.hypot(matrix.c, matrix.d) or 1.0)
    return "tiny" if size < _TINY and box.top - box.bottom < _TINY else None


def _is_scan(text: Any, objects: Iterable[list[int]], shapes: list[_Shape]) -> bool:
    """Whether nearly all text is the invisible layer that text recognition lays over a scanned picture."""
    total = unseen = 0
    for indices in objects:
        total += len(indices)
        mode = pdfium.FPDFTextObj_GetTextRenderMode(pdfium.FPDFText_GetTextObject(text, indices[0]))
        unseen += len(indices) * (mode in _UNPAINTED)
    return unseen > 0.9 * total and any(shape.colour is None for shape in shapes)


def _shapes(page: Any) -> tuple[list[_Shape], dict[int, int]]:
    """Filled paths and images, and the place of each text object among them, in the order in which they are drawn."""
    shapes: list[_Shape] = []
    order: dict[int, int] = {}
    for place in range(pdfium.FPDFPage_CountObjects(page)):
        item = pdfium.FPDFPage_GetObject(page, place)
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            order[ctypes.addressof(item.contents)] = place
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE or (kind == pdfium.FPDF_PAGEOBJ_PATH and _is_filled(item)):
            colour = _colour_of(item) if kind == pdfium.FPDF_PAGEOBJ_PATH else None
            shapes.append(_Shape(place, _object_box(item), colour))
    return shapes, order


def _may_vanish(text: Any, index: int, box: _Box, place: int, shapes: list[_Shape]) -> bool:
    *colour, _ = _fill(text, index)
    mode = pdfium.FPDFTextObj_GetTextRenderMode(pdfium.FPDFText_GetTextObject(text, index))
    if min(colour) >= _LIGHT or mode in _OUTLINE or len(shapes) > _MOST_SHAPES:
        return True
    around = (shape for shape in shapes if shape.box.holds(*box.middle))
    return any(
        shape.place > place >= 0
        or (shape.colour and max(abs(a - b) for a, b in zip(shape.colour, colour, strict=True)) < _ALIKE)
        for shape in islice(around, _MOST_SHAPES)
    )


class _Picture:
    """The page as it is printed, in grey."""

    def __init__(self, page: Any) -> None:
        scale = min(2.0, _PIXELS / max(*page.get_size(), 1.0))
        bitmap = page.render(scale=scale, grayscale=True)
        self._page = page
        self._width, self._height, self._stride = bitmap.width, bitmap.height, bitmap.stride
        self._pixels = bytes(bitmap.buffer)

    def shows(self, box: _Box) -> bool:
        """Whether anything stands out there."""
        corners = [self._device(box.left, box.bottom), self._device(box.right, box.top)]
        left, right = sorted(min(max(x, 0), self._width) for x, _ in corners)
        upper, lower = sorted(min(max(y, 0), self._height) for _, y in corners)
        starts = range(max(upper - 1, 0) * self._stride, min(lower + 2, self._height) * self._stride, self._stride)
        rows = [row for start in starts if (row := self._pixels[start + left : start + right + 1])]
        return bool(rows) and max(map(max, rows)) - min(map(min, rows)) >= _CONTRAST

    def _device(self, x: float, y: float) -> tuple[int, int]:
        across, down = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(self._page, 0, 0, self._width, self._height, 0, x, y, across, down)
        return across.value, down.value


def _character_boxes(text: Any, indices: Iterable[int]) -> dict[int, _Box]:
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    boxes: dict[int, _Box] = {}
    for index in indices:
        pdfium.FPDFText_GetCharBox(text, index, left, right, bottom, top)
        boxes[index] = _Box(left.value, bottom.value, right.value, top.value)
    return boxes


def _object_box(item: Any) -> _Box:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top)
    return _Box(left.value, bottom.value, right.value, top.value)


def _is_filled(path: Any) -> bool:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    return bool(fill.value != pdfium.FPDF_FILLMODE_NONE)


def _colour_of(item: Any) -> _Colour:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    pdfium.FPDFPageObj_GetFillColor(item, red, green, blue, alpha)
    return red.value, green.value, blue.value


def _fill(text: Any, index: int) -> tuple[int, int, int, int]:
    """Red, green, blue, alpha; opaque black where the colour is a pattern that nobody can name."""
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not pdfium.FPDFText_GetFillColor(text, index, red, green, blue, alpha):
        return 0, 0, 0, 255
    return red.value, green.value, blue.value, alpha.value
