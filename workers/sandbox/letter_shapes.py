"""Whether letters are drawn as what the file says they are: a font can map the picture of one word to another word.

Runs in the sandboxed process. Each letter of a line is compared with the Latin letters and digits of four ordinary
fonts. Honest type, however fancy, comes nearest to its own letters; exchanged letters come no nearer than chance.
"""

import ctypes
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from workers.sandbox.page_picture import Box, TextPicture, objects_of

__all__ = ["Letter", "LetterLine", "drawn_as_other_letters"]

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
_FEW = 10
"""Different letters that can be unlucky."""
_MANY = 14
_SAME = 20
"""Cells of 120 by which two drawings of one letter differ at most."""


class Letter(NamedTuple):
    unit: str
    box: Box
    turns: int = 0
    """Quarters, against the clock."""


class LetterLine(NamedTuple):
    """Letters in a row."""

    font: int
    """The same number for the same font of the page."""
    letters: Sequence[Letter]


def drawn_as_other_letters(
    lines: Sequence[LetterLine], picture: TextPicture, closer: Callable[[], TextPicture]
) -> list[bool]:
    """Of each line of a page. False where there are too few letters to say. `closer` is asked for where a line seems to
    be drawn as something else: small letters and odd fonts can look so in a coarse picture."""
    seem = [_seems_other(_shapes(line, picture, _MOST)) for line in lines]
    if not any(seem):
        return seem
    looked = closer()
    shapes = [_shapes(line, looked) for line in lines]
    return [
        seems and _seems_other(shapes[place]) and not _is_odd_font(shapes[place], _beside(lines, shapes, place))
        for place, seems in enumerate(seem)
    ]


def _shapes(line: LetterLine, picture: TextPicture, most: int | None = None) -> dict[str, int]:
    """What each different letter of the line looks like; of a long line no more than it takes to tell."""
    shapes: dict[str, int] = {}
    shares = 0.0
    for letter, box, turns in line.letters:
        if letter not in shapes and letter in _LETTERS and (cells := picture.cells(box, *_GRID, turns)):
            shapes[letter] = cells
            shares += _nearer(letter, cells)
            if most and (len(shapes) == most or (len(shapes) >= _LEAST and shares / len(shapes) < _CLEAR)):
                break
    return shapes


def _seems_other(shapes: Mapping[str, int]) -> bool:
    return len(shapes) >= _LEAST and _mean(shapes) > _CHANCE


def _mean(shapes: Mapping[str, int]) -> float:
    return sum(_nearer(letter, cells) for letter, cells in shapes.items()) / len(shapes)


def _beside(lines: Sequence[LetterLine], shapes: Sequence[dict[str, int]], place: int) -> Iterator[dict[str, int]]:
    return (one for number, one in enumerate(shapes) if number != place and lines[number].font == lines[place].font)


def _is_odd_font(shapes: Mapping[str, int], others: Iterable[Mapping[str, int]]) -> bool:
    """Whether a few letters only look like others by chance: the page's other lines in that font draw them in the same
    way, and all its letters together are what the file says."""
    if len(shapes) > _FEW:
        return False
    pooled, again = dict(shapes), set[str]()
    for other in others:
        shared = shapes.keys() & other.keys()
        if shared and all((shapes[letter] ^ other[letter]).bit_count() <= _SAME for letter in shared):
            again |= shared
            pooled = {**other, **pooled}
    return 2 * len(again) >= len(shapes) and len(pooled) >= _MANY and _mean(pooled) <= _CHANCE


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
