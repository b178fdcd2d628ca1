"""Whether letters are drawn as what the file says they are: a font can map the picture of one word to another word.

Runs in the sandboxed process. Each letter of a line is compared with the Latin letters and digits of four ordinary
fonts. Honest type, however fancy, comes nearest to its own letters; exchanged letters come no nearer than chance.
"""

import ctypes
import string
from collections.abc import Iterable
from functools import cache, lru_cache

import pypdfium2
import pypdfium2.raw as pdfium

from workers.sandbox.page_picture import Box, TextPicture, objects_of

__all__ = ["drawn_as_other_letters"]

_FONTS = (b"Helvetica", b"Times-Roman", b"Times-Italic", b"Courier-Bold")
_LETTERS = string.ascii_letters
_GRID = (10, 12)
"""Cells across and down."""
_LEAST = 6
"""Different letters by which a line is judged."""
_MOST = 20
_CLEAR = 0.15
"""Such a mean needs no more letters."""
_CHANCE = 0.34
"""Mean share of other letters that are nearer than the one that is claimed; 0.5 by chance."""


def drawn_as_other_letters(picture: TextPicture, letters: Iterable[tuple[str, Box]]) -> bool:
    """Letters of one line in one font, with their places. False where there are too few to say."""
    shares: dict[str, float] = {}
    for letter, box in letters:
        if letter not in shares and letter in _LETTERS and (cells := picture.cells(box, *_GRID)):
            shares[letter] = _nearer(letter, cells)
            mean = sum(shares.values()) / len(shares)
            if len(shares) == _MOST or (len(shares) >= _LEAST and mean < _CLEAR):
                break
    return len(shares) >= _LEAST and sum(shares.values()) / len(shares) > _CHANCE


@lru_cache(maxsize=20_000)
def _nearer(letter: str, cells: int) -> float:
    """Share of the other letters that look more like what is drawn; capital and small count as one."""
    distances = {
        one: min((cells ^ shape).bit_count() for shape in shapes) for one, shapes in _ordinary_shapes().items()
    }
    own = min(distances[letter.lower()], distances[letter.upper()])
    others = [min(distances[one], distances[one.upper()]) for one in string.ascii_lowercase if one != letter.lower()]
    return sum(distance < own for distance in others) / len(others)


@cache
def _ordinary_shapes() -> dict[str, list[int]]:
    document = pypdfium2.PdfDocument.new()
    page = document.new_page(1_000, 60 * len(_FONTS))
    for row, font in enumerate(_FONTS):
        for place, letter in enumerate(_LETTERS):
            item = pdfium.FPDFPageObj_NewTextObj(document, font, 20)
            unit = (ctypes.c_ushort * 2)(ord(letter), 0)
            pdfium.FPDFText_SetText(item, unit)
            pdfium.FPDFPageObj_Transform(item, 1, 0, 0, 1, 10 + 19 * place, 20 + 60 * row)
            pdfium.FPDFPage_InsertObject(page, item)
    pdfium.FPDFPage_GenerateContent(page)
    picture = TextPicture(page, objects_of(page))
    shapes: dict[str, list[int]] = {letter: [] for letter in _LETTERS}
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for place, item in enumerate(objects_of(page)):
        pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top)
        box = Box(left.value, bottom.value, right.value, top.value)
        shapes[_LETTERS[place % len(_LETTERS)]].append(picture.cells(box, *_GRID))
    page.close()
    document.close()
    return shapes
