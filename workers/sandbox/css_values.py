"""Values of CSS as numbers: lengths with calculations, colours in every notation, transforms.

Percentages and units of the window are those of a common one (1,280 by 800 pixels): they only tell near from far.
None: a value that is not understood.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import tinycss2
import tinycss2.color4

__all__ = [
    "FOUR_SIDES",
    "OWN_PERCENT",
    "Colour",
    "bounded_css",
    "colour_of",
    "colours_in",
    "functions_in",
    "length_of",
    "lengths_of",
    "number_of",
]

Colour = tuple[float, float, float, float]
"""Red, green, blue, alpha, each from 0 to 1."""

FOUR_SIDES = {1: (0, 0, 0, 0), 2: (0, 1, 0, 1), 3: (0, 1, 2, 1), 4: (0, 1, 2, 3)}
"""Which of one to four values is that of top, right, bottom and left."""
_FONT = 16.0
_PIXELS = {
    "px": 1.0, "em": _FONT, "rem": _FONT, "lh": _FONT, "rlh": _FONT, "cap": _FONT, "ic": _FONT, "ex": 8.0, "ch": 8.0,
    "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "q": 0.945,
    "vw": 12.8, "svw": 12.8, "lvw": 12.8, "dvw": 12.8, "vi": 12.8, "cqw": 12.8, "cqi": 12.8,
    "vh": 8.0, "svh": 8.0, "lvh": 8.0, "dvh": 8.0, "vb": 8.0, "cqh": 8.0, "cqb": 8.0, "vmin": 8.0, "vmax": 12.8,
}  # fmt: skip
_DEGREES = {"deg": 1.0, "grad": 0.9, "rad": 180 / math.pi, "turn": 360.0}
_OF_FONT = frozenset({"em", "ex", "ch", "cap", "ic", "lh"})
_PERCENT = 10.0
"""Pixels: a hundredth of some box."""
OWN_PERCENT = 4.0
"""Of the element's own, by which it is moved."""
_SYSTEM = {"canvas": 1.0, "canvastext": 0.0, "field": 1.0, "fieldtext": 0.0, "window": 1.0, "windowtext": 0.0}
_LIGHTNESS = {"lab": 100.0, "lch": 100.0, "oklab": 1.0, "oklch": 1.0}
"""Colour spaces that are not converted: a grey of that lightness stands for the colour. What is white in them."""
_MOST_DEPTH = 20
_ENDLESS_NUMBER = re.compile(r"(?<=\d{300})\d+")
"""Digits that Python would refuse to read as a number, and that mean nothing to a browser."""


def bounded_css(text: str) -> str:
    """What the parser of CSS can read, whatever a page says."""
    return _ENDLESS_NUMBER.sub("", text)


def length_of(value: str, percent: float = _PERCENT, font: float = _FONT) -> float | None:
    """Pixels; `percent` is what 1 % is."""
    found = lengths_of(value, percent, font)
    return found[0] if len(found) == 1 else None


def lengths_of(value: str, percent: float = _PERCENT, font: float = _FONT) -> list[float | None]:
    """Of a value made of several, as `0 auto -9999px`."""
    return [_evaluated([token], percent, font, 0) for token in _tokens(value)]


def number_of(value: str) -> float | None:
    """A number; 1 % is 0.01."""
    return length_of(value, 0.01)


def functions_in(value: str) -> list[tuple[str, list[float | None]]]:
    """Names of the functions of a transform or filter with what they are given: pixels, degrees or plain numbers, and
    percentages as lengths for those that move (`translate`), as shares for all others."""
    found = []
    for token in _tokens(value):
        if token.type == "function":
            percent = OWN_PERCENT if token.lower_name.startswith("translate") else 0.01
            parts = _split(token.arguments)
            found.append((token.lower_name, [_evaluated(part, percent, _FONT, 0) for part in parts]))
    return found


def colour_of(value: str, current: Colour, light: bool = True) -> Colour | None:
    """`current` is what `currentcolor` means."""
    tokens = _tokens(value)
    return _colour(tokens[0], current, light, 0) if len(tokens) == 1 else None


def colours_in(value: str, current: Colour) -> list[Colour]:
    """Of a value that holds some, as a gradient or the shorthand `background`."""
    found: list[Colour] = []
    left = _tokens(value)
    while left:
        token = left.pop()
        if (colour := _colour(token, current, True, 0)) is not None:
            found.append(colour)
        elif token.type == "function" and token.lower_name != "url":
            left += token.arguments
    return found


