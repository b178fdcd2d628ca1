"""Compose the accents and quotation marks that older TeX fonts print in parts: `S¨arkinen`, `Referˆencias`."""

import re
import unicodedata

_COMBINING_ACCENTS = dict(
    zip("´ˆ˜¨˚¯˘˙¸ˇ˝", "\u0301\u0302\u0303\u0308\u030a\u0304\u0306\u0307\u0327\u030c\u030b", strict=True)
)
_ACCENT = re.compile(
    r"(?P<accent>(?<=[^\W\d_]) ?¨ (?=[aou](?:[a-z]|¨ (?=[aou])){0,12},)|[´ˆ˜¨˚¯˘˙¸ˇ˝])(?P<letter>[A-Za-zıȷ])"
)
"""Pattern for a letter after its accent. An umlaut in a name before a comma may have spaces around it."""
_COMPOSED_QUOTES = {"✭✭": "«", "✮✮": "»"}
"""Quotation marks that TeX composes from a font of drawings, as PDFs spell them."""
_DOTLESS_LETTERS = {"ı": "i", "ȷ": "j"}


def compose_accents(text: str) -> str:
    """Return the text with each separate accent and the following letter combined, if such a letter exists, and with
    composed quotation marks."""
    for composed, mark in _COMPOSED_QUOTES.items():
        text = text.replace(composed, mark)
    return _ACCENT.sub(_compose_match, text) if not _COMBINING_ACCENTS.keys().isdisjoint(text) else text


def _compose_match(match: re.Match[str]) -> str:
    letter = _DOTLESS_LETTERS.get(match["letter"], match["letter"])
    composed = unicodedata.normalize("NFC", letter + _COMBINING_ACCENTS[match["accent"].strip()])
    return composed if len(composed) == 1 else match[0]
