"""Compare the title of an entry with the title of a record."""

import re
from itertools import accumulate
from typing import Literal

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from assayer.literature.paper_identity import build_title_key, normalise_title
from assayer.models import CitedWork, Paper
from assayer.own_references.names import is_named_in
from assayer.text.folding import german_folded

TELLING = 24
"""Minimum number of letters in a title for a match that is unlikely to occur by chance between two different works."""
_ALIKE = 90.0
"""Ratio (0 to 100) at or above which two titles may be the same title with a misprint."""
_UNLIKE = 60.0
"""Ratio (0 to 100) below which the record behind an identifier counts as having a different title."""
_MIN_SHARE_OF_TITLE = 0.6
"""Minimum length of a record's title, as a share of the entry's title, for it to be searched for within the entry."""
_LONG_WORD = 4
"""Minimum number of letters in a word for a wrong letter to be tolerated; `in` and `on` are different words."""
_NUMBER = re.compile(r"\d+")
_LINE_NUMBER = re.compile(r"(?<=[a-z]{2})\d{1,3}\s(?=[a-z]{2})|(?<=[A-Z]{2})\d{1,3}\s(?=[A-Z]{2})")
_LIGATURE = re.compile(r"f(?:f[il]?|[il])")
_WORD = re.compile(r"[^\W_]+")
_VENUE = re.compile(
    r"\s{0,3}(?:\.\s|\s?\(|,\s(?=.{0,80}\d|.{0,80}\b(?:press|publish\w+|publications|verlag|books|associates|wiley|springer|elsevier|"
    r"journal|transactions|proceedings|letters|reviews?|acm|ieee)\b|(?:\w{5,7}|\d{1,2}(?:st|nd|rd|th)) ed(?:\.|ition)))"
)
"""Pattern for text between a title and a venue that was read as a part of it: `. Advances in …`, ` (arXiv`,
`, Harbour Press`, `, Letters 3`."""
_PRINTED_VENUE = re.compile(
    r",\s(?:(?:[^\W\d_]{1,10}\.\s){2}|[^,.;:\d]{3,60},\s(?:[^,.;:\d]{2,40},\s)?(?:1[5-9]|20)\d\d\b)"
)
"""Abbreviated journal after a title, of which the first word was read as a part of the title, or a publisher, a place
and the year: `, crit. rev. `, `, post press, oslo, 2019`."""
_WORDS_BEFORE = 3
"""Number of words of a title before the word that follows it."""
_AFTER_TITLE = 60
"""Number of characters after a title in which the first author's name is looked for."""
_MIN_BEFORE_VENUE = 12
"""Minimum number of letters in a title before a venue."""
_SUBTITLE = re.compile(r"[:?!.]\s|\s[-–—]\s")
_LATER_PART = re.compile(r"\W*(?:part|vol(?:ume)?|[ivx]+|\d+)\b", re.IGNORECASE)
"""Beginning of a subtitle that distinguishes a work from another: `Part II`."""
_TITLE_ENDS = re.compile(r"\s{0,3}(?:[^\w\s:—–-]|[–—-]?\s?(?:19|20)\d\d\b|$)")
"""Pattern for text that can follow a title. After a colon, a dash or a word, the title continues."""

TitleAgreement = Literal["same", "written otherwise", "alike"]
"""Agreement of two titles. `written otherwise`: one wrong letter in a word, or a missing subtitle. `alike`: the same
beginning, a few different letters, or an entry with more words than the record; the titles of different works can also
be alike."""


def compare_titles(work: CitedWork, title: str) -> TitleAgreement | None:
    """Return how the titles agree; None if they belong to different works or either is missing."""
    ours, theirs = build_title_key(work.title), build_title_key(title)
    if not theirs:
        return None
    if ours == theirs or (ours and _are_spelt_alike(work.title, title)):
        return "same"
    more = has_more_subtitle(work, title)
    whole = len(theirs) >= max(TELLING, _MIN_SHARE_OF_TITLE * len(ours)) or (ours and theirs.startswith(ours))
    end = _find_text_after_title(work.raw, theirs) if whole else None
    if end is None and len(theirs) >= _MIN_BEFORE_VENUE and ours.startswith(theirs):
        rest, printed = (_find_text_after_title(text, theirs) or "" for text in (work.title, work.raw))
        end = rest if _VENUE.match(rest) else printed if _PRINTED_VENUE.match(printed) else None
    if end is not None and (_TITLE_ENDS.match(end) or not more):
        return "same" if _TITLE_ENDS.match(end) else "alike"
    if not ours:
        return None
    if more or _is_misprint(work.title, title) or _subtitle_after(title, ours):
        return "written otherwise"
    begins = min(len(ours), len(theirs)) >= TELLING // 2 and (ours.startswith(theirs) or theirs.startswith(ours))
    alike = fuzz.ratio(_normalise_words(work.title), _normalise_words(title), score_cutoff=_ALIKE) >= _ALIKE
    return "alike" if begins or alike else None


