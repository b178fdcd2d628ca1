"""Characters of Word's `w:sym` elements, which name a font and a code in it instead of a character.

Runs in the sandboxed process."""

from lxml import etree

from assayer.text.form_fields import UNTICKED
from workers.sandbox.office_package import get_attribute

_GREEK = dict(
    zip(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "αβχδεφγηιϕκλμνοπθρστυϖωξψζΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ",
        strict=True,
    )
)
_SYMBOLS = {
    0xA3: "≤", 0xA5: "∞", 0xAC: "←", 0xAE: "→", 0xB0: "°", 0xB1: "±", 0xB3: "≥", 0xB4: "×", 0xB6: "∂", 0xB7: "•",
    0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xC5: "⊕", 0xCC: "⊂", 0xCE: "∈", 0xD1: "∇", 0xD5: "∏", 0xD6: "√",
    0xD7: "⋅", 0xE5: "∑", 0xF2: "∫", 0x22: "∀", 0x24: "∃", 0x2D: "−", 0x40: "≅", 0x5E: "⊥", 0x7E: "∼",
}  # fmt: skip
_WINGDINGS = {
    0x6F: UNTICKED, 0x71: UNTICKED, 0x72: UNTICKED, 0xA8: UNTICKED, 0xFE: "☒", 0xFD: "☒", 0x78: "☒", 0xFC: "✓",
    0xE0: "→", 0xDF: "←", 0xE8: "→", 0xF0: "⇒",
}  # fmt: skip


def get_symbol(element: etree._Element) -> str:
    """Return the character of a `w:sym` element; empty if it is unknown."""
    font, code = (get_attribute(element, "font") or "").lower(), get_attribute(element, "char") or ""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    position = number - 0xF000 if number >= 0xF000 else number
    if font == "symbol":
        return (
            _SYMBOLS.get(position)
            or _GREEK.get(chr(position), "")
            or (chr(position) if 0x20 <= position < 0x7F else "")
        )
    if font.startswith("wingdings"):
        return _WINGDINGS.get(position, "")
    return chr(number) if 0x20 <= number < 0xD800 else ""
