"""Names of concepts and methods, compared."""

import re
import unicodedata
from functools import lru_cache

__all__ = ["normalised_name"]

_NOT_WORD = re.compile(r"[\W_]+")


@lru_cache(maxsize=16_384)  # titles and key phrases come again with every step, and with other ideas
def normalised_name(name: str) -> str:
    """Case, accents, punctuation and a plural s are no difference between names."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(one))
    words = _NOT_WORD.sub(" ", plain).split()
    return " ".join(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in words
    )
