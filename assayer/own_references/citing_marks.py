"""Find the marks by which a text cites its references: `[3, 5–7]`, `(Lee et al., 2019a)`, or an identifier.

Each function returns the first mark of each work. A mark that fits several works equally well is ignored."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import NamedTuple

from assayer.literature.paper_identity import build_title_key, extract_family_name
from assayer.models import CitedWork
from assayer.reference_lists.citation_marks import NOTE

BRACKETS = re.compile(r"\[\^?\d{1,3}(?: ?[-–,;] ?\d{1,3}){0,40}\]")
_RANGE = re.compile(r"(?P<first>\d{1,3})(?: ?[-–] ?(?P<last>\d{1,3}))?")
_YEAR = re.compile(r"\b(?P<year>(?:19|20)\d\d)(?P<letter>[a-z]?)\b")
_BEFORE_YEAR = 120
"""Maximum number of characters before a year that are searched for author names."""
_WORD = r"[^\W\d_][\w'’-]{1,40}"
_PERSON = rf"(?:[^\W\d_][\w'’.-]{{0,40}}\s{{1,3}}){{0,3}}{_WORD}"
_NAMED = re.compile(
    rf"(?<![\w'’-])(?P<first>{_WORD})"
    rf"(?P<more>(?:,\s{{1,3}}{_PERSON}){{0,5}},?\s{{1,3}}(?:and|&)\s{{1,3}}{_PERSON})?"
    r"(?P<others>,?\s{1,3}et\s{1,3}al\.?)?(?:['’]s?)?[\s,]{0,3}[(\[]?\s?\Z"
)
_SAME_NAMES = re.compile(r"[\s,;&]{1,4}(?:and\s)?")
_BETWEEN_NAMES = re.compile(r",?\s{1,3}(?:and|&)\s{1,3}|,\s{1,3}")
_POSSESSIVE = re.compile(r"['’]s?$")
_OTHERS = ("others", "colleagues", "coworkers")
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_MAX_OCCURRENCES = 20
"""Maximum number of occurrences of an identifier that are examined, because it can be a prefix of other identifiers."""


class Mark(NamedTuple):
    """Range of characters in the text, from `start` (inclusive) to `end` (exclusive)."""

    start: int
    end: int


class _Names(NamedTuple):
    """Family names, year and letter (`2019a`) by which a mark cites a work, or by which a work can be cited. Names are
    in normal form."""

    first: str
    year: str
    letter: str = ""
    second: str = ""
    people: int | None = None
    """Number of people; 3 means three or more, None means unknown."""


def numbers_in(brackets: str, greatest: int) -> list[tuple[int, int]] | None:
    """Return the first and last number of each range; None if the brackets contain a number that no entry has, as
    intervals in formulas do."""
    found = [(int(part["first"]), int(part["last"] or part["first"])) for part in _RANGE.finditer(brackets)]
    return found if all(0 < first <= last <= greatest for first, last in found) else None


def number_marks(body: str, numbers: Collection[int]) -> dict[int, Mark]:
    """Return the marks that cite entries by number, keyed by that number. Marks of notes in the text cite none."""
    missing, marks = sorted(numbers), dict[int, Mark]()
    notes = {f"[^{mark}]" for mark in NOTE.findall(body)}
    greatest = max(missing, default=0)
    for match in BRACKETS.finditer(body):
        for first, last in () if match[0] in notes else numbers_in(match[0], greatest) or ():
            start, end = bisect_left(missing, first), bisect_right(missing, last)
            marks |= dict.fromkeys(missing[start:end], Mark(*match.span()))
            del missing[start:end]
    return marks


def name_marks(body: str, works: Sequence[CitedWork]) -> dict[int, Mark]:
    """Return the marks that cite works by name and year, keyed by the work's position."""
    known: dict[tuple[str, str], list[tuple[int, _Names]]] = {}
    for place, work in enumerate(works):
        if work.authors and work.year and (names := _parse_work_names(work)).first:
            known.setdefault((names.first, names.year), []).append((place, names))
    marks = dict[int, Mark]()
    for cited, mark in _find_name_marks(body).items():
        fitting = known.get((cited.first, cited.year), [])
        alike = [place for place, names in fitting if _matches(names, cited)]
        places = alike or [place for place, names in fitting if _may_match(names, cited)]
        if len(places) == 1:
            marks.setdefault(places[0], mark)
    return marks


