"""Conflicts of interest found in a proposal's words: the reviewer's name, or their institution.

Searched is what says whose the proposal is: the lines and phrases that blind mode masks. Full names are searched
everywhere but in lists of references: who is cited has no conflict. What these rules miss, people declare.

One pass over a text's words tells which phrases of all reviewers could stand in it; headings and masks, which take a
hundred times as long, are worked out only for the few texts in which one does.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from typing import Literal, NamedTuple

from assayer.blinding.blind import spans_to_mask
from assayer.blinding.identifying_sections import reference_lists
from assayer.text.headings import find_headings
from orchestrator.access.roles import MemberId

__all__ = ["ConflictSearch", "FoundConflict", "Interest"]

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


class _Phrases(NamedTuple):
    """How a reviewer may be named."""

    person: Interest
    full: tuple[str, ...]
    initials: tuple[str, ...]
    institutions: tuple[str, ...]


class _Words:
    """A text as its words alone."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = list(map(_folded, _WORD.findall(text)))
        self.joined = f" {' '.join(self.folded)} "

    def place(self, phrase: str) -> int | None:
        """Where in the text a phrase of whole words begins."""
        at = self.joined.find(f" {phrase} ")
        if at < 0:
            return None
        number = self.joined.count(" ", 0, at)
        return next(match.start() for place, match in enumerate(_WORD.finditer(self.text)) if place == number)


class ConflictSearch:
    """For some reviewers, in any number of proposals."""

    def __init__(self, people: Sequence[Interest]) -> None:
        self._people = [_phrases(person) for person in people]
        self._by_word = defaultdict[str, list[str]](list)
        """Phrases by their longest word."""
        for phrase in {one for who in self._people for one in (*who.full, *who.initials, *who.institutions)}:
            self._by_word[max(phrase.split(), key=len)].append(phrase)

    def found(self, title: str, text: str) -> Iterator[FoundConflict]:
        """At most one for each person: by name where there is one, else by institution."""
        named = self._named(_Words(f"{title}\n{text}"))
        if not named:
            return
        anywhere: _Words | None = None
        told: list[_Words] | None = None
        for who in self._people:
            if not named.isdisjoint(who.full):
                anywhere = anywhere or _Words(f"{title}\n{_without(text, reference_lists(text, find_headings(text)))}")
                if words := _first([anywhere], who.full):
                    yield FoundConflict(who.person.member, "name", words)
                    continue
            if named.isdisjoint((*who.initials, *who.institutions)):
                continue
            if told is None:
                told = [_Words(text[span.start : span.end]) for span in spans_to_mask(text, title)[0]]
            if words := _first(told, who.initials):
                yield FoundConflict(who.person.member, "name", words)
            elif words := _first(told, who.institutions):
                yield FoundConflict(who.person.member, "affiliation", words)

    def _named(self, words: _Words) -> Set[str]:
        """Phrases that stand anywhere in a text."""
        known = self._by_word.keys() & set(words.folded)
        return {phrase for word in known for phrase in self._by_word[word] if f" {phrase} " in words.joined}


def _phrases(person: Interest) -> _Phrases:
    full, initials = _names(person.name)
    institutions = (_phrase(one) for one in person.affiliation.split(";"))
    return _Phrases(person, full, initials, tuple(one for one in institutions if one))


def _names(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """How a full name may be written, and how with initials. A single word is no full name: too many have it."""
    parts = _phrase(name).split()
    if len(parts) < 2:
        return (), ()
    given, family = parts[:-1], parts[-1]
    full = (" ".join(parts), f"{family} {' '.join(given)}", f"{given[0]} {family}", f"{family} {given[0]}")
    initials = [one[0] for one in given]
    return full, (
        f"{' '.join(initials)} {family}",
        f"{family} {' '.join(initials)}",
        f"{initials[0]} {family}",
        f"{family} {initials[0]}",
    )


def _first(texts: Sequence[_Words], phrases: Sequence[str]) -> str:
    """The words around the first phrase that stands in one of the texts; empty where none does."""
    for phrase in phrases:
        for words in texts:
            at = words.place(phrase)
            if at is not None:
                return " ".join(words.text[max(0, at - _AROUND) : at + _AROUND].split())
    return ""


def _phrase(text: str) -> str:
    return " ".join(_folded(word) for word in _WORD.findall(text))


@lru_cache(maxsize=50_000)
def _folded(word: str) -> str:
    """Without accents and case. One word stays one."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word)
    return "".join(one for one in plain if not unicodedata.combining(one) and not one.isspace()).casefold()


def _without(text: str, stretches: Sequence[tuple[int, int]]) -> str:
    kept, at = [], 0
    for start, end in sorted(stretches):
        kept.append(text[at:start])
        at = max(at, end)
    return "\n".join([*kept, text[at:]])
