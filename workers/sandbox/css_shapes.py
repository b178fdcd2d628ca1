"""Whether a clip leaves anything of an element to be seen."""

from collections.abc import Callable, Sequence
from typing import Any

import tinycss2

from workers.sandbox.css_values import FOUR_SIDES, bounded_css, length_of

__all__ = ["is_cut_away"]

_BOX = 1_000.0
"""Pixels of a box whose size is not known, for percentages."""
_LEAST = 1.0


def is_cut_away(clip: str, path: str) -> bool:
    """By the properties `clip` and `clip-path`: what is left has no height or no width."""
    return any(
        token.type == "function" and token.lower_name in _EMPTY and _EMPTY[token.lower_name](token.arguments)
        for value in (clip, path)
        for token in tinycss2.parse_component_value_list(bounded_css(value), True)
    )


def _measured(tokens: Sequence[Any]) -> list[float]:
    """The lengths before `at`, `round` or the end."""
    found: list[float] = []
    for token in tokens:
        if token.type == "ident" and token.lower_value in ("at", "round"):
            break
        if token.type not in ("whitespace", "literal", "ident"):
            pixels = length_of(tinycss2.serialize([token]), _BOX / 100)
            if pixels is None:
                return []
            found.append(pixels)
    return found


def _rectangle(tokens: Sequence[Any]) -> bool:
    """`clip: rect(top, right, bottom, left)`, from the box's own corner."""
    sides = _measured(tokens)
    return len(sides) == 4 and (sides[2] - sides[0] <= _LEAST or sides[1] - sides[3] <= _LEAST)


def _inset(tokens: Sequence[Any]) -> bool:
    sides = _measured(tokens)
    if not sides:
        return False
    top, right, bottom, left = (sides[place] for place in FOUR_SIDES[min(4, len(sides))])
    return top + bottom >= _BOX - _LEAST or right + left >= _BOX - _LEAST


def _radius(tokens: Sequence[Any]) -> bool:
    radii = _measured(tokens)
    return bool(radii) and min(radii) <= _LEAST


def _polygon(tokens: Sequence[Any]) -> bool:
    """By the rectangle around it."""
    places = _measured([one for one in tokens if one.type != "ident"])
    across, down = places[::2], places[1::2]
    return bool(down) and (max(across) - min(across) <= _LEAST or max(down) - min(down) <= _LEAST)


def _outline(tokens: Sequence[Any]) -> bool:
    """`path()`: one that draws no line."""
    drawn = "".join(str(one.value) for one in tokens if one.type == "string").lower()
    return not any(letter in "lhvcsqta" for letter in drawn)


_EMPTY: dict[str, Callable[[Sequence[Any]], bool]] = {
    "rect": _rectangle,
    "inset": _inset,
    "circle": _radius,
    "ellipse": _radius,
    "polygon": _polygon,
    "path": _outline,
}
