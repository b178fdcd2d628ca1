"""Detect the paper from which an idea was made; it must not be used to judge the idea."""

import re
from bisect import bisect_left
from itertools import accumulate

from rapidfuzz import fuzz

from assayer.models import Paper
from assayer.text.scripts import UNSPACED_LETTER, unspaced_letters, words_of

_SAME_TITLE = 93.0
"""Minimum ratio (0 to 100) of two normalised titles to be treated as the same paper."""
_SHINGLE = 6
"""Length in words of a shingle; a shared run of this length is copied text and not shared terminology."""
_SHORTEST_TITLE = 4
"""Minimum number of words for a title to be compared; many papers share shorter titles."""
_COPIED = 0.5
"""Minimum share of an abstract's shingles that also occur in the idea for the idea to count as made from the paper."""
_RUN = re.compile(r"\w+")


def shingles(text: str) -> set[tuple[str, ...]]:
    """Return the runs of words that `is_own_paper` compares. In scripts without spaces, two characters count as one
    word."""
    words = words_of(text)
    reached = [0, *accumulate(1 if UNSPACED_LETTER.match(word) else 2 for word in words)]
    ends = (bisect_left(reached, before + 2 * _SHINGLE) for before in reached[:-1])
    return {tuple(words[start:end]) for start, end in enumerate(ends) if end <= len(words)}


def is_own_paper(idea_title: str, idea_shingles: set[tuple[str, ...]], paper: Paper) -> bool:
    """Return whether the idea was made from this paper: same title, or an abstract that the idea contains."""
    title, other = " ".join(_RUN.findall(idea_title.casefold())), " ".join(_RUN.findall(paper.title.casefold()))
    unspaced = unspaced_letters(other)
    long_enough = len(words_of(other)) - unspaced + unspaced // 2 >= _SHORTEST_TITLE
    if long_enough and fuzz.ratio(title, other) >= _SAME_TITLE:
        return True
    abstract = shingles(paper.abstract)
    return bool(abstract) and len(abstract & idea_shingles) / len(abstract) >= _COPIED
