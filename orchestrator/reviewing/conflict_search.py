"""Conflicts of interest found in a proposal's words: the reviewer's name, or their institution.

Searched is what says whose the proposal is: the lines and phrases that blind mode masks. Full names are searched
everywhere but in lists of references: who is cited has no conflict. What these rules miss, people declare.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from assayer.blinding.blind import spans_to_mask
from assayer.blinding.identifying_sections import reference_lists
from assayer.text.headings import find_headings
from orchestrator.access.roles import MemberId

__all__ = ["FoundConflict", "Interest", "found_conflicts"]

_WORD = re.compile(r"[^\W_]+")
_AROUND = 60
"""Characters of the proposal that are shown as reason."""


class Interest(NamedTuple):
    """A reviewer, as a proposal may name them."""

    member: MemberId
    name: str
    affiliation: str
    """Institutions, separated by semicolons."""


class FoundConflict(NamedTuple):
    member: MemberId
    source: Literal["name", "affiliation"]
    words: str
    """Of the proposal."""


class _Words(NamedTuple):
    """A text as its words alone, and where each begins."""

    joined: str
    starts: list[int]
    text: str

    def place(self, phrase: str) -> int | None:
        """Where in the text a phrase of whole words begins."""
        at = self.joined.find(f" {phrase} ") if phrase else -1
        return None if at < 0 else self.starts[self.joined.count(" ", 0, at)]


def found_conflicts(title: str, text: str, people: Sequence[Interest]) -> Iterator[FoundConflict]:
    """At most one for each person: by name where there is one, else by institution."""
    spans, _ = spans_to_mask(text, title)
    told = _words(" \n ".join(text[span.start : span.end] for span in spans))
    lists = reference_lists(text, find_headings(text))
    anywhere = _words(f"{title}\n{_without(text, lists)}")
    for person in people:
        full, short = _names(person.name)
        found = next(_places(anywhere, full), None) or next(_places(told, short), None)
        if found is not None:
            yield FoundConflict(person.member, "name", found)
            continue
        institutions = [_phrase(one) for one in person.affiliation.split(";")]
        found = next(_places(told, institutions), None)
        if found is not None:
            yield FoundConflict(person.member, "affiliation", found)


def _names(name: str) -> tuple[list[str], list[str]]:
    """How a full name may be written, and how with initials. A single word is no full name: too many have it."""
    parts = _phrase(name).split()
    if len(parts) < 2:
        return [], []
    given, family = parts[:-1], parts[-1]
    full = [" ".join(parts), f"{family} {' '.join(given)}", f"{given[0]} {family}", f"{family} {given[0]}"]
    initials = [one[0] for one in given]
    return full, [
        f"{' '.join(initials)} {family}",
        f"{family} {' '.join(initials)}",
        f"{initials[0]} {family}",
        f"{family} {initials[0]}",
    ]


def _places(words: _Words, phrases: Sequence[str]) -> Iterator[str]:
    for phrase in phrases:
        at = words.place(phrase)
        if at is not None:
            yield " ".join(words.text[max(0, at - _AROUND) : at + _AROUND].split())


def _words(text: str) -> _Words:
    matches = list(_WORD.finditer(text))
    folded = [_folded(match[0]) for match in matches]
    return _Words(f" {' '.join(folded)} ", [match.start() for match in matches], text)


def _phrase(text: str) -> str:
    return " ".join(_folded(word) for word in _WORD.findall(text))


def _folded(word: str) -> str:
    """Without accents and case. One word stays one."""
    plain = unicodedata.normalize("NFKD", word)
    return "".join(one for one in plain if not unicodedata.combining(one) and not one.isspace()).casefold()


def _without(text: str, stretches: Sequence[tuple[int, int]]) -> str:
    kept, at = [], 0
    for start, end in sorted(stretches):
        kept.append(text[at:start])
        at = max(at, end)
    return "\n".join([*kept, text[at:]])
