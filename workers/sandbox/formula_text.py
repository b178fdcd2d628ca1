"""Convert a Word formula (OMML) to one line of text, in the notation that people type: `(a+b)/c`, `x_i^2`, `sqrt(n)`.

Runs in the sandboxed process."""

import re
from collections.abc import Callable, Iterator

from lxml import etree

from workers.sandbox.office_package import find_children, get_attribute, get_local_name

_MAX_DEPTH = 100
SIGNED_NUMBER = re.compile(r"[-−–+]?\d+(?:\.\d+)?")
"""Number that needs no parentheses as a superscript or subscript."""
_DELETED_ELEMENTS = ("del", "moveFrom")
ACCENTS = {
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar", "\u0307": "dot", "\u0308": "ddot",
    "\u20d7": "vec", "\u030c": "check", "^": "hat", "~": "tilde", "¯": "bar",
}  # fmt: skip

IsVisible = Callable[[etree._Element], bool]
"""Function that returns whether a run of the formula is visible."""


def format_formula(formula: etree._Element, is_visible: IsVisible) -> str:
    """Return a formula as text, without runs for which `is_visible` returns False."""
    return _FormulaFormatter(is_visible).format(formula, 0)


class _FormulaFormatter:
    def __init__(self, is_visible: IsVisible) -> None:
        self._is_visible = is_visible

    def format(self, element: etree._Element | None, depth: int) -> str:
        if element is None or depth > _MAX_DEPTH:
            return ""
        return "".join(self._format_part(child, depth + 1) for child in element.iterchildren("*"))

    def _format_part(self, item: etree._Element, depth: int) -> str:
        name = get_local_name(item)
        if name in _DELETED_ELEMENTS or name.endswith("Pr"):
            return ""
        if name == "r":
            return "".join(text.text or "" for text in find_children(item, "t")) if self._is_visible(item) else ""
        forms = {
            "f": self._format_fraction, "rad": self._format_root, "d": self._format_delimited,
            "m": self._format_rows, "eqArr": self._format_rows,
            "acc": self._format_accented, "bar": self._format_accented, "groupChr": self._format_accented,
        }  # fmt: skip
        return forms.get(name, self._format_scripts)(item, depth)

    def _format_fraction(self, item: etree._Element, depth: int) -> str:
        numerator, denominator = self._format_child(item, "num", depth), self._format_child(item, "den", depth)
        has_bar = get_attribute(next(_find_properties(item, "type"), None), "val") != "noBar"
        return (
            f"{enclose_group(numerator)}/{enclose_group(denominator)}"
            if has_bar
            else f"binom({numerator}, {denominator})"
        )

    def _format_root(self, item: etree._Element, depth: int) -> str:
        degree, radicand = self._format_child(item, "deg", depth), self._format_child(item, "e", depth)
        return f"root({degree}, {radicand})" if degree else f"sqrt({radicand})"

    def _format_scripts(self, item: etree._Element, depth: int) -> str:
        """Return a base with its indices, a sum with its limits, or a function with its argument."""
        subscript, superscript = self._format_child(item, "sub", depth), self._format_child(item, "sup", depth)
        limit = self._format_child(item, "lim", depth)
        scripts = "".join(
            f"{sign}{enclose_script(text)}" for sign, text in (("_", subscript), ("^", superscript)) if text
        )
        match get_local_name(item):
            case "nary":
                sign = get_attribute(next(_find_properties(item, "chr"), None), "val") or "∫"
                return f"{sign}{scripts} {self._format_child(item, 'e', depth)}"
            case "func":
                argument = self._format_child(item, "e", depth)
                return (
                    f"{self._format_child(item, 'fName', depth)}{argument if argument[:1] in '([{' else f' {argument}'}"
                )
            case "sPre":
                return f"{scripts}{self._format_child(item, 'e', depth)}"
            case "sSub" | "sSup" | "sSubSup":
                return f"{enclose_group(self._format_child(item, 'e', depth))}{scripts}"
            case "limLow" | "limUpp":
                return f"{self._format_child(item, 'e', depth)}_{enclose_group(limit)}"
            case _:
                return self.format(item, depth)

    def _format_child(self, item: etree._Element, name: str, depth: int) -> str:
        return self.format(next(find_children(item, name), None), depth).strip()

    def _format_delimited(self, item: etree._Element, depth: int) -> str:
        opening, closing, separator = (
            get_attribute(next(_find_properties(item, name), None), "val") for name in ("begChr", "endChr", "sepChr")
        )
        parts = (self.format(child, depth) for child in find_children(item, "e"))
        return (
            ("(" if opening is None else opening)
            + (separator or "|").join(parts)
            + (")" if closing is None else closing)
        )

    def _format_rows(self, item: etree._Element, depth: int) -> str:
        if get_local_name(item) == "eqArr":
            return "; ".join(self.format(child, depth) for child in find_children(item, "e"))
        rows = (
            ", ".join(self.format(cell, depth) for cell in find_children(row, "e")) for row in find_children(item, "mr")
        )
        return f"[{'; '.join(rows)}]"

    def _format_accented(self, item: etree._Element, depth: int) -> str:
        inner = self._format_child(item, "e", depth)
        if get_local_name(item) == "groupChr":
            return inner
        sign = get_attribute(next(_find_properties(item, "chr"), None), "val") or (
            "\u0302" if get_local_name(item) == "acc" else "\u0305"
        )
        return f"{ACCENTS.get(sign, sign)}({inner})"


def _find_properties(item: etree._Element, name: str) -> Iterator[etree._Element]:
    properties = next(find_children(item, f"{get_local_name(item)}Pr"), None)
    return find_children(properties, name)


def enclose_script(text: str) -> str:
    """Enclose a superscript or subscript in parentheses, unless it is a number with or without a sign: `10^-3`."""
    return text if SIGNED_NUMBER.fullmatch(text) else enclose_group(text)


def enclose_group(text: str) -> str:
    """Enclose the text in parentheses, unless it is a single number or symbol or is already enclosed in them."""
    text = text.strip()
    if len(text) <= 1 or text.isalnum() or _is_enclosed(text):
        return text
    return f"({text})"


def _is_enclosed(text: str) -> bool:
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return position == len(text) - 1 and text[0] == "("
    return False
