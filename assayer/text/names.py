"""Comparison of names of concepts and methods."""

import re
import unicodedata
from functools import lru_cache

_NOT_WORD = re.compile(r"[\W_]+")


@lru_cache(maxsize=16_384)  # titles and key phrases recur in every step and in other ideas
def normalise_name(name: str) -> str:
    """Return a name normalised for comparison: case, accents, punctuation and a plural s make no difference."""
    plain = "".join(item for item in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(item))
    words = _NOT_WORD.sub(" ", plain).split()
    return " ".join(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in words
    )
