"""Detect the paper that an idea was derived from, which must not be used to judge the idea."""

import re
from bisect import bisect_left
from itertools import accumulate

from rapidfuzz import fuzz

from assayer.models import Paper
from assayer.text.scripts import UNSPACED_LETTER, count_unspaced_letters, normalise_words

_MIN_TITLE_SIMILARITY = 93.0
"""Minimum similarity (0 to 100) of two normalised titles that counts as the same title."""
_SHINGLE_WORDS = 6
"""Words per shingle. A shared run of this length is copied text rather than shared terminology."""
_MIN_TITLE_WORDS = 4
"""Minimum number of words in a title for it to be compared; shorter titles are shared by many papers."""
_MIN_COPIED_SHARE = 0.5
"""Minimum share of an abstract's shingles that must occur in the idea for the idea to count as derived from the
paper."""
_WORD = re.compile(r"\w+")


def build_shingles(text: str) -> set[tuple[str, ...]]:
    """Return all six-word runs in a text, for comparison by `is_own_paper`. In scripts without spaces, two characters
    count as one word."""
    words = normalise_words(text)
    cumulative_weights = [0, *accumulate(1 if UNSPACED_LETTER.match(word) else 2 for word in words)]
    ends = (bisect_left(cumulative_weights, before + 2 * _SHINGLE_WORDS) for before in cumulative_weights[:-1])
    return {tuple(words[start:end]) for start, end in enumerate(ends) if end <= len(words)}


def is_own_paper(idea_title: str, idea_shingles: set[tuple[str, ...]], paper: Paper) -> bool:
    """Return whether the idea was derived from this paper: the titles match, or the idea contains much of the
    abstract."""
    title, paper_title = " ".join(_WORD.findall(idea_title.casefold())), " ".join(_WORD.findall(paper.title.casefold()))
    unspaced = count_unspaced_letters(paper_title)
    long_enough = len(normalise_words(paper_title)) - unspaced + unspaced // 2 >= _MIN_TITLE_WORDS
    if long_enough and fuzz.ratio(title, paper_title) >= _MIN_TITLE_SIMILARITY:
        return True
    abstract = build_shingles(paper.abstract)
    return bool(abstract) and len(abstract & idea_shingles) / len(abstract) >= _MIN_COPIED_SHARE
