"""Where the text of an idea refers to its references: `[3, 5–7]`, `(Lee et al., 2019)`, a link, an identifier."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from assayer.literature.paper_identity import family_name, title_key
from assayer.models import CitedWork

__all__ = ["passages_citing"]

_NUMBERS = re.compile(r"\[\^?(?P<list>\d{1,3}(?: ?[-–,;] ?\d{1,3}){0,40})\]")
_RANGE = re.compile(r"(?P<first>\d{1,3})(?: ?[-–] ?(?P<last>\d{1,3}))?")
_YEAR = re.compile(r"\b(?P<year>(?:19|20)\d\d)[a-z]?\b")
_NAME = re.compile(r"[^\W\d_][\w'’-]{1,40}")
_POSSESSIVE = re.compile(r"['’]s?$")
_BEFORE_YEAR = 80
"""Characters in front of a year in which its authors are named."""
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\bal\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s{1,20}(?=[^\Wa-z]|[“\"(])|\n\s{0,20}\n|\n(?= {0,3}[-*#+] )"
)
_LONGEST = 600


def passages_citing(body: str, works: Sequence[CitedWork]) -> tuple[str, ...]:
    """The sentence that refers to each work first; empty where none was recognised."""
    numbers, dated = _by_number(body, len(works)), _by_author_and_year(body)
    ends = [match.end() for match in _SENTENCE_END.finditer(body)]
    return tuple(
        _sentence_at(place, body, ends) if (place := _place(number, work, body, numbers, dated)) is not None else ""
        for number, work in enumerate(works, start=1)
    )


def _place(
    number: int, work: CitedWork, body: str, numbers: dict[int, int], dated: dict[tuple[str, str], int]
) -> int | None:
    if number in numbers:
        return numbers[number]
    names = [title_key(word) for word in _NAME.findall(family_name(work.authors[0]))[-1:]] if work.authors else []
    for name in names:
        if (name, str(work.year)) in dated:
            return dated[name, str(work.year)]
    identifiers = [one for one in (work.doi, work.arxiv) if one]
    found = [place for one in identifiers if (place := body.casefold().find(one.casefold())) >= 0]
    return min(found, default=None)


def _by_number(body: str, most: int) -> dict[int, int]:
    """Where each number stands in square brackets first; nothing where brackets hold numbers of no entry, as those of
    formulas and intervals do."""
    places = dict[int, int]()
    for match in _NUMBERS.finditer(body):
        for part in _RANGE.finditer(match["list"]):
            first, last = int(part["first"]), int(part["last"] or part["first"])
            for number in range(first, min(last, first + most) + 1):
                places.setdefault(number, match.start())
    return places if 0 not in places and max(places, default=0) <= most else {}


def _by_author_and_year(body: str) -> dict[tuple[str, str], int]:
    """Where each name is followed by each year first."""
    places, after = dict[tuple[str, str], int](), 0
    for match in _YEAR.finditer(body):
        start = max(after, match.start() - _BEFORE_YEAR)
        for name in _NAME.findall(body[start : match.start()]):
            if name[0].isupper():
                places.setdefault((title_key(_POSSESSIVE.sub("", name)), match["year"]), match.start())
        after = match.end()
    return places


def _sentence_at(place: int, body: str, ends: Sequence[int]) -> str:
    """A long one is cut, around the place."""
    following = bisect_right(ends, place)
    start = ends[following - 1] if following else 0
    end = ends[following] if following < len(ends) else len(body)
    start, end = max(start, place - _LONGEST), min(end, place + _LONGEST)
    return " ".join(body[start:end].split()).lstrip("-*#+ ")
