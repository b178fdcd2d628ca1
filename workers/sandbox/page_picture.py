"""Render a PDF page with and without its text, and compare the results, to find out which text is visible.

Runs in the sandboxed process. Hidden text makes no difference to the rendered page, whether it is hidden by a clip, a
mask, a layer, an object painted over it, or its own colour."""

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

_PIXELS = 2_400
"""Maximum length, in pixels, of a rendered page's longer side."""
_SCALE = 2.0
"""Scale in pixels per point."""
_CONTRAST = 16
"""Minimum difference in red, green or blue, in levels, between text and its background."""
_SPAN = 0.4
"""Minimum share of a letter's height that must be visible. Less is the edge of a clipped letter."""
_MAX_DEPTH = 20
"""Maximum nesting depth of forms."""


class Box(NamedTuple):
    """Rectangle in points, measured from the lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    def holds(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.bottom <= y <= self.top

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2


def objects_of(page: Any) -> Iterator[Any]:
    """Yield everything drawn on the page, including inside forms, in drawing order."""
    for number in range(pdfium.FPDFPage_CountObjects(page)):
        yield from _walk_objects(pdfium.FPDFPage_GetObject(page, number), _MAX_DEPTH)


def _walk_objects(item: Any, depth: int) -> Iterator[Any]:
    yield item
    if depth and pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_FORM:
        for number in range(pdfium.FPDFFormObj_CountObjects(item)):
            yield from _walk_objects(pdfium.FPDFFormObj_GetObject(item, number), depth - 1)


class TextPicture:
    """A page rendered with and without some of its text objects, for comparison."""

    def __init__(self, page: Any, texts: Sequence[Any]) -> None:
        self._page = page
        self._scale = min(_SCALE, _PIXELS / max(*page.get_size(), 1.0))
        self._with = self._render()
        for text in texts:
            pdfium.FPDFPageObj_SetIsActive(text, False)
        try:
            self._picture_without_text = self._render()
        finally:
            for text in texts:
                pdfium.FPDFPageObj_SetIsActive(text, True)

    def _render(self) -> bytes:
        bitmap = self._page.render(scale=self._scale)
        self._width, self._height, self._stride = bitmap.width, bitmap.height, bitmap.stride
        self._depth = bitmap.n_channels
        return bytes(bitmap.buffer)

    def shows(self, box: Box) -> bool:
        """Return whether the text changes the rendering inside the box, over a sufficient part of its height."""
        left, upper, right, lower = self._pixels(box)
        first = next((row for row in range(upper, lower) if self._differs(row, left, right)), None)
        if first is None:
            return False
        last = next(row for row in range(lower - 1, upper - 1, -1) if self._differs(row, left, right))
        return last - first + 1 >= _SPAN * (lower - upper - 2)

    def background(self, box: Box) -> tuple[int, int, int]:
        """Return the red, green and blue of the background at the box's centre."""
        across, down = self._device(*box.middle)
        across, down = min(max(across, 0), self._width - 1), min(max(down, 0), self._height - 1)
        offset = down * self._stride + across * self._depth
        blue, green, red = self._picture_without_text[offset : offset + 3]
        return red, green, blue

    def _differs(self, row: int, left: int, right: int) -> bool:
        """Return whether the text changes the rendering between two columns in a row of pixels."""
        start, end = row * self._stride + left * self._depth, row * self._stride + right * self._depth
        old, new = self._picture_without_text[start:end], self._with[start:end]
        return old != new and any(abs(a - b) >= _CONTRAST for a, b in zip(old, new, strict=True))

    def _pixels(self, box: Box) -> tuple[int, int, int, int]:
        """Return the left, upper, right and lower pixel coordinates with a margin of one. The last two are
        exclusive."""
        corners = [self._device(box.left, box.bottom), self._device(box.right, box.top)]
        left, right = sorted(x for x, _ in corners)
        upper, lower = sorted(y for _, y in corners)
        return (
            min(max(left - 1, 0), self._width),
            min(max(upper - 1, 0), self._height),
            min(max(right + 2, 0), self._width),
            min(max(lower + 2, 0), self._height),
        )

    def _device(self, x: float, y: float) -> tuple[int, int]:
        across, down = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(self._page, 0, 0, self._width, self._height, 0, x, y, across, down)
        return across.value, down.value
