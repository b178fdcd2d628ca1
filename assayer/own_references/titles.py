"""How the title of an entry and that of a record agree."""

import re
import unicodedata
from itertools import accumulate
from typing import Literal

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from assayer.literature.paper_identity import title_key
from assayer.models import CitedWork

__all__ = ["TELLING", "TitleAgreement", "is_other_title", "title_agreement"]

TELLING = 24
"""Letters of a title that two works hardly share by chance."""
_ALIKE = 90.0
"""Ratio (0 to 100) of titles that may be one title with a misprint."""
_UNLIKE = 60.0
"""Ratio below which the record behind an identifier bears another title."""
_MOST_OF_IT = 0.6
"""Share of an entry's title that a record's title must have to be found inside the entry."""
_LONG_WORD = 4
"""Letters of a word in which one may be wrong: `in` and `on` are two words."""
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W_]+")
_SUBTITLE = re.compile(r"[:?!.]\s|\s[-–—]\s")
_TITLE_ENDS = re.compile(r"\s{0,3}(?:[^\w\s:—–-]|[–—-]?\s?(?:19|20)\d\d\b|$)")
"""What may follow a title. After a colon or a dash it goes on, after a word too."""

TitleAgreement = Literal["same", "written otherwise", "alike"]
"""`written otherwise`: a letter of a word misspelt, or without the subtitle. `alike`: one begins as the other, or they
differ by a few letters, or the entry says more than the record; titles of two works may do so."""


def title_agreement(work: CitedWork, title: str) -> TitleAgreement | None:
    """None where they are titles of two works, or one of them has none."""
    ours, theirs = title_key(work.title), title_key(title)
    if not theirs:
        return None
    if ours == theirs:
        return "same"
    end = _end_in(work.raw, theirs) if len(theirs) >= max(TELLING, _MOST_OF_IT * len(ours)) else None
    if end is not None:
        return "same" if _TITLE_ENDS.match(end) else "alike"
    if not ours:
        return None
    if _is_misprint(work.title, title) or _is_without_subtitle(ours, title):
        return "written otherwise"
    begins = min(len(ours), len(theirs)) >= TELLING // 2 and (ours.startswith(theirs) or theirs.startswith(ours))
    alike = fuzz.ratio(_words(work.title), _words(title), score_cutoff=_ALIKE) >= _ALIKE
    return "alike" if begins or alike else None


def is_other_title(work: CitedWork, title: str) -> bool:
    """Whether an entry that has a title can hardly mean this one, though an identifier says so."""
    ours, theirs = title_key(work.title), title_key(title)
    if not ours or ours in theirs or theirs in ours or theirs in title_key(work.raw):
        return False
    return fuzz.token_sort_ratio(_words(work.title), _words(title)) < _UNLIKE


def _words(title: str) -> str:
    return " ".join(re.findall(r"\w+", title.casefold()))


def _is_misprint(ours: str, theirs: str) -> bool:
    """One letter wrong, or one in a word: `optimisation of generalised …`. Other numbers make another work."""
    if _NUMBER.findall(ours) != _NUMBER.findall(theirs):
        return False
    some, others = _words(ours).split(), _words(theirs).split()
    if len(some) != len(others):
        return Levenshtein.distance(title_key(ours), title_key(theirs), score_cutoff=1) <= 1
    return all(one == other or _is_misspelt(one, other) for one, other in zip(some, others, strict=True))


def _is_misspelt(word: str, other: str) -> bool:
    return min(len(word), len(other)) >= _LONG_WORD and Levenshtein.distance(word, other, score_cutoff=1) <= 1


def _is_without_subtitle(ours: str, theirs: str) -> bool:
    key, done = "", 0
    for match in _SUBTITLE.finditer(theirs):
        key += title_key(theirs[done : match.start()])
        done = match.start()
        if len(key) >= len(ours):
            return key == ours
    return False


def _end_in(entry: str, key: str) -> str | None:
    """What follows a title in an entry; None where it does not stand there from its first word to its last."""
    plain = unicodedata.normalize("NFKD", entry).casefold()
    words = list(_WORD.finditer(plain))
    keys = [title_key(match[0]) for match in words]
    starts = list(accumulate(map(len, keys), initial=0))
    place = "".join(keys).find(key)
    if place < 0 or place not in starts or place + len(key) not in starts:
        return None
    return plain[words[starts.index(place + len(key)) - 1].end() :]
