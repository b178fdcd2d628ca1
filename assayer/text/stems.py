"""Stems of English words."""

from collections.abc import Sequence
from functools import cache

import Stemmer


def stems(words: Sequence[str]) -> list[str]:
    """Return the stem of each word, in order."""
    return list(_stemmer().stemWords(words))


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")
