"""Whether transforms and filters leave anything of an element to be seen."""

import math
from collections.abc import Callable, Mapping, Sequence

from workers.sandbox.css_values import OWN_PERCENT, functions_in, lengths_of, number_of

__all__ = ["FAR", "is_far", "is_moved_away", "shown_by_filters"]

FAR = 500.0
"""Pixels to the left or above the window, where nobody can scroll to."""
_FARTHEST = 5_000.0
"""To the right or below, where nobody does."""
_FLAT = 0.01
_BLURRED = 20.0

_Matrix = tuple[float, float, float, float, float, float]


def is_far(pixels: float | None) -> bool:
    return pixels is not None and (pixels <= -FAR or pixels >= _FARTHEST)


def is_moved_away(style: Mapping[str, str]) -> bool:
    """By `transform`, `translate`, `scale`, `rotate` or `zoom`: to where nobody sees it, or to nothing."""
    if any(map(is_far, lengths_of(style.get("translate", ""), OWN_PERCENT))):
        return True
    sizes = [*_shares(style.get("scale", "")), number_of(style.get("zoom", ""))]
    if any(one is not None and abs(one) < _FLAT for one in sizes):
        return True
    whole = _SAME
    turned = style.get("rotate", "").split()
    axis = f" rotate{turned[0]}({turned[1]})" if len(turned) == 2 and turned[0] in ("x", "y") else ""
    for name, given in functions_in(style.get("transform", "") + axis):
        whole = _product(whole, _matrix(name, given))
    a, b, c, d, x, y = whole
    return abs(a * d - b * c) < _FLAT**2 or is_far(x) or is_far(y)


def _shares(value: str) -> list[float | None]:
    return lengths_of(value, 0.01)


def _matrix(name: str, given: Sequence[float | None]) -> _Matrix:
    """In two dimensions; a function that is not understood changes nothing."""
    values = [one for one in given if one is not None]
    if not values or len(values) != len(given) or name not in _MATRICES:
        return _SAME
    return _MATRICES[name](values)


def _cosine(degrees: float) -> float:
    return math.cos(math.radians(degrees))


_SAME: _Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_MATRICES: dict[str, Callable[[list[float]], _Matrix]] = {
    "matrix": lambda v: (v[0], v[1], v[2], v[3], v[4], v[5]) if len(v) == 6 else _SAME,
    "matrix3d": lambda v: (v[0], v[1], v[4], v[5], v[12], v[13]) if len(v) == 16 else _SAME,
    "scale": lambda v: (v[0], 0.0, 0.0, v[-1], 0.0, 0.0),
    "scale3d": lambda v: (v[0], 0.0, 0.0, v[1], 0.0, 0.0) if len(v) == 3 else _SAME,
    "scalex": lambda v: (v[0], 0.0, 0.0, 1.0, 0.0, 0.0),
    "scaley": lambda v: (1.0, 0.0, 0.0, v[0], 0.0, 0.0),
    "rotatex": lambda v: (1.0, 0.0, 0.0, _cosine(v[0]), 0.0, 0.0),
    "rotatey": lambda v: (_cosine(v[0]), 0.0, 0.0, 1.0, 0.0, 0.0),
    "translate": lambda v: (1.0, 0.0, 0.0, 1.0, v[0], v[1] if len(v) > 1 else 0.0),
    "translate3d": lambda v: (1.0, 0.0, 0.0, 1.0, v[0], v[1] if len(v) > 1 else 0.0),
    "translatex": lambda v: (1.0, 0.0, 0.0, 1.0, v[0], 0.0),
    "translatey": lambda v: (1.0, 0.0, 0.0, 1.0, 0.0, v[0]),
}


def _product(one: _Matrix, other: _Matrix) -> _Matrix:
    a, b, c, d, x, y = one
    e, f, g, h, u, v = other
    return (a * e + c * f, b * e + d * f, a * g + c * h, b * g + d * h, a * u + c * v + x, b * u + d * v + y)


def shown_by_filters(value: str) -> float:
    """The share of an element that its filters leave: 0 where they make it transparent or blur it away."""
    share = 1.0
    for name, given in functions_in(value):
        amount = given[0] if given else None
        if name == "opacity" and amount is not None:
            share *= min(1.0, max(0.0, amount))
        elif name == "blur" and amount is not None and amount >= _BLURRED:
            share = 0.0
    return share
