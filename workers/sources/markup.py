"""JATS and HTML in titles and abstracts: the text that a reader would see."""

import html
import re

__all__ = ["without_markup"]

_LONGEST = 100_000
_FORMULA = re.compile(r"<(?:\w+:)?(tex-math|annotation)\b[^<>]*>[^<]*</(?:\w+:)?\1>")
"""Said a second time in MathML beside it."""
_HEADING = re.compile(r"<(?:jats:)?title>\s*(?:abstract|summary)\s*[.:]?\s*</(?:jats:)?title>", re.IGNORECASE)
_BLOCK = re.compile(r"</?(?:\w+:)?(?:p|sec|title|list|list-item|disp-formula|br|div|li)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>|<!--[^<>]*-->", re.IGNORECASE)
_ESCAPED = re.compile(
    r"</?(?:b|br|div|em|i|italic|li|p|scp|small|span|strong|sub|sup|ul)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
"""Tags that publishers escaped once too often; nothing else that looks like one is taken for a tag then."""
_BLANK = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r"\s*\n\s*")


def without_markup(text: str) -> str:
    """Paragraphs on lines of their own, the heading `Abstract` left out."""
    text = _HEADING.sub("", _FORMULA.sub("", text[:_LONGEST]), count=1)
    text = _TAG.sub("", _BLOCK.sub("\n", text))
    text = _ESCAPED.sub(" ", html.unescape(html.unescape(text)))
    return _BREAKS.sub("\n", _BLANK.sub(" ", text)).strip()
