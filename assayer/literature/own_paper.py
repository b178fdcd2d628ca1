"""Recognises the paper that an idea was made from: it must not be used to judge the idea."""

import re
from bisect import bisect_left
from itertools import accumulate

from rapidfuzz import fuzz

from assayer.models import Paper
from assayer.text.scripts import UNSPACED_LETTER, unspaced_letters, words_of

__all__ = ["is_own_paper", "shingles"]


_SAME_TITLE = 93.0
"""Ratio (0 to 100) of two normalised titles that we take for the same paper."""
_SHINGLE = 6
"""Words; a run of this many shared words is copied text, not shared jargon."""
_SHORTEST_TITLE = 4
"""Words; a shorter one is many papers'."""
_COPIED = 0.5
"""Share of an abstract's shingles that also stand in the idea: the idea was made from this paper."""
_RUN = re.compile(r"\w+")


def shingles(text: str) -> set[tuple[str, ...]]:
    """Runs of words, as `is_own_paper` compares them; two letters of scripts without spaces are as much as a word."""
    words = words_of(text)
    reached = [0, *accumulate(1 if UNSPACED_LETTER.match(word) else 2 for word in words)]
    ends = (bisect_left(reached, before + 2 * _SHINGLE) for before in reached[:-1])
    return {tuple(words[start:end]) for start, end in enumerate(ends) if end <= len(words)}


def is_own_paper(idea_title: str, idea_shingles: set[tuple[str, ...]], paper: Paper) -> bool:
    """Whether the idea was made from this paper: same title, or an abstract that the idea contains."""
    title, other = " ".join(_RUN.findall(idea_title.casefold())), " ".join(_RUN.findall(paper.title.casefold()))
    unspaced = unspaced_letters(other)
    long_enough = len(words_of(other)) - unspaced + unspaced // 2 >= _SHORTEST_TITLE
    if long_enough and fuzz.ratio(title, other) >= _SAME_TITLE:
        return True
    abstract = shingles(paper.abstract)
    return bool(abstract) and len(abstract & idea_shingles) / len(abstract) >= _COPIED
