"""Convert a Word formula (OMML) to one line of text, in the notation that people type: `(a+b)/c`, `x_i^2`, `sqrt(n)`.

Runs in the sandboxed process."""

import re
from collections.abc import Callable, Iterator

from lxml import etree

from workers.sandbox.office_package import attribute, children, get_local_name

_MAX_DEPTH = 100
SIGNED_NUMBER = re.compile(r"[-−–+]?\d+(?:\.\d+)?")
"""Number that needs no parentheses as a superscript or subscript."""
_DELETED = ("del", "moveFrom")
ACCENTS = {
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar", "\u0307": "dot", "\u0308": "ddot",
    "\u20d7": "vec", "\u030c": "check", "^": "hat", "~": "tilde", "¯": "bar",
}  # fmt: skip

Sees = Callable[[etree._Element], bool]
"""Function that returns whether a run of the formula is visible."""


def formula_text(formula: etree._Element, sees: Sees) -> str:
    """Return a formula as text, without runs for which `sees` returns False."""
    return _Formula(sees).text(formula, 0)


class _Formula:
    def __init__(self, sees: Sees) -> None:
        self._sees = sees

    def text(self, element: etree._Element | None, depth: int) -> str:
        if element is None or depth > _MAX_DEPTH:
            return ""
        return "".join(self._part(child, depth + 1) for child in element.iterchildren("*"))

    def _part(self, item: etree._Element, depth: int) -> str:
        name = get_local_name(item)
        if name in _DELETED or name.endswith("Pr"):
            return ""
        if name == "r":
            return "".join(text.text or "" for text in children(item, "t")) if self._sees(item) else ""
        forms = {
            "f": self._fraction, "rad": self._root, "d": self._format_delimited, "m": self._rows, "eqArr": self._rows,
            "acc": self._format_accented, "bar": self._format_accented, "groupChr": self._format_accented,
        }  # fmt: skip
        return forms.get(name, self._with_scripts)(item, depth)

    def _fraction(self, item: etree._Element, depth: int) -> str:
        over, under = self._child(item, "num", depth), self._child(item, "den", depth)
        has_bar = attribute(next(_properties(item, "type"), None), "val") != "noBar"
        return f"{enclose_group(over)}/{enclose_group(under)}" if has_bar else f"binom({over}, {under})"

    def _root(self, item: etree._Element, depth: int) -> str:
        degree, inner = self._child(item, "deg", depth), self._child(item, "e", depth)
        return f"root({degree}, {inner})" if degree else f"sqrt({inner})"

    def _with_scripts(self, item: etree._Element, depth: int) -> str:
        """Return a base with its indices, a sum with its limits, or a function with its argument."""
        below, above = self._child(item, "sub", depth), self._child(item, "sup", depth)
        limit = self._child(item, "lim", depth)
        scripts = "".join(f"{sign}{enclose_script(text)}" for sign, text in (("_", below), ("^", above)) if text)
        match get_local_name(item):
            case "nary":
                sign = attribute(next(_properties(item, "chr"), None), "val") or "∫"
                return f"{sign}{scripts} {self._child(item, 'e', depth)}"
            case "func":
                argument = self._child(item, "e", depth)
                return f"{self._child(item, 'fName', depth)}{argument if argument[:1] in '([{' else f' {argument}'}"
            case "sPre":
                return f"{scripts}{self._child(item, 'e', depth)}"
            case "sSub" | "sSup" | "sSubSup":
                return f"{enclose_group(self._child(item, 'e', depth))}{scripts}"
            case "limLow" | "limUpp":
                return f"{self._child(item, 'e', depth)}_{enclose_group(limit)}"
            case _:
                return self.text(item, depth)

    def _child(self, item: etree._Element, name: str, depth: int) -> str:
        return self.text(next(children(item, name), None), depth).strip()

    def _format_delimited(self, item: etree._Element, depth: int) -> str:
        opening, closing, between = (
            attribute(next(_properties(item, name), None), "val") for name in ("begChr", "endChr", "sepChr")
        )
        parts = (self.text(child, depth) for child in children(item, "e"))
        return (
            ("(" if opening is None else opening) + (between or "|").join(parts) + (")" if closing is None else closing)
        )

    def _rows(self, item: etree._Element, depth: int) -> str:
        if get_local_name(item) == "eqArr":
            return "; ".join(self.text(child, depth) for child in children(item, "e"))
        rows = (", ".join(self.text(cell, depth) for cell in children(row, "e")) for row in children(item, "mr"))
        return f"[{'; '.join(rows)}]"

    def _format_accented(self, item: etree._Element, depth: int) -> str:
        inner = self._child(item, "e", depth)
        if get_local_name(item) == "groupChr":
            return inner
        sign = attribute(next(_properties(item, "chr"), None), "val") or (
            "\u0302" if get_local_name(item) == "acc" else "\u0305"
        )
        return f"{ACCENTS.get(sign, sign)}({inner})"


def _properties(item: etree._Element, name: str) -> Iterator[etree._Element]:
    properties = next(children(item, f"{get_local_name(item)}Pr"), None)
    return children(properties, name)


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
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place == len(text) - 1 and text[0] == "("
    return False
