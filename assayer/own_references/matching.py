"""Whether a record is the work that an entry refers to, and what the entry says of it otherwise than the record.

An identifier in common decides. Without one the titles must be the same, or the record's title must stand in the entry
beside its first author; where titles are only alike (a subtitle left out, a word misspelt) the year must agree as well.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from rapidfuzz import fuzz

from assayer.literature.paper_identity import title_key
from assayer.models import CitedWork, Paper

__all__ = ["RecordMatch", "best_match", "family_name", "without_identifiers"]

_TELLING = 24
"""Letters of a title that two works hardly share by chance."""
_ALIKE = 90.0
"""Ratio (0 to 100) of titles that may be one title with a misprint."""
_UNLIKE = 60.0
"""Ratio below which the record behind an identifier bears another title."""
_MOST_OF_IT = 0.6
"""Share of an entry's title that a record's title must have to be found inside the entry."""
_VERSIONS = 1
"""Years between a preprint and its publication that are no difference."""
_INITIALS = re.compile(r"(?:[A-ZÀ-ÖØ-Þ]\.?-?){1,4}")
_IDENTIFIER = re.compile(r"(?:https?://|doi:|10\.\d{4,9}/|arxiv:)\S*|\d{4}\.\d{4,5}", re.IGNORECASE)


class RecordMatch(NamedTuple):
    paper: Paper
    differences: tuple[str, ...]
    """What the entry says otherwise than the record, one sentence each."""


_Likeness = Literal["identifier", "same", "alike"]
_PREFERENCE: dict[_Likeness, int] = {"identifier": 2, "same": 1, "alike": 0}


def best_match(work: CitedWork, records: Sequence[Paper]) -> RecordMatch | None:
    """The record with the fewest differences among those of the same work; None where none of them is it."""
    matches = [(likeness, paper) for paper in records if (likeness := _likeness(work, paper))]
    if not matches:
        return None
    judged = [(likeness, RecordMatch(paper, tuple(_differences(work, paper, likeness)))) for likeness, paper in matches]
    return min(judged, key=lambda one: (len(one[1].differences), -_PREFERENCE[one[0]]))[1]


def family_name(author: str) -> str:
    """Of `Lee, A.`, `Ann Lee`, `A. LEE` and `Lee A` alike."""
    family, comma, _ = author.partition(",")
    if comma:
        return family.strip()
    words = author.split()
    if not words or _INITIALS.fullmatch(words[0]):
        return words[-1] if words else ""
    while len(words) > 1 and _INITIALS.fullmatch(words[-1]):
        words.pop()
        if not _INITIALS.fullmatch(words[-1]):
            return " ".join(words)
    return words[-1]


def _families(author: str) -> set[str]:
    """The family name, and what it may be where capitals tell it from no initials: `RUI GAO`."""
    last = author.split()[-1:]
    return {family_name(author), *(word for word in last if len(word.rstrip(".")) > 2)} - {""}


def _likeness(work: CitedWork, paper: Paper) -> _Likeness | None:
    if _shares_identifier(work, paper):
        return "identifier"
    ours, theirs = title_key(work.title), title_key(paper.title)
    if not theirs:
        return None
    author, year = _author_agrees(work, paper), _year_agrees(work, paper)
    if ours and ours == theirs:
        # Short titles are used again and again: `Deep learning`.
        return "same" if len(ours) >= _TELLING or author or (author is None and year) else None
    if not author:
        return None
    if len(theirs) >= max(_TELLING, _MOST_OF_IT * len(ours)) and theirs in title_key(work.raw):
        return "same"
    begins = min(len(ours), len(theirs)) >= _TELLING // 2 and (ours.startswith(theirs) or theirs.startswith(ours))
    alike = fuzz.ratio(_words(work.title), _words(paper.title), score_cutoff=_ALIKE) >= _ALIKE
    return "alike" if year is not False and (begins or alike) else None


def _shares_identifier(work: CitedWork, paper: Paper) -> bool:
    known = paper.identifiers
    return bool((work.doi and work.doi == known.doi) or (work.arxiv and work.arxiv == known.arxiv))


def _words(title: str) -> str:
    return " ".join(re.findall(r"\w+", title.casefold()))


def _author_agrees(work: CitedWork, paper: Paper) -> bool | None:
    """Whether both name one first author; None where one of them names nobody."""
    if not paper.authors:
        return None
    if work.authors:
        if any(_is_named(one, author) for one in _families(work.authors[0]) for author in paper.authors):
            return True
    elif not work.raw or not _beside_title(work):
        return None
    if any(_is_named(one, _beside_title(work)) for one in _families(paper.authors[0])):
        return True
    return False if work.authors else None


def _is_named(family: str, names: str) -> bool:
    """Short names must be a whole word: `Li` stands in `Oliver`."""
    key = title_key(family)
    if len(key) >= 4:
        return key in title_key(names)
    return bool(key) and key in {title_key(word) for word in re.findall(r"[\w'’-]+", names)}


def _beside_title(work: CitedWork) -> str:
    """The entry without its title."""
    return work.raw.replace(work.title, " ", 1) if work.title else work.raw


def without_identifiers(entry: str) -> str:
    """Without addresses, DOIs and arXiv ids."""
    return _IDENTIFIER.sub(" ", entry)


def _year_agrees(work: CitedWork, paper: Paper) -> bool | None:
    if work.year is None or paper.publication_date is None:
        return None
    year = paper.publication_date.year
    stated = re.findall(r"\b(?:19|20)\d\d(?=[a-z]?\b)", without_identifiers(_beside_title(work)))
    return abs(work.year - year) <= _VERSIONS or str(year) in stated


def _differences(work: CitedWork, paper: Paper, likeness: _Likeness) -> list[str]:
    found = []
    if likeness == "identifier" and work.title and not _titles_meet(work, paper):
        name = f"DOI {work.doi}" if work.doi and work.doi == paper.identifiers.doi else f"arXiv id {work.arxiv}"
        found.append(f"The {name} belongs to another title: “{paper.title}”.")
    if _author_agrees(work, paper) is False:
        found.append(f"The entry names {work.authors[0]} first, the record {paper.authors[0]}.")
    if _year_agrees(work, paper) is False and paper.publication_date is not None:
        found.append(f"The entry is dated {work.year}, the record {paper.publication_date.year}.")
    return found


def _titles_meet(work: CitedWork, paper: Paper) -> bool:
    ours, theirs = title_key(work.title), title_key(paper.title)
    if ours in theirs or theirs in ours or theirs in title_key(work.raw):
        return True
    return fuzz.token_sort_ratio(_words(work.title), _words(paper.title)) >= _UNLIKE
