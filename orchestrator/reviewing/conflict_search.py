"""Conflicts of interest found in a proposal's words: the reviewer's name or address, or their institution.

Searched is what says whose the proposal is: the lines and phrases that blind mode masks. Full names are searched
everywhere but in lists of references, also with middle names of which the reviewer has told none: who is cited has no
conflict. What these rules miss, people declare.

One pass over a text's words tells which phrases of all reviewers could stand in it; headings and masks, which take a
hundred times as long, are worked out only for the few texts in which one does.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from assayer.blinding.blind import spans_to_mask
from assayer.blinding.identifying_sections import reference_lists
from assayer.text.headings import find_headings
from orchestrator.access.roles import MemberId
from orchestrator.reviewing.institutions import InstitutionName, institution_name, normalised, places_of

__all__ = ["ConflictSearch", "FoundConflict", "Interest"]

_WORD = re.compile(r"[^\W_]+")
_MIDDLE_NAMES = 2
_IN_A_NAME = re.compile(r"\.?[ \t\u00a0]*[-–]?[ \t\u00a0]*\n?[ \t\u00a0]*")
"""What stands between the words of one name, a full stop after an initial alone. A comma parts two."""
_AROUND = 60
"""Characters of the proposal that are shown as reason."""


class Interest(NamedTuple):
    """A reviewer, as a proposal may name them."""

    member: MemberId
    name: str
    affiliation: str
    """Institutions, separated by semicolons."""
    email: str = ""


class FoundConflict(NamedTuple):
    member: MemberId
    source: Literal["name", "affiliation"]
    """By name is by address too."""
    words: str
    """Of the proposal."""


class _Phrases(NamedTuple):
    """How a reviewer may be named."""

    person: Interest
    full: tuple[str, ...]
    initials: tuple[str, ...]
    institutions: tuple[str, ...]
    universities: tuple[InstitutionName, ...]
    apart: tuple[str, str] | None
    """Given name and family name, between which middle names may stand."""
    address: re.Pattern[str] | None


class _Words:
    """A text as its words alone."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.matches = list(_WORD.finditer(text))
        self.folded = [_folded(one.group()) for one in self.matches]
        self.joined = f" {' '.join(self.folded)} "

    def place(self, phrase: str) -> int | None:
        """Where in the text a phrase of whole words begins."""
        at = self.joined.find(f" {phrase} ")
        if at < 0:
            return None
        return self.matches[self.joined.count(" ", 0, at)].start()

    def around_middle_names(self, first: str, family: str) -> int | None:
        """Where a name begins in which one or two others stand between these: words with a capital, or initials, and
        nothing else. Of initials all are."""
        for at, word in enumerate(self.folded):
            if word != first:
                continue
            for last in range(at + 2, min(at + 2 + _MIDDLE_NAMES, len(self.folded))):
                names = self.matches[at : last + 1]
                if self.folded[last] == family and self._is_name(names, initials=len(first) == 1):
                    return names[0].start()
        return None

    def _is_name(self, words: Sequence[re.Match[str]], *, initials: bool) -> bool:
        for one, next in pairwise(words):
            gap = self.text[one.end() : next.start()]
            if not _IN_A_NAME.fullmatch(gap) or (gap.startswith(".") and len(one.group()) > 1):
                return False
        middle = [one.group() for one in words[1:-1]]
        return all(one[0].isupper() and (len(one) == 1 or not initials) for one in middle)


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
        whole = _Words(f"{title}\n{text}")
        named = self._named(whole)
        known = frozenset(whole.folded)
        same = frozenset(map(normalised, known)) if any(who.universities for who in self._people) else frozenset()
        anywhere: _Words | None = None
        told: list[_Words] | None = None
        for who in self._people:
            if who.address is not None and (place := who.address.search(whole.text)):
                yield FoundConflict(who.person.member, "name", _words_around(whole.text, place.start()))
                continue
            apart = who.apart is not None and known.issuperset(who.apart)
            if apart or not named.isdisjoint(who.full):
                anywhere = anywhere or _Words(f"{title}\n{_without(text, reference_lists(text, find_headings(text)))}")
                if words := _first([anywhere], who.full) or (apart and _apart([anywhere], who.apart)):
                    yield FoundConflict(who.person.member, "name", words)
                    continue
            initials = who.apart and (who.apart[0][0], who.apart[1])
            might = bool(initials) and known.issuperset(initials or ()) and bool(_apart([whole], initials))
            universities = [
                one for one in who.universities if same.issuperset(one.words) and _of_university([whole], [one])
            ]
            if not might and not universities and named.isdisjoint((*who.initials, *who.institutions)):
                continue
            if told is None:
                told = [_Words(text[span.start : span.end]) for span in spans_to_mask(text, title)[0]]
            if words := _first(told, who.initials) or _apart(told, initials):
                yield FoundConflict(who.person.member, "name", words)
            elif words := _first(told, who.institutions) or _of_university(told, universities):
                yield FoundConflict(who.person.member, "affiliation", words)

    def _named(self, words: _Words) -> Set[str]:
        """Phrases that stand anywhere in a text."""
        known = self._by_word.keys() & set(words.folded)
        return {phrase for word in known for phrase in self._by_word[word] if f" {phrase} " in words.joined}


def _phrases(person: Interest) -> _Phrases:
    full, initials = _names(person.name)
    institutions = (_phrase(one) for one in person.affiliation.split(";"))
    universities = (institution_name(_phrase(one).split()) for one in person.affiliation.split(";"))
    parts = _phrase(person.name).split()
    return _Phrases(
        person,
        full,
        initials,
        tuple(one for one in institutions if one),
        tuple(one for one in universities if one),
        (parts[0], parts[-1]) if len(parts) > 1 else None,
        _address(person.email),
    )


def _address(email: str) -> re.Pattern[str] | None:
    """As a whole: no other address ends or begins with it."""
    if "@" not in email.strip("@"):
        return None
    return re.compile(rf"(?<![\w.+-]){re.escape(email)}(?![\w-]|\.\w)", re.IGNORECASE)


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
                return _words_around(words.text, at)
    return ""


def _apart(texts: Sequence[_Words], name: tuple[str, str] | None) -> str:
    """The words around a name with others in its middle; empty where there is none."""
    for words in texts if name else ():
        at = words.around_middle_names(*name) if name else None
        if at is not None:
            return _words_around(words.text, at)
    return ""


def _of_university(texts: Sequence[_Words], names: Sequence[InstitutionName]) -> str:
    for name in names:
        for words in texts:
            at = next(places_of(name, words.text, words.matches, _folded), None)
            if at is not None:
                return _words_around(words.text, at)
    return ""


def _words_around(text: str, at: int) -> str:
    return " ".join(text[max(0, at - _AROUND) : at + _AROUND].split())


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
