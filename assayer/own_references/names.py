"""Whether names in a list of references and names in a record may be one person's."""

import re
from collections.abc import Sequence

from rapidfuzz import fuzz

from assayer.literature.paper_identity import family_name, title_key

__all__ = ["is_named_in", "may_be_same"]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_PARTS = 4
"""Words of a family name at most: `Van der Linden`."""
_LONG = 6
"""Letters of a family name in which a misprint or another spelling (`Müller`, `Mueller`) leaves enough to tell."""
_MISSPELT = 85.0
"""Ratio (0 to 100) from which two long family names are taken for one: `Hinton` and `Linton` have 83."""


def is_named_in(author: str, text: str) -> bool:
    """Whether the family name stands in the text, in whole words: `Li` stands in `Oliver`, and is not named there."""
    there = _keys(text)
    return any(family in there for family in _families(author))


def may_be_same(author: str, other: str) -> bool:
    """Whether the family name of one stands in the other's name, or they are a misprint apart."""
    if is_named_in(author, other) or is_named_in(other, author):
        return True
    ours, theirs = title_key(family_name(author)), title_key(family_name(other))
    return min(len(ours), len(theirs)) >= _LONG and fuzz.ratio(ours, theirs) >= _MISSPELT


def _families(author: str) -> set[str]:
    """Keys of the family name, and of what it may be where capitals tell it from no initials: `RUI GAO`."""
    last = [word for word in author.split()[-1:] if len(word.rstrip(".")) > 2]
    return {title_key(name) for name in (family_name(author), *last)} - {""}


def _keys(text: str) -> set[str]:
    """Of every word, and of neighbouring ones together: `Le Cun` and `LeCun` are one name."""
    words: Sequence[str] = [title_key(word) for word in _WORD.findall(text)]
    return {"".join(words[start : start + n]) for start in range(len(words)) for n in range(1, _PARTS + 1)}