def _tokens(value: str) -> list[Any]:
    return [one for one in tinycss2.parse_component_value_list(bounded_css(value), True) if one.type != "whitespace"]


def _split(tokens: Sequence[Any]) -> list[list[Any]]:
    """At commas."""
    parts: list[list[Any]] = [[]]
    for token in tokens:
        if token.type == "literal" and token.value == ",":
            parts.append([])
        elif token.type != "whitespace":
            parts[-1].append(token)
    return parts


def _evaluated(tokens: Sequence[Any], percent: float, font: float, depth: int) -> float | None:
    """A sum of products, as in `calc()`."""
    if depth > _MOST_DEPTH:
        return None
    total, factor, sign, divides = 0.0, None, 1.0, False
    for token in tokens:
        if token.type == "whitespace":
            continue
        if token.type == "literal" and token.value in "+-*/":
            if token.value in "+-":
                total, factor = total + (factor or 0.0), None
                sign = -1.0 if token.value == "-" else 1.0
            divides = token.value == "/"
            continue
        one = _term(token, percent, font, depth)
        if one is None or (divides and one == 0.0):
            return None
        factor = sign * one if factor is None else factor / one if divides else factor * one
        divides = False
    return None if factor is None else total + factor


def _term(token: Any, percent: float, font: float, depth: int) -> float | None:
    found: float | None = None
    match token.type:
        case "number":
            found = float(token.value)
        case "percentage":
            found = float(token.value) * percent
        case "dimension":
            scale = font / _FONT if token.lower_unit in _OF_FONT else 1.0
            one = _DEGREES.get(token.lower_unit, _PIXELS.get(token.lower_unit))
            found = None if one is None else float(token.value) * one * scale
        case "() block":
            found = _evaluated(token.content, percent, font, depth + 1)
        case "function":
            found = _called(token, percent, font, depth)
    return found


_CHOOSES: dict[str, Callable[[list[float]], float]] = {
    "min": min,
    "max": max,
    "clamp": lambda values: max(values[0], min(values[1:])),
    "abs": lambda values: abs(values[0]),
}


def _called(token: Any, percent: float, font: float, depth: int) -> float | None:
    if token.lower_name in ("calc", "-webkit-calc"):
        return _evaluated(token.arguments, percent, font, depth + 1)
    if token.lower_name not in _CHOOSES:
        return None
    values = [_evaluated(part, percent, font, depth + 1) for part in _split(token.arguments)]
    known = [one for one in values if one is not None]
    fewest = 2 if token.lower_name == "clamp" else 1
    return _CHOOSES[token.lower_name](known) if len(known) == len(values) >= fewest else None


def _colour(token: Any, current: Colour, light: bool, depth: int) -> Colour | None:
    if token.type == "ident" and token.lower_value in _SYSTEM:
        grey = _SYSTEM[token.lower_value]
        return (grey, grey, grey, 1.0)
    if token.type == "function" and token.lower_name in ("light-dark", "color-mix"):
        parts = _split(token.arguments)
        chosen = parts[1:] if token.lower_name == "color-mix" else parts[:1] if light else parts[1:2]
        return _mixed(chosen, current, light, depth + 1) if depth < _MOST_DEPTH else None
    return _parsed(token, current)


def _parsed(token: Any, current: Colour) -> Colour | None:
    try:
        parsed = tinycss2.color4.parse_color(token)
        if parsed is None or isinstance(parsed, str):
            return current if parsed == "currentcolor" else None
        if parsed.space in _LIGHTNESS:
            light = min(1.0, max(0.0, (parsed.coordinates[0] or 0.0) / _LIGHTNESS[parsed.space]))
            return (light, light, light, parsed.alpha)
        red, green, blue = (min(1.0, max(0.0, one or 0.0)) for one in parsed.to("srgb").coordinates)
    except (ValueError, TypeError, NotImplementedError, OverflowError):
        return None
    return (red, green, blue, parsed.alpha)


def _mixed(parts: Sequence[Sequence[Any]], current: Colour, light: bool, depth: int) -> Colour | None:
    """Half of each, whatever the shares and the colour space: it only tells alike from unlike."""
    found = [
        colour
        for part in parts
        for token in part
        if token.type != "percentage" and (colour := _colour(token, current, light, depth)) is not None
    ]
    if len(found) != len(parts) or not found:
        return None
    red, green, blue, alpha = (sum(one) / len(found) for one in zip(*found, strict=True))
    return (red, green, blue, alpha)
