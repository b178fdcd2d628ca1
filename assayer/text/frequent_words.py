"""Most frequent words of a text, as an estimate of its subject."""

import re
from collections import Counter

from assayer.text.content_words import is_grammar

_WORD = re.compile(r"[^\W\d_]{4,}")
_MAX_CHARS = 100_000
_MAX_WORDS = 12


def find_frequent_words(title: str, text: str) -> tuple[str, ...]:
    """Return the most frequent words, most frequent first, in lower case, with the plural `s` of English words removed.
    Each word occurs at least twice; words in the title are counted twice."""
    counts = Counter(
        _make_singular(word) for word in _WORD.findall(f"{title}\n{title}\n{text[:_MAX_CHARS]}".casefold())
    )
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(word for word, times in ordered if times > 1 and not is_grammar(word))[:_MAX_WORDS]


def _make_singular(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