def identifier_marks(body: str, works: Sequence[CitedWork]) -> dict[int, Mark]:
    """Return the first mention of each work by DOI or arXiv id, keyed by the work's position."""
    text, marks = body.translate(_LOWER), dict[int, Mark]()
    for place, work in enumerate(works):
        found = [_identifier_in(text, name.translate(_LOWER)) for name in (work.doi, work.arxiv) if name]
        if first := min((mark for mark in found if mark), default=None):
            marks[place] = first
    return marks


def _find_name_marks(body: str) -> Mapping[_Names, Mark]:
    """Return the name marks in the text, each at its first occurrence."""
    marks, after = dict[_Names, Mark](), 0
    last: _Names | None = None
    for match in _YEAR.finditer(body):
        start, before = max(after, match.start() - _BEFORE_YEAR), last
        named = _NAMED.search(body, start, match.start())
        last = None
        if named and named["first"][0].isupper():
            last = _parse_names(named)
            mark = _extend_to_brackets(Mark(named.start(), match.end()), body)
        elif before and _SAME_NAMES.fullmatch(body, after, match.start()):
            last = before
            mark = Mark(*match.span())
        if last:
            marks.setdefault(last._replace(year=match["year"], letter=match["letter"]), mark)
        after = match.end()
    return marks


def _parse_names(named: "re.Match[str]") -> _Names:
    more = [_key(part) for part in _BETWEEN_NAMES.split(named["more"] or "") if part.strip()]
    others = bool(named["others"]) or any(item in _OTHERS for item in more) or len(more) > 1
    second = more[0] if more and more[0] not in _OTHERS else ""
    return _Names(_key(named["first"]), "", second=second, people=3 if others else 1 + len(more))


def _parse_work_names(work: CitedWork) -> _Names:
    keys = [_key(extract_family_name(author)) for author in work.authors[:2]]
    letter = re.search(rf"\b{work.year}([a-z])\b", work.raw)
    all_named = not re.search(r"\bet al\b|\bothers\b", work.raw)
    return _Names(
        keys[0],
        str(work.year),
        letter[1] if letter else "",
        keys[1] if len(keys) > 1 else "",
        min(len(work.authors), 3) if all_named else None,
    )


def _key(name: str) -> str:
    """Return the key of the last word of a name, so that `van der Linden` is also found as `Linden`."""
    return build_title_key(_POSSESSIVE.sub("", name.rsplit(maxsplit=1)[-1])) if name.split() else ""


def _matches(work: _Names, cited: _Names) -> bool:
    people = cited.people == work.people or (work.people is None and cited.people == 3)
    return people and cited.letter == work.letter and _may_match(work, cited)


def _may_match(work: _Names, cited: _Names) -> bool:
    same_letter = not (cited.letter and work.letter) or cited.letter == work.letter
    return same_letter and (not (cited.second and work.second) or cited.second == work.second)


def _extend_to_brackets(mark: Mark, body: str) -> Mark:
    """Extend a mark to include the bracket that closes after it, together with the matching opening bracket."""
    start, end = mark
    if body[end : end + 1] not in (")", "]"):
        return mark
    if body[start - 1 : start] in ("(", "["):
        return Mark(start - 1, end + 1)
    return Mark(start, end + 1) if re.search(r"[(\[]", body[start:end]) else mark


def _identifier_in(text: str, name: str) -> Mark | None:
    """Return the first occurrence of an identifier, including a URL prefix or `doi:` before it."""
    end = 0
    for _ in range(_MAX_OCCURRENCES):
        place = text.find(name, end)
        if place < 0:
            return None
        end = place + len(name)
        if not re.match(r"[^\W_]|[._/-][^\W_]", text[end : end + 2]) or re.match(r"v\d", text[end : end + 2]):
            start = re.search(r"[^\s()\[\]<>]{0,60}\Z", text[max(place - 60, 0) : place])
            return Mark(place - len(start[0]) if start else place, end)
    return None
