"""TeX in texts: detection of complete TeX documents, and conversion of short pieces, such as the fields of a BibTeX
entry, to plain text."""

import re
from functools import cache
from typing import TYPE_CHECKING

from pylatexenc.latexencode import UnicodeToLatexEncoder

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text

_TEX = re.compile(r"[\\{}$~]|--|``|''")
_MAX_CHARS = 20_000
_PIECE = 500
_BEGINNING = re.compile(
    r"\A\ufeff?\s*(?:%[^\n]*\n\s*)*\\(?:documentclass|documentstyle|begin\{|(?:sub)?section\*?\{|title\b|chapter\*?\{|"
    r"input\{|usepackage|newcommand|PassOptionsToPackage|RequirePackage|makeatletter|def\\)"
)
_DOCUMENT_CLASS = re.compile(rb"^[^%\n]*\\document(?:class|style)\b", re.MULTILINE)
_DOCUMENT = re.compile(r"^\s*\\begin\{document\}", re.MULTILINE)


def is_tex_document(source: bytes) -> bool:
    """Return whether a TeX file is a complete document rather than a part of one."""
    return _DOCUMENT_CLASS.search(source) is not None


def looks_like_tex(text: str) -> bool:
    """Return whether a text as a whole is the source of a TeX document. Markdown with formulas or a TeX code block does
    not count."""
    if _BEGINNING.match(text[:_MAX_CHARS]):
        return True
    return "```" not in text and "\\end{document}" in text and _DOCUMENT.search(text) is not None


@cache
def _converter() -> "LatexNodes2Text":
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text(math_mode="text", keep_comments=False, strict_latex_spaces=False)


def strip_tex(text: str) -> str:
    """Return the text on one line, without TeX. Parts that cannot be parsed as TeX are kept, without their braces."""
    if _TEX.search(text):
        try:
            text = _converter().latex_to_text(text[:_MAX_CHARS], tolerant_parsing=True)
        except (ValueError, RecursionError, IndexError, KeyError, TypeError):  # a broken macro
            text = re.sub(r"[{}]", "", text)
    return " ".join(text.replace("{", "").replace("}", "").split())


@cache
def _encoder() -> UnicodeToLatexEncoder:
    return UnicodeToLatexEncoder(unknown_char_policy="keep", unknown_char_warning=False)


def escape_tex(text: str) -> str:
    """Return the text escaped so that TeX prints it literally. In pieces, because the time that pylatexenc takes grows
    with the square of the length; it replaces each character regardless of its neighbours."""
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return "".join(_encoder().unicode_to_latex(piece) for piece in pieces)
