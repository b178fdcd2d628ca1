"""Plain text from the HTML and JATS in records of publishers, funders and databases."""

import html
import re

from assayer.text.raised_text import rewrite_script_tags

_FORMULA = re.compile(r"<(?:\w+:)?(tex-math|annotation)\b[^<>]*>[^<]*</(?:\w+:)?\1>")
"""Pattern for formulas that repeat the content of adjacent MathML."""
_HEADING = re.compile(r"<(?:jats:)?title>\s*(?:abstract|summary)\s*[.:]?\s*</(?:jats:)?title>", re.IGNORECASE)
_BLOCK = re.compile(r"</?(?:\w+:)?(?:p|sec|title|list|list-item|disp-formula|br|div|li)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>|<!--[^<>]*-->", re.IGNORECASE)
_ESCAPED = re.compile(
    r"</?(?:b|br|div|em|i|italic|li|p|scp|small|span|strong|sub|sup|ul)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
"""Pattern for tags that publishers escaped twice; other text that looks like a tag is kept."""
_BESIDE_MATHS = re.compile(
    r"(?<=[^\W_])(?=<(?:\w+:)?math\b)|(?<=</math>)(?=[^\W_])|(?<=</mml:math>)(?=[^\W_])", re.IGNORECASE
)
_BLANK = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r"\s*\n\s*")


def strip_markup(text: str, max_chars: int = 100_000) -> str:
    """Remove markup from the first `max_chars` characters, with paragraphs on separate lines and the heading `Abstract`
    left out."""
    text = _HEADING.sub("", _FORMULA.sub("", _BESIDE_MATHS.sub(" ", text[:max_chars])), count=1)
    text = _TAG.sub("", _BLOCK.sub("\n", rewrite_script_tags(text)))
    text = _ESCAPED.sub(" ", rewrite_script_tags(html.unescape(html.unescape(text))))
    return _BREAKS.sub("\n", _BLANK.sub(" ", text)).strip()
