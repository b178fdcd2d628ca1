"""Decide whether the title read from an entry can be trusted. An entry whose title may be a journal, a list of names or
words without spaces must not be reported as not found."""

import re

from assayer.models import CitedWork
from assayer.reference_lists.entry_fields import FIRMS
from assayer.reference_lists.entry_names import authors_in
from assayer.reference_lists.entry_shape import UNREADABLE, UPPER

_MAX_WORD_CHARS = 30
"""Number of letters from which a word of a title is several words without spaces."""
_MAX_NAME_LIST_WORDS = 60
"""Maximum number of words of a title that may be a list of names."""
_VOLUME_AT_END = re.compile(r"\s(?:[A-Z] )?\d{1,4}(?:\s?\([\w–/-]{1,7}\))?$")
_PLACE_AFTER = re.compile(r"[,:;]?\s?(?:\(\w{1,7}\)[,:]?\s?)?(?:pp?\.\s?|no\.\s?)?[A-Za-z]{0,4}\d+")
_VOLUME_AND_PLACE = re.compile(r"\s\d{1,4}(?:\s?\(\w{1,7}\))?[,:]\s?[A-Za-z]{0,5}\d{2,}(?:[–-]\d+)?$")
_PLACE_INSIDE = re.compile(r",\s(?:vol(?:ume)?|pages|pp|no)\b\.?\s?\d", re.IGNORECASE)
_VENUE = re.compile(
    r"(?:in:?\s)?(?:proc(?:eedings|\.)|(?:the )?(?:international )?journal of|j\.\s|trans(?:actions|\.)|"
    r"(?:ieee|acm)(?:/\w+)? (?:trans|conf|journal|symp)|"
    r"tech(?:nical|\.)? rep(?:ort|\.)|annals of|advances in neural|lecture notes)|in:?\s+(?-i:[A-Z])",
    re.IGNORECASE,
)
_PLACE_AND_PUBLISHER = re.compile(rf"{UPPER}[\w .,&-]{{1,40}}: (?:{UPPER}[\w.&’'-]*\s){{0,4}}{FIRMS}$")
_PUBLISHER_AND_YEAR = re.compile(r"\s?;\s(?:c)?(?:1[5-9]|20)\d\d\b")
"""Year after a publisher or a place, as medical styles print it: `The Rail Foundation; 2020`."""
_BARE_YEAR = re.compile(r"[^\W\d_] (?:1[5-9]|20)\d\d[a-z]? $")
"""Year without punctuation before a title, as physics journals print it; the journal follows the title so too."""
_DATE_AND_TITLE = re.compile(r"[.,]?\s\(?(?:1[5-9]|20)\d\d[a-z]?\)?[.:]\s(?:[^\W\d_][\w’'-]*\s){2}")
"""Date and words after a title that has no authors, which may be the authors of the entry."""
_REST = re.compile(r"(?:and|&|et al)\b")
_NAMES_AT_END = re.compile(rf",.*,? (?:and|&) {UPPER}[\w.’'-]* {UPPER}[\w’'-]+$")
"""Last of several names at the end of what was read as a title."""
_SENTENCE_AFTER = re.compile(r"\.\s(?:[^\W\d_][\w’'+-]*\s?){2}")
_ABBREVIATED = re.compile(
    rf"(?:{UPPER}\w{{0,9}}\.:?\s?){{2,}}(?:{UPPER}\w*)?$|{UPPER}\w{{0,5}}\.?(?: {UPPER}[a-z]{{1,5}}\b\.?){{2,4}}$"
)
"""Abbreviated words: `Rail. Sci. Lett.`, `Rev Rail Sci`."""
_LOWER_WORD = re.compile(r"\b[a-zß-öø-ÿ]{2,}")
_BETWEEN_NAMES = re.compile(r"\b(?:and|und|et|de|del|la|da|dos|van|von|der|den)\b")
_INITIAL = re.compile(rf"\b{UPPER}\.?$")


def is_title_told(work: CitedWork) -> bool:
    """Return whether the title of an entry can be trusted to be its title."""
    title = work.title
    if not title:
        return False
    before, _, after = work.raw.partition(title)
    return not (
        UNREADABLE.search(title)
        or _REST.match(title)
        or _NAMES_AT_END.search(title)
        or _VENUE.match(title)
        or _ABBREVIATED.match(title)
        or _PLACE_AND_PUBLISHER.match(title)
        or _VOLUME_AND_PLACE.search(title)
        or (_VOLUME_AT_END.search(title) and _PLACE_AFTER.match(after))
        or _PLACE_INSIDE.search(title)
        or (_BARE_YEAR.search(before) and not after.startswith((".", ",", ":", "?", "!")))
        or (work.raw.endswith(title) and work.raw != title)
        or _PUBLISHER_AND_YEAR.match(after)
        or (not work.authors and work.raw.startswith(title) and _may_be_author(title, after))
        or _PUBLISHER_AND_YEAR.search(title)
        or max(map(len, re.findall(r"[^\W\d_]+", title)), default=0) >= _MAX_WORD_CHARS
        or _may_be_names(work)
    )


def _may_be_author(title: str, after: str) -> bool:
    """Return whether a title at the beginning of an entry may be its author: a date and further words follow, or all
    its words but one of several are names and a sentence follows."""
    words = _BETWEEN_NAMES.sub("", title).split()
    lower = sum(_LOWER_WORD.match(word) is not None for word in words)
    are_names = not lower or (lower == 1 and len(words) > 2)
    return bool(_DATE_AND_TITLE.match(after)) or (are_names and bool(_SENTENCE_AFTER.match(after)))


def _may_be_names(work: CitedWork) -> bool:
    """Return whether a title has the form of further names: `Chen, Bo Dale, and Cy Park`, or one name after an
    initial."""
    title = work.title
    if len(title.split()) > _MAX_NAME_LIST_WORDS or _LOWER_WORD.search(
        re.sub(r"\b(?:and|et al|de|van|von|der)\b", "", title)
    ):
        return False
    people = authors_in(title)
    follows_initial = bool(work.authors) and _INITIAL.search(work.authors[-1]) is not None
    several = len(people) > 1 and "," in title
    directly = follows_initial and f"{work.authors[-1].split()[-1]}. {title}" in work.raw
    return bool(people) and (several or (directly and len(title.split()) == 1))