def is_followed_by_name(work: CitedWork, paper: Paper) -> bool:
    """Return whether the first author's name follows the title in an entry, as in lists that print the title first."""
    end = _find_text_after_title(work.raw, build_title_key(paper.title)) or ""
    return bool(paper.authors) and is_named_in(paper.authors[0], end[:_AFTER_TITLE])


def may_be_before_journal(work: CitedWork, title: str) -> bool:
    """Return whether an entry contains a whole title, and the word after it may begin a journal: it has a capital."""
    words = _WORD.findall(title)[-_WORDS_BEFORE:]
    after = re.search(r"[\W_]+".join(map(re.escape, words)) + r"[\W_]+(?P<next>[^\W_])", work.raw, re.IGNORECASE)
    is_whole = _find_text_after_title(work.raw, build_title_key(title)) is not None
    return is_whole and after is not None and not after["next"].islower()


def ends_title_in_entry(work: CitedWork, title: str) -> bool:
    """Return whether an entry contains a whole title, at whose end a title may end."""
    end = _find_text_after_title(work.raw, build_title_key(title))
    return end is not None and _TITLE_ENDS.match(end) is not None


def is_other_title(work: CitedWork, title: str) -> bool:
    """Return whether an entry with a title is unlikely to refer to a record with this title, although an identifier
    matches."""
    ours, theirs = build_title_key(work.title), build_title_key(title)
    if not ours or ours in theirs or theirs in ours or theirs in build_title_key(work.raw):
        return False
    return fuzz.token_sort_ratio(_normalise_words(work.title), _normalise_words(title)) < _UNLIKE


def _normalise_words(title: str) -> str:
    return " ".join(re.findall(r"\w+", normalise_title(title)))


def _are_spelt_alike(ours: str, theirs: str) -> bool:
    """Return whether the titles are the same apart from umlauts and from what the text of a PDF may lack or add."""
    lost = _drop_lost_letters(ours) if len(build_title_key(theirs)) >= TELLING else ""
    return _write_out_umlauts(ours) == _write_out_umlauts(theirs) or (lost != "" and lost == _drop_lost_letters(theirs))


def _write_out_umlauts(title: str) -> str:
    """Return the key of a title with its umlauts written out: `Über` is also printed as `Ueber`."""
    return build_title_key(german_folded(title))


def _drop_lost_letters(title: str) -> str:
    """Return the key of a title without what the text of a PDF may lack or add: ligatures (`di erent`), and the numbers
    of lines in a word that a line end divided (`under26 standing`)."""
    return _LIGATURE.sub("", build_title_key(_LINE_NUMBER.sub("", title)))


def _is_misprint(ours: str, theirs: str) -> bool:
    """Return whether the titles differ by one letter, or by at most one letter per word (`optimisation of generalised
    …`). Different numbers mean different works."""
    if _NUMBER.findall(ours) != _NUMBER.findall(theirs):
        return False
    some, others = _normalise_words(ours).split(), _normalise_words(theirs).split()
    if len(some) != len(others):
        return Levenshtein.distance(build_title_key(ours), build_title_key(theirs), score_cutoff=1) <= 1
    return all(item == other or _is_misspelt(item, other) for item, other in zip(some, others, strict=True))


def _is_misspelt(word: str, other: str) -> bool:
    return min(len(word), len(other)) >= _LONG_WORD and Levenshtein.distance(word, other, score_cutoff=1) <= 1


def has_more_subtitle(work: CitedWork, title: str) -> bool:
    """Return whether the entry's title is the record's title with a subtitle that the record lacks."""
    subtitle = _subtitle_after(work.title, build_title_key(title))
    return bool(subtitle) and not _LATER_PART.match(subtitle)


def _subtitle_after(title: str, key: str) -> str:
    """Return the subtitle that follows the main title with this key; empty if the title has none after it."""
    found, done = "", 0
    for match in _SUBTITLE.finditer(title):
        found += build_title_key(title[done : match.start()])
        done = match.start()
        if len(found) >= len(key):
            return title[match.end() :] if found == key else ""
    return ""


def _find_text_after_title(entry: str, key: str) -> str | None:
    """Return the text after a title in an entry; None if the entry does not contain the whole title as complete
    words."""
    plain = normalise_title(entry)
    words = list(_WORD.finditer(plain))
    keys = [build_title_key(match[0]) for match in words]
    starts = list(accumulate(map(len, keys), initial=0))
    place = "".join(keys).find(key)
    if place < 0 or place not in starts or place + len(key) not in starts:
        return None
    return plain[words[starts.index(place + len(key)) - 1].end() :]
