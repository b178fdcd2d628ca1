"""Search for conflicts of interest in a proposal's text: the name, the email address or an institution of a reviewer,
and the names of people close to a reviewer: those whom the reviewer declared, and co-authors.

Names with initials, institutions and people close to a reviewer are searched for only in the lines and phrases that
blind mode masks, because these identify the applicant. Full names, with or without middle names, are searched for
everywhere except in lists of references, because citing a person is not a conflict. Members declare the conflicts that
these rules miss.

A single pass over the words of a text finds the phrases of all reviewers that occur in it. The masked lines and
phrases, which take a hundred times as long to determine, are determined only for the few texts with such a phrase."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, NamedTuple

from assayer.blinding.blind import spans_to_mask
from orchestrator.access.roles import MemberId
from orchestrator.reviewing.institutions import (
    InstitutionName,
    find_institution,
    normalise_word,
    parse_institution_name,
)

_WORD = re.compile(r"[^\W_]+")
_MAX_MIDDLE_NAMES = 2
_NAME_GAP = re.compile(r"\.?[ \t\u00a0]*[-–]?[ \t\u00a0]*\n?[ \t\u00a0]*")
"""Pattern of the text allowed between two words of a name. A full stop is allowed only after an initial; a comma
separates two names."""
_CONTEXT_CHARS = 60
"""Number of characters before and after the start of a match that are shown as the reason."""


class ReviewerDetails(NamedTuple):
    """A reviewer, with the details that identify the reviewer in a proposal."""

    member: MemberId
    name: str
    affiliation: str
    """Institutions of the reviewer, separated by semicolons."""
    email: str = ""
    people: Sequence[str] = ()
    """Names of people with whom the reviewer declared a close relationship."""
    coauthors: Mapping[str, str] = MappingProxyType({})
    """Names of co-authors, with the title of a common paper."""


class FoundConflict(NamedTuple):
    member: MemberId
    source: Literal["name", "affiliation", "person", "coauthor"]
    """Detail of the reviewer that the proposal mentions. `name` includes the email address."""
    words: str
    """Words of the proposal around the match."""


class _Phrases(NamedTuple):
    """Phrases that identify a reviewer in a proposal."""

    details: ReviewerDetails
    full: tuple[str, ...]
    initials: tuple[str, ...]
    institutions: tuple[str, ...]
    universities: tuple[InstitutionName, ...]
    first_and_family: tuple[str, str] | None
    """First name and family name, between which middle names are allowed."""
    address: re.Pattern[str] | None


class _Words:
    """Words of a text, with their positions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.matches = list(_WORD.finditer(text))
        self.folded = [_fold(match.group()) for match in self.matches]
        self.joined = f" {' '.join(self.folded)} "

    def find_phrase(self, phrase: str) -> int | None:
        """Return the position in the text at which a phrase of whole words begins; None if it does not occur."""
        offset = self.joined.find(f" {phrase} ")
        if offset < 0:
            return None
        return self.matches[self.joined.count(" ", 0, offset)].start()

    def find_with_middle_names(self, first: str, family: str) -> int | None:
        """Return the position of a name with one or two middle names between `first` and `family`; None if it does not
        occur. Middle names are capitalised words or initials; if `first` is an initial, all of them must be initials.
        """
        for start, word in enumerate(self.folded):
            if word != first:
                continue
            for last in range(start + 2, min(start + 2 + _MAX_MIDDLE_NAMES, len(self.folded))):
                names = self.matches[start : last + 1]
                if self.folded[last] == family and self._is_name(names, initials=len(first) == 1):
                    return names[0].start()
        return None

    def _is_name(self, words: Sequence[re.Match[str]], *, initials: bool) -> bool:
        for word, next_word in pairwise(words):
            gap = self.text[word.end() : next_word.start()]
            if not _NAME_GAP.fullmatch(gap) or (gap.startswith(".") and len(word.group()) > 1):
                return False
        middle = [word.group() for word in words[1:-1]]
        return all(name[0].isupper() and (len(name) == 1 or not initials) for name in middle)


class _ProposalWords:
    """Words of a proposal. `identifying` takes by far the longest, and few proposals need it."""

    def __init__(self, title: str, text: str, other_texts: Sequence[str]) -> None:
        self._title, self._text, self._other_texts = title, text, other_texts
        self.all = _Words("\n".join((title, text, *other_texts)))
        self.folded = frozenset(self.all.folded)

    @cached_property
    def normalised(self) -> frozenset[str]:
        return frozenset(map(normalise_word, self.folded))

    @cached_property
    def identifying(self) -> list[_Words]:
        """The words that identify the applicant: the texts outside the proposal's own, and the passages that blind mode
        masks in it."""
        masked = (self._text[span.start : span.end] for span in spans_to_mask(self._text, self._title)[0])
        return [_Words(words) for words in (*self._other_texts, *masked)]


