"""Write the superscripts and subscripts that the parser of PDFs marks."""

import re
from collections.abc import Iterator

from assayer.text.raised_text import LOWERED, ON_LINE, RAISED, Script, join_scripts

_MARKED_TEXT = re.compile(f"(?P<mark>[{RAISED}{LOWERED}])(?P<text>[^{RAISED}{LOWERED}{ON_LINE}]*){ON_LINE}?")


def write_scripts(text: str) -> str:
    """Return the text of a line with its superscripts and subscripts in the notation that people type."""
    if RAISED not in text and LOWERED not in text:
        return text
    return join_scripts(_split_scripts(text)).replace(ON_LINE, "")


def _split_scripts(text: str) -> Iterator[tuple[str, Script]]:
    position = 0
    for match in _MARKED_TEXT.finditer(text):
        yield text[position : match.start()], ""
        yield match["text"], "^" if match["mark"] == RAISED else "_"
        position = match.end()
    yield text[position:], ""
