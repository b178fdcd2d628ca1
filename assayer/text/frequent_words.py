"""The words that a text uses most: what it is about, as far as counting can tell."""

import re
from collections import Counter

from assayer.text.content_words import is_grammar

__all__ = ["frequent_words"]

_WORD = re.compile(r"[^\W\d_]{4,}")
_MOST_CHARS = 100_000


def frequent_words(title: str, text: str, most: int = 12) -> tuple[str, ...]:
    """In lower case and the singular, as far as an English `s` tells, the most frequent first; each at least twice. One
    of the title counts twice."""
    counts = Counter(_singular(word) for word in _WORD.findall(f"{title}\n{title}\n{text[:_MOST_CHARS]}".casefold()))
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(word for word, times in ordered if times > 1 and not is_grammar(word))[:most]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
