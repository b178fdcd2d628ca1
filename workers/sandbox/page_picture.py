"""Render a PDF page with and without its text, and compare the results, to find out which text is visible.

Runs in the sandboxed process. Hidden text makes no difference to the rendered page, whether it is hidden by a clip, a
mask, a layer, an object painted over it, or its own colour."""

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

_MAX_PIXELS = 2_400
"""Maximum length, in pixels, of a rendered page's longer side."""
_MAX_SCALE = 2.0
"""Scale in pixels per point."""
_MIN_CONTRAST = 16
"""Minimum difference in red, green or blue, in levels, between text and its background."""
_MIN_VISIBLE_SHARE = 0.4
"""Minimum share of a letter's height that must be visible. Less is the edge of a clipped letter."""
_MAX_DEPTH = 20
"""Maximum nesting depth of forms."""


class Box(NamedTuple):
    """Rectangle in points, measured from the lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    def contains(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.bottom <= y <= self.top

    @property
    def centre(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2


def list_objects(page: Any) -> Iterator[Any]:
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
        self._scale = min(_MAX_SCALE, _MAX_PIXELS / max(*page.get_size(), 1.0))
        self._picture_with_text = self._render()
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

    def is_visible(self, box: Box) -> bool:
        """Return whether the text changes the rendering inside the box, over a sufficient part of its height."""
        left, upper, right, lower = self._compute_pixel_box(box)
        first_row = next((row for row in range(upper, lower) if self._has_difference(row, left, right)), None)
        if first_row is None:
            return False
        last_row = next(row for row in range(lower - 1, upper - 1, -1) if self._has_difference(row, left, right))
        return last_row - first_row + 1 >= _MIN_VISIBLE_SHARE * (lower - upper - 2)

    def get_background(self, box: Box) -> tuple[int, int, int]:
        """Return the red, green and blue of the background at the box's centre."""
        x, y = self._convert_to_pixels(*box.centre)
        x, y = min(max(x, 0), self._width - 1), min(max(y, 0), self._height - 1)
        offset = y * self._stride + x * self._depth
        blue, green, red = self._picture_without_text[offset : offset + 3]
        return red, green, blue

    def _has_difference(self, row: int, left: int, right: int) -> bool:
        """Return whether the text changes the rendering between two columns in a row of pixels."""
        start, end = row * self._stride + left * self._depth, row * self._stride + right * self._depth
        pixels_without_text, pixels_with_text = (
            self._picture_without_text[start:end],
            self._picture_with_text[start:end],
        )
        return pixels_without_text != pixels_with_text and any(
            abs(a - b) >= _MIN_CONTRAST for a, b in zip(pixels_without_text, pixels_with_text, strict=True)
        )

    def _compute_pixel_box(self, box: Box) -> tuple[int, int, int, int]:
        """Return the left, upper, right and lower pixel coordinates with a margin of one. The last two are
        exclusive."""
        corners = [self._convert_to_pixels(box.left, box.bottom), self._convert_to_pixels(box.right, box.top)]
        left, right = sorted(x for x, _ in corners)
        upper, lower = sorted(y for _, y in corners)
        return (
            min(max(left - 1, 0), self._width),
            min(max(upper - 1, 0), self._height),
            min(max(right + 2, 0), self._width),
            min(max(lower + 2, 0), self._height),
        )

    def _convert_to_pixels(self, x: float, y: float) -> tuple[int, int]:
        pixel_x, pixel_y = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(self._page, 0, 0, self._width, self._height, 0, x, y, pixel_x, pixel_y)
        return pixel_x.value, pixel_y.value
