"""Whether a condition of a style sheet is met on a common screen: 1,280 by 800 pixels, light, with a mouse."""

import re

from workers.sandbox.css_values import length_of

__all__ = ["is_met"]

_WINDOW = {"width": 1_280.0, "height": 800.0, "inline-size": 1_280.0, "block-size": 800.0}
_SCREENS = frozenset({"", "all", "screen"})
_FEATURES = {
    "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference", "hover": "hover", "any-hover": "hover",
    "pointer": "fine", "any-pointer": "fine", "orientation": "landscape", "scripting": "enabled", "update": "fast",
    "color": "", "forced-colors": "none", "prefers-contrast": "no-preference",
}  # fmt: skip
_LIMIT = re.compile(r"(?P<bound>min|max)-(?P<side>[a-z-]+)\s*:\s*(?P<value>[^:]+)")
_COMPARED = re.compile(r"(?P<left>[^<>=]+)(?P<sign>[<>]=?|=)(?P<right>[^<>=]+)(?:(?P<second>[<>]=?)(?P<last>[^<>=]+))?")
_BRACKETED = re.compile(r"\(([^()]{0,200})\)")


def is_met(condition: str) -> bool:
    """Of a list of media queries, or of a container's condition. What is not understood is not met."""
    return any(_query(part.strip()) for part in condition.lower().split(",")[:50])


def _query(query: str) -> bool:
    negated = query.startswith("not ")
    query = query.removeprefix("not ").removeprefix("only ")
    kind, _, _ = query.partition("(")
    names = [one for one in kind.split() if one not in ("and", "or", "not")]
    met = all(name in _SCREENS for name in names[:1]) and all(map(_feature, _BRACKETED.findall(query)))
    return met != negated


def _feature(feature: str) -> bool:
    feature = feature.strip()
    if match := _LIMIT.fullmatch(feature):
        sign = ">=" if match["bound"] == "min" else "<="
        return _compares(_side(match["side"]), sign, _side(match["value"]))
    if match := _COMPARED.fullmatch(feature):
        right = _side(match["right"])
        met = _compares(_side(match["left"]), match["sign"], right)
        return met and (match["second"] is None or _compares(right, match["second"], _side(match["last"])))
    name, _, value = feature.partition(":")
    return name.strip() in _FEATURES and value.strip() in ("", _FEATURES[name.strip()])


def _side(text: str) -> float | None:
    return _WINDOW.get(text.strip(), length_of(text.strip()))


def _compares(left: float | None, sign: str, right: float | None) -> bool:
    if left is None or right is None:
        return False
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right, "=": left == right}[sign]
