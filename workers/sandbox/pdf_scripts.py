"""Mark the superscripts and subscripts of a PDF's lines by the size of their characters and their distance from the
baseline. Only numbers and signs are looked at, because letters in formulas are placed in too many ways.

Runs in the sandboxed process."""

import ctypes
from typing import Any

import pypdfium2.raw as pdfium

from assayer.text.raised_text import LOWERED, ON_LINE, RAISED, Script

_MARKS: dict[Script, str] = {"^": RAISED, "_": LOWERED, "": ON_LINE}
_NUMBER_CODES = frozenset(map(ord, "0123456789+-−–,"))
_SIGN_CODES = frozenset(map(ord, "+-−–"))
_MAX_HEIGHT, _MIN_RISE, _MIN_DROP, _MAX_SHIFT = 0.9, 0.12, 0.06, 0.8
"""Maximum height of a script, minimum distance of its baseline above or below the line's, and maximum distance, as
shares of the height of the text on the line."""
_MAX_OVERLAP, _MAX_GAP = 0.2, 0.4
"""Maximum overlap of two characters that follow each other, and maximum gap between them, as shares of this height."""


class ScriptMarker:
    """Adds marks to one line of a page, character by character."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._base_index = -1
        """Index of the last letter on the line; negative if there is none."""
        self._last_index = -1
        """Index of the last character on the line, also of a script; negative if there is none."""
        self._script_position: Script = ""
        self._after_space = False
        self._count = page.count_chars()

    def encode_unit(self, index: int, unit: int) -> list[int]:
        """Add a character to the line, and return the code units to write: its own, after a mark if a superscript or
        subscript begins or ends."""
        is_candidate = self._base_index >= 0 and unit in _NUMBER_CODES and not self._after_space
        script_position = self._find_script_position(index, is_sign=unit in _SIGN_CODES) if is_candidate else ""
        marks = [ord(_MARKS[script_position])] if script_position != self._script_position else []
        self._after_space = chr(unit).isspace()
        if not self._after_space:
            self._last_index = index
            self._base_index = self._base_index if script_position else index
        self._script_position = script_position
        return [*marks, unit]

    def is_line_continuation(self, index: int) -> bool:
        """Return whether the text after a line end follows the text before it on the page. pdfium ends a line where a
        script follows another, or where one ends."""
        next_index = index + 1
        while next_index < self._count and pdfium.FPDFText_GetUnicode(self._page, next_index) in (0x0A, 0x0D):
            next_index += 1
        if self._last_index < 0 or next_index >= self._count:
            return False
        height, baseline = self._measure(self._base_index)
        previous_box, next_box = self._get_box(self._last_index), self._get_box(next_index)
        shift = abs(self._measure(next_index)[1] - baseline)
        is_script = self._script_position != "" or next_box.top - next_box.bottom <= _MAX_HEIGHT * height
        gap = next_box.left - previous_box.right
        return is_script and shift < _MAX_SHIFT * height and -_MAX_OVERLAP * height < gap < _MAX_GAP * height

    def end_line(self) -> list[int]:
        """Return the code units to add at the end of the line, and begin another."""
        marks = [ord(ON_LINE)] if self._script_position else []
        self._base_index = self._last_index = -1
        self._script_position, self._after_space = "", False
        return marks

    def _find_script_position(self, index: int, *, is_sign: bool) -> Script:
        """Return the script of a character. The height of a sign's font says nothing about its size."""
        base_height, base_line = self._measure(self._base_index)
        height, baseline = self._measure(index)
        if base_height <= 0 or (height > _MAX_HEIGHT * base_height and not is_sign):
            return ""
        shift = (baseline - base_line) / base_height
        if abs(shift) > _MAX_SHIFT:
            return ""
        return "^" if shift > _MIN_RISE else "_" if shift < -_MIN_DROP else ""

    def _measure(self, index: int) -> tuple[float, float]:
        """Return the height of a character's font at its size, and its baseline, in points."""
        box, x, y = self._get_box(index), ctypes.c_double(), ctypes.c_double()
        pdfium.FPDFText_GetCharOrigin(self._page, index, x, y)
        return box.top - box.bottom, y.value

    def _get_box(self, index: int) -> Any:
        box = pdfium.FS_RECTF()
        pdfium.FPDFText_GetLooseCharBox(self._page, index, box)
        return box