class ConflictSearch:
    """Search for conflicts of interest of a given set of reviewers in any number of proposals."""

    def __init__(self, people: Sequence[ReviewerDetails]) -> None:
        self._reviewers = [_build_phrases(person) for person in people]
        self._by_word = defaultdict[str, list[str]](list)
        """Phrases by their longest word."""
        for phrase in {
            phrase
            for reviewer in self._reviewers
            for phrase in (*reviewer.full, *reviewer.initials, *reviewer.institutions)
        }:
            self._by_word[max(phrase.split(), key=len)].append(phrase)
        self._relations = defaultdict[str, list[tuple[ReviewerDetails, str]]](list)
        """Reviewers by the phrases that name a person close to them, with the person's stored name."""
        for person in people:
            for name in dict.fromkeys((*person.people, *person.coauthors)):
                for phrase in dict.fromkeys(_spell_name(name)[0]):
                    self._relations[phrase].append((person, name))
        for phrase in self._relations.keys() - {searched for phrases in self._by_word.values() for searched in phrases}:
            self._by_word[max(phrase.split(), key=len)].append(phrase)

    def list_word_sets(self) -> set[frozenset[str]]:
        """Return sets of words (see `extract_words`); a text with a conflict contains at least one set completely."""
        phrases = [phrase.split() for phrases_of_word in self._by_word.values() for phrase in phrases_of_word]
        universities = [university.words for reviewer in self._reviewers for university in reviewer.universities]
        addresses = [
            _normalise_phrase(reviewer.details.email).split()
            for reviewer in self._reviewers
            if reviewer.address is not None
        ]
        return {frozenset(words) for words in (*phrases, *universities, *addresses)}

    def find_conflicts(self, title: str, text: str, other_texts: Sequence[str] = ()) -> Iterator[FoundConflict]:
        """Yield at most one conflict for each reviewer: by the reviewer's name, otherwise by institution, otherwise by
        the name of a person close to the reviewer. `text` must not include the list of references, because citing a
        person is not a conflict. `other_texts` contains text that identifies the applicant but is not part of `text`:
        fields above it, and masked words."""
        words = _ProposalWords(title, text, other_texts)
        phrases_found = self._find_phrases(words.all)
        found_members = set[MemberId]()
        for reviewer in self._reviewers:
            if conflict := _find_reviewer(reviewer, words, phrases_found):
                found_members.add(conflict.member)
                yield conflict
        for phrase in sorted(phrases_found & self._relations.keys()):
            if quote := _quote_phrase(words.identifying, (phrase,)):
                for person, name in self._relations[phrase]:
                    if person.member not in found_members:
                        found_members.add(person.member)
                        yield _build_relation_conflict(person, name, quote)

    def _find_phrases(self, words: _Words) -> Set[str]:
        """Return the phrases that occur in a text."""
        first_words = self._by_word.keys() & set(words.folded)
        return {phrase for word in first_words for phrase in self._by_word[word] if f" {phrase} " in words.joined}


def extract_words(text: str) -> set[str]:
    """Return the words of a text without case and accents, and their forms normalised as in names of universities."""
    folded = {_fold(word) for word in set(_WORD.findall(text))}
    return folded | set(map(normalise_word, folded))


def _find_reviewer(reviewer: _Phrases, words: _ProposalWords, phrases_found: Set[str]) -> FoundConflict | None:
    """Return the conflict by a reviewer's name, otherwise by institution; None if the proposal mentions neither."""
    everywhere, member = [words.all], reviewer.details.member
    if reviewer.address is not None and (match := reviewer.address.search(words.all.text)):
        return FoundConflict(member, "name", _quote_around(words.all.text, match.start()))
    names = reviewer.first_and_family
    may_have_middle_names = names is not None and words.folded.issuperset(names)
    if (may_have_middle_names or not phrases_found.isdisjoint(reviewer.full)) and (
        quote := _quote_phrase(everywhere, reviewer.full)
        or (may_have_middle_names and _quote_with_middle_names(everywhere, names))
    ):
        return FoundConflict(member, "name", quote)
    initials = None if names is None else (names[0][0], names[1])
    matches_initials = words.folded.issuperset(initials or ()) and _quote_with_middle_names(everywhere, initials)
    universities = [
        university
        for university in reviewer.universities
        if words.normalised.issuperset(university.words) and _quote_university(everywhere, [university])
    ]
    phrases = (*reviewer.initials, *reviewer.institutions)
    if not matches_initials and not universities and phrases_found.isdisjoint(phrases):
        return None
    if quote := _quote_phrase(words.identifying, reviewer.initials) or _quote_with_middle_names(
        words.identifying, initials
    ):
        return FoundConflict(member, "name", quote)
    if quote := _quote_phrase(words.identifying, reviewer.institutions) or _quote_university(
        words.identifying, universities
    ):
        return FoundConflict(member, "affiliation", quote)
    return None


