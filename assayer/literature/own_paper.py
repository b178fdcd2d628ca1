"""Recognises the paper that an idea was made from: it must not be used to judge the idea."""

import re

from rapidfuzz import fuzz

from assayer.models import Paper

__all__ = ["is_own_paper", "shingles"]


_SAME_TITLE = 93.0
"""Ratio (0 to 100) of two normalised titles that we take for the same paper."""
_SHINGLE = 6
"""Words; a run of this many shared words is copied text, not shared jargon."""

_COPIED = 0.5
"""Share of an abstract's shingles that also stand in the idea: the idea was made from this paper."""


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def shingles(text: str) -> set[tuple[str, ...]]:
    """Runs of words, as `is_own_paper` compares them."""
    words = _words(text)
    return {tuple(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1)}


def is_own_paper(idea_title: str, idea_shingles: set[tuple[str, ...]], paper: Paper) -> bool:
    """Whether the idea was made from this paper: same title, or an abstract that the idea contains."""
    title, other = " ".join(_words(idea_title)), " ".join(_words(paper.title))
    if len(other.split()) >= 4 and fuzz.ratio(title, other) >= _SAME_TITLE:
        return True
    abstract = shingles(paper.abstract)
    return bool(abstract) and len(abstract & idea_shingles) / len(abstract) >= _COPIED
