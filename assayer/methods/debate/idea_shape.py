"""Count an idea's own words and the words it shares with another text, and detect repetition and mere lists of
methods."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from assayer.text.content_words import content_words

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
"""Scripts written in syllables or without spaces between words; each character counts as a word."""
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_UNSPACED_SIGN = re.compile(f"[{_UNSPACED}]")

_ANNOUNCING = frozenset(
    """
    address addresses addressing aim aims aiming answer answering answers approach approaches article available based
    better carefully challenge challenges combine combining comprehensive consider create current design designing
    develop developed developing effective effectively efficient existing explore exploring find first following
    framework general given goal good help here idea ideas important improve improved improves improving innovative
    introduce investigate investigating issue issues key make making method methodology methods new novel paper
    performance plan potential present problem problems project promising propose proposed proposes proposing question
    questions related research researchers results robust significant significantly simple solution solutions solve
    solves solving state-of-the-art study studying suggest system systems tackle task tasks technique techniques topic
    understand understanding various way ways will work works
    """.split()  # noqa: SIM905 - a block of words is easier to read than a list of strings
)
"""Words that can announce any idea and say nothing about what it is."""


def split_words(text: str) -> list[str]:
    """Return the text's words in lower case, in order."""
    return _WORD.findall(text.casefold())


def find_own_words(text: str, question: str) -> frozenset[str]:
    """Return the distinct content words that occur neither in the question nor in phrases that typically announce an
    idea."""
    own_words = content_words(_UNSPACED_SIGN.sub(" ", text)) | set(_UNSPACED_SIGN.findall(text))
    return (
        own_words
        - content_words(_UNSPACED_SIGN.sub(" ", question))
        - set(_UNSPACED_SIGN.findall(question))
        - _ANNOUNCING
    )


def is_monotonous(text: str) -> bool:
    """Return whether the text keeps repeating the same few words."""
    words = split_words(text)
    return len(words) >= 20 and len(set(words)) < 10


_SHINGLE = 6
"""Words per shingle. Texts written independently of each other share almost no shingles of this length."""


class SharedWording(NamedTuple):
    of_idea: float
    """Share, 0 to 1, of the idea's six-word runs that occur in the other text."""
    of_other: float


def measure_shared_wording(idea: str, other_text: str) -> SharedWording:
    mine, theirs = _build_shingles(split_words(idea)), _build_shingles(split_words(other_text))
    if not mine or not theirs:
        return SharedWording(0.0, 0.0)
    shared_count = len(mine & theirs)
    return SharedWording(shared_count / len(mine), shared_count / len(theirs))


def _build_shingles(words: Sequence[str]) -> set[tuple[str, ...]]:
    return set(zip(*(words[start:] for start in range(_SHINGLE)), strict=False))


_ITEM_END = re.compile(r"[,;\n•|/]|\s[+–—-]\s|\.(?=\s|$)|\b(?:and|or|plus|as well as)\b")
_BULLET = re.compile(r"^\s*(?:[-*+]|\(?\d{1,3}[.):])\s*")
_MIN_ITEMS = 12
_MAX_ITEM_WORDS = 6
"""Maximum number of words in a list item: the name of a method is short, a statement about it is not."""
_MIN_LISTED_SHARE = 0.7
"""Minimum share of a text's words that must be in short items for the text to count as a list of methods."""
_SAME_OPENING = 0.6
_SHORT_SENTENCE = 9


def is_method_list(text: str) -> bool:
    """Return whether the text only lists method names, either bare or each in a sentence with the same pattern. A list
    within a plan does not count."""
    items = [_BULLET.sub("", item) for item in _ITEM_END.split(text)]
    sizes = [len(split_words(item)) for item in items]
    short_sizes = [size for size in sizes if 0 < size <= _MAX_ITEM_WORDS]
    if len(short_sizes) >= _MIN_ITEMS and sum(short_sizes) >= _MIN_LISTED_SHARE * sum(sizes):
        return True
    sentences = [split_words(_BULLET.sub("", part)) for part in re.split(r"[.;\n](?=\s|$)", text)]
    brief = [words for words in sentences if 0 < len(words) <= _SHORT_SENTENCE]
    if len(brief) < _MIN_ITEMS or sum(map(len, brief)) < _MIN_LISTED_SHARE * sum(map(len, sentences)):
        return False
    openings = Counter(words[0] for words in brief)
    return openings.most_common(1)[0][1] >= _SAME_OPENING * len(brief)
