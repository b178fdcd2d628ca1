"""What the text of a PDF page adds to its picture: the page is rendered with its text and without, and compared.

Runs in the sandboxed process. Whatever keeps text from being seen (clips, masks, layers, things painted over it, its
own colour), the picture is the same without it.
"""

import ctypes
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

__all__ = ["Box", "TextPicture", "objects_of"]

_PIXELS = 2_400
"""Longest side of a rendered page."""
_SCALE = 2.0
"""Pixels a point."""
_CLOSER = 5.0
_PIXELS_CLOSER = 4_800
_CONTRAST = 16
"""Levels of red, green or blue by which text differs from what is behind it."""
_SPAN = 0.4
"""Share of a letter's height that shows at least: less is the rim of a letter that was cut off."""
_DEEPEST = 20
"""Forms inside forms."""


class Box(NamedTuple):
    """In points, from the lower left corner."""

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
    """All that is drawn on the page, also inside forms, in the order in which it is drawn."""
    for place in range(pdfium.FPDFPage_CountObjects(page)):
        yield from _inside(pdfium.FPDFPage_GetObject(page, place), _DEEPEST)


def _inside(item: Any, depth: int) -> Iterator[Any]:
    yield item
    if depth and pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_FORM:
        for place in range(pdfium.FPDFFormObj_CountObjects(item)):
            yield from _inside(pdfium.FPDFFormObj_GetObject(item, place), depth - 1)


class TextPicture:
    """The page as it is printed, with some of its text objects and without them."""

    def __init__(
        self, page: Any, texts: Iterable[Any], whole: "TextPicture | None" = None, closer: bool = False
    ) -> None:
        """`closer` shows letters of a few points as well, and takes six times as long."""
        self._page = page
        scale, most = (_CLOSER, _PIXELS_CLOSER) if closer else (_SCALE, _PIXELS)
        self._scale = min(scale, most / max(*page.get_size(), 1.0))
        self._with: bytes = whole._with if whole else self._render()
        texts = list(texts)
        for text in texts:
            pdfium.FPDFPageObj_SetIsActive(text, False)
        try:
            self._without = self._render()
        finally:
            for text in texts:
                pdfium.FPDFPageObj_SetIsActive(text, True)

    def _render(self) -> bytes:
        bitmap = self._page.render(scale=self._scale)
        self._width, self._height, self._stride = bitmap.width, bitmap.height, bitmap.stride
        self._depth = bitmap.n_channels
        return bytes(bitmap.buffer)

    def shows(self, box: Box) -> bool:
        """Whether the text adds anything there, over a fair part of its height."""
        rows = self._rows(box)
        inked = [number for number, (old, new) in enumerate(rows) if _differ(old, new)]
        return bool(inked) and inked[-1] - inked[0] + 1 >= _SPAN * (len(rows) - 2)

    def background(self, box: Box) -> tuple[int, int, int]:
        """Red, green, blue behind the middle of the box."""
        across, down = self._device(*box.middle)
        across, down = min(max(across, 0), self._width - 1), min(max(down, 0), self._height - 1)
        place = down * self._stride + across * self._depth
        blue, green, red = self._without[place : place + 3]
        return red, green, blue

    def cells(self, box: Box, across: int, down: int, turns: int = 0) -> int:
        """The ink in the box as bits of a grid, row by row; 0 where there is none. What is turned by so many quarters,
        against the clock, is looked at as if it stood upright."""
        left, upper, right, lower = self._pixels(box, 0)
        if right - left < 3 or lower - upper < 3:
            return 0
        wide, high = (down, across) if turns % 2 else (across, down)
        columns = [(left + (2 * step + 1) * (right - left) // (2 * wide)) * self._depth + 1 for step in range(wide)]
        starts = [(upper + (2 * step + 1) * (lower - upper) // (2 * high)) * self._stride for step in range(high)]
        old, new = self._without, self._with
        rows = [[abs(old[start + column] - new[start + column]) for column in columns] for start in starts]
        for _ in range(turns % 4):
            rows = [list(row) for row in zip(*rows[::-1], strict=True)]
        inks = [ink for row in rows for ink in row]
        darkest = max(inks)
        if darkest < _CONTRAST:
            return 0
        return int("".join("1" if 2 * ink >= darkest else "0" for ink in inks), 2)

    def _rows(self, box: Box) -> list[tuple[bytes, bytes]]:
        left, upper, right, lower = self._pixels(box, 1)
        return [
            (self._without[start + left * self._depth : start + right * self._depth],
             self._with[start + left * self._depth : start + right * self._depth])
            for start in range(upper * self._stride, lower * self._stride, self._stride)
        ]  # fmt: skip

    def _pixels(self, box: Box, more: int) -> tuple[int, int, int, int]:
        """Left, upper, right, lower; the last two are past the end."""
        corners = [self._device(box.left, box.bottom), self._device(box.right, box.top)]
        left, right = sorted(x for x, _ in corners)
        upper, lower = sorted(y for _, y in corners)
        return (
            min(max(left - more, 0), self._width),
            min(max(upper - more, 0), self._height),
            min(max(right + 1 + more, 0), self._width),
            min(max(lower + 1 + more, 0), self._height),
        )

    def _device(self, x: float, y: float) -> tuple[int, int]:
        across, down = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(self._page, 0, 0, self._width, self._height, 0, x, y, across, down)
        return across.value, down.value


def _differ(old: bytes, new: bytes) -> bool:
    return old != new and any(abs(a - b) >= _CONTRAST for a, b in zip(old, new, strict=True))
