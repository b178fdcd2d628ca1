"""Queries without a query language: what somebody wrote is searched for, it commands nothing."""

import re
import unicodedata
from urllib.parse import quote

__all__ = ["query_words"]

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
_OPERATORS = frozenset({"AND", "OR", "NOT", "NEAR", "TO"})
_LONGEST = 1500


def query_words(text: str, longest: int = _LONGEST) -> str:
    """The words alone, as far as they fit into `longest` characters of a URL; empty when there are none.

    Quotes, brackets, wildcards and leading signs are gone; words that act as operators when written in
    capitals are in lower case.
    """
    words, length = list[str](), 0
    for word in _WORD.findall(unicodedata.normalize("NFC", text)):
        length += len(quote(word)) + 1
        if length > longest + 1:
            break
        words.append(word.lower() if word in _OPERATORS else word)
    return " ".join(words)
