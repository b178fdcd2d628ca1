"""Find the authors of works that a text cites by number as its authors' own."""

import re
from collections.abc import Iterator, Sequence

from assayer.blinding.names import LETTER, UPPER, person_of
from assayer.blinding.person import Person
from assayer.models import CitedWork

_MARK = r"(?P<cited>[\[(]\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,8}[\])])"
_WORK = (
    r"(?:work|works|stud(?:y|ies)|papers?|articles?|results?|experiments?|research|publications?|preprints?|pilot|thesis|"
    r"dissertation|book|report|survey|data ?set|analysis|analyses|model|method|approach|system|framework|findings)"
)
_OWN_TIME = r"(?:previous|prior|earlier|past|own|published|recent|first|pilot|preliminary)"
_PUBLICATION = r"(?:papers?|articles?|thesis|dissertation|publications?|preprints?|book|reports?)"
_REPORTED = (
    r"(?:showed|shown|demonstrated|proved|proposed|introduced|reported|argued|established|developed|presented|described|"
    r"published|studied|found|observed|measured|investigated)"
)
_EARLIER = r"(?:also|first|already|previously|recently|earlier|before|elsewhere|initially)"
_REST = r"[^.!?\n()\[\],;A-Z]{0,30}"
_SELF_CITATIONS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:[Oo]ur|[Mm]y)(?: [a-z-]{{2,20}}){{0,2}} {_OWN_TIME}(?: [a-z-]{{2,20}}){{0,2}} {_WORK}\b{_REST} "
        rf"?{_MARK}",
        rf"\b(?:[Oo]ur|[Mm]y)(?: [a-z-]{{2,20}}){{0,3}} {_PUBLICATION} ?{_MARK}",
        rf"\b[Ii]n {_MARK},? (?:we|I)(?: have| had)?(?: {_EARLIER})? {_REPORTED}\b",
        rf"\b(?:[Ww]e|I)(?: have| had)?(?: {_EARLIER})? {_REPORTED}(?: {_EARLIER})?{_REST} (?:in )?{_MARK}",
    )
)
_OTHERS = re.compile(
    r"\b(?:from|by|of|follow\w*|like|unlike|than|use[sd]?|using|extend\w*|based on|with|those|differ\w*)\b"
)
"""Pattern for words which show that a number after `our model` cites somebody else's work."""
_NUMBERS = re.compile(r"(\d{1,3})(?:\s?[–-]\s?(\d{1,3}))?")
_MAX_RANGE = 20
_MAX_NAMES_CHARS = 300
_WITH_INITIALS = re.compile(
    rf"(?:[{UPPER}]\.[ -]?){{1,3}}[{UPPER}]{LETTER}{{1,20}}(?:-{LETTER}{{2,20}})?"
    rf"|[{UPPER}]{LETTER}{{1,20}}(?:-{LETTER}{{2,20}})?, (?:[{UPPER}]\.[ -]?){{1,3}}"
)


def authors_of_own_works(text: str, references: Sequence[CitedWork]) -> list[Person]:
    """Return the authors of the entries that the text cites by number as its authors' own works."""
    entries = {work.number: work for work in references if work.number is not None}
    if not entries:
        return []
    numbers = dict.fromkeys(number for cited in _find_self_citations(text) for number in _numbers_in(cited))
    works = [entries[number] for number in numbers if number in entries]
    names = (name for work in works for name in work.authors or _names_in_entry(work.raw))
    return [person for name in names if (person := _person_of_entry(name)) is not None]


def _find_self_citations(text: str) -> Iterator[str]:
    for pattern in _SELF_CITATIONS:
        for match in pattern.finditer(text):
            if not _OTHERS.search(match[0]):
                yield match["cited"]


def _numbers_in(cited: str) -> Iterator[int]:
    for match in _NUMBERS.finditer(cited):
        first, last = int(match[1]), int(match[2] or match[1])
        yield from range(first, min(last, first + _MAX_RANGE) + 1)


def _names_in_entry(entry: str) -> Iterator[str]:
    """Yield the names with initials at the beginning of an entry whose authors were not parsed."""
    for match in _WITH_INITIALS.finditer(entry[:_MAX_NAMES_CHARS]):
        yield match[0]


def _person_of_entry(name: str) -> Person | None:
    """Parse a name as entries write it: `J. Roe`, `Roe, J`, `Roe J`."""
    family, comma, given = name.partition(",")
    if comma and family.strip():
        return Person(given.strip(), family.strip())
    return person_of(name)
