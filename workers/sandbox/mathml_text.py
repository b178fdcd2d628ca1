"""Convert a MathML formula to one line of text, in the notation that people type: `(a+b)/c`, `x_i^2`, `sqrt(n)`.

MathML occurs in HTML pages and in formula objects in OpenDocument texts. Runs in the sandboxed process."""

from collections.abc import Sequence

from lxml import etree

from workers.sandbox.formula_text import ACCENTS, enclose_group, enclose_script

_MAX_DEPTH = 100
_UNREAD_ELEMENTS = ("annotation", "annotation-xml", "mphantom", "malignmark", "maligngroup")
_SUM_SIGNS = frozenset("∑∏∫∬∮⋃⋂∐")


def format_mathml(formula: etree._Element) -> str:
    """Return a formula as text."""
    return " ".join(_join_children(formula, 0).split())


def _join_children(element: etree._Element, depth: int) -> str:
    if depth > _MAX_DEPTH:
        return ""
    return "".join(_format_part(child, depth + 1) for child in element.iterchildren("*"))


def _format_part(item: etree._Element, depth: int) -> str:
    name = etree.QName(item).localname.lower()
    if name in _UNREAD_ELEMENTS:
        return ""
    if name in ("mi", "mn", "mo", "mtext", "ms"):
        return " ".join("".join(map(str, item.itertext())).split()) or (" " if name == "mtext" else "")
    if name == "mspace":
        return " "
    if len(item) < _PART_COUNTS.get(name, len(item) + 1) or depth > _MAX_DEPTH:
        return _join_children(item, depth)
    return _join_parts(name, [_format_part(child, depth + 1).strip() for child in item.iterchildren("*")], item)


_PART_COUNTS = {
    "mfrac": 2, "msqrt": 1, "mroot": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3,
    "mtable": 1, "mtr": 1, "mfenced": 1,
}  # fmt: skip
"""Elements with their own notation, and how many parts they have."""


def _join_parts(name: str, parts: Sequence[str], item: etree._Element) -> str:
    first_part, *other_parts = parts or ("",)
    match name:
        case "mfrac" if item.get("linethickness", "")[:1] == "0":
            formula = f"binom({first_part}, {other_parts[0]})"
        case "mfrac":
            formula = f"{enclose_group(first_part)}/{enclose_group(other_parts[0])}"
        case "msqrt":
            formula = f"sqrt({''.join(parts)})"
        case "mroot":
            formula = f"root({other_parts[0]}, {first_part})"
        case "mover" if other_parts[0] in ACCENTS:
            formula = f"{ACCENTS[other_parts[0]]}({first_part})"
        case "mtable":
            formula = f"[{'; '.join(parts)}]"
        case "mtr":
            formula = ", ".join(parts)
        case "mfenced":
            formula = f"{item.get('open', '(')}{', '.join(parts)}{item.get('close', ')')}"
        case _:
            signs = "^" if name in ("msup", "mover") else "_^"
            scripts = "".join(
                f"{sign}{enclose_script(part)}" for sign, part in zip(signs, other_parts, strict=False) if part
            )
            formula = f"{enclose_group(first_part)}{scripts}{' ' if first_part in _SUM_SIGNS else ''}"
    return formula