def _build_relation_conflict(person: ReviewerDetails, name: str, words: str) -> FoundConflict:
    if name in person.people:
        return FoundConflict(person.member, "person", f"{name}, declared by the reviewer: {words}")
    paper = f"{name}, co-author of “{person.coauthors[name]}”: {words}"
    return FoundConflict(person.member, "coauthor", paper)


def _build_phrases(person: ReviewerDetails) -> _Phrases:
    full, initials = _spell_name(person.name)
    institutions = (_normalise_phrase(part) for part in person.affiliation.split(";"))
    universities = (parse_institution_name(_normalise_phrase(part).split()) for part in person.affiliation.split(";"))
    parts = _normalise_phrase(person.name).split()
    return _Phrases(
        person,
        full,
        initials,
        tuple(institution for institution in institutions if institution),
        tuple(university for university in universities if university),
        (parts[0], parts[-1]) if len(parts) > 1 else None,
        _build_address_pattern(person.email),
    )


def _build_address_pattern(email: str) -> re.Pattern[str] | None:
    """Return a pattern that matches the address, but not as a part of a longer address; None if the text is not an
    address."""
    if "@" not in email.strip("@"):
        return None
    return re.compile(rf"(?<![\w.+-]){re.escape(email)}(?![\w-]|\.\w)", re.IGNORECASE)


def _spell_name(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the spellings of a full name, and the spellings with initials. A single word has none, because too many
    people share it."""
    parts = _normalise_phrase(name).split()
    if len(parts) < 2:
        return (), ()
    first_names, family = parts[:-1], parts[-1]
    full = (
        " ".join(parts),
        f"{family} {' '.join(first_names)}",
        f"{first_names[0]} {family}",
        f"{family} {first_names[0]}",
    )
    initials = [first_name[0] for first_name in first_names]
    return full, (
        f"{' '.join(initials)} {family}",
        f"{family} {' '.join(initials)}",
        f"{initials[0]} {family}",
        f"{family} {initials[0]}",
    )


def _quote_phrase(texts: Sequence[_Words], phrases: Sequence[str]) -> str:
    """Return the words around the first phrase that occurs in any of the texts; empty if none occurs."""
    return _quote_first((words, words.find_phrase(phrase)) for phrase in phrases for words in texts)


def _quote_with_middle_names(texts: Sequence[_Words], name: tuple[str, str] | None) -> str:
    """Return the words around a name with middle names; empty if the name does not occur."""
    return _quote_first((words, words.find_with_middle_names(*name)) for words in texts) if name else ""


def _quote_university(texts: Sequence[_Words], names: Sequence[InstitutionName]) -> str:
    return _quote_first(
        (words, next(find_institution(name, words.text, words.matches, _fold), None))
        for name in names
        for words in texts
    )


def _quote_first(positions: Iterable[tuple[_Words, int | None]]) -> str:
    """Return the words around the first position that is not None; empty if there is none."""
    return next((_quote_around(words.text, position) for words, position in positions if position is not None), "")


def _quote_around(text: str, position: int) -> str:
    """Return the whole words around a position, with an ellipsis where text was cut off."""
    start, end = max(0, position - _CONTEXT_CHARS), position + _CONTEXT_CHARS
    words = text[start:end].split()
    if start:
        words[0] = "…"
    if end < len(text):
        words[-1] = "…"
    return " ".join(words)


def _normalise_phrase(text: str) -> str:
    return " ".join(_fold(word) for word in _WORD.findall(text))


@lru_cache(maxsize=50_000)
def _fold(word: str) -> str:
    """Return a word without accents and case. The result never contains a space, so that it remains a single word."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word)
    return "".join(
        character for character in plain if not unicodedata.combining(character) and not character.isspace()
    ).casefold()
