"""Signs that a masked text still names people."""

import re
from collections.abc import Iterator, Sequence

from assayer.blinding.mentions import SMALL_WORD, has_small_word
from assayer.blinding.names import LETTER, NAME, UPPER, Person, has_given_name, person_of
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import eponyms

_NAME = re.compile(rf"(?<![\w@/.-]){NAME}")
_CAPITALISED = re.compile(rf"(?<![\w-])[{UPPER}]{LETTER}+(?![\w-])")
_HEAD = 1_500
"""Characters in which an author block stands."""
_CITED = re.compile(
    rf"(?:(?:,|,? (?:and|&)) [{UPPER}][\w.’'-]+(?: [{UPPER}][\w.’'-]+){{0,2}}){{0,8}}(?: et al\.?)?,? [(\[]?(?:\d|n\.d)"
)


def names_may_remain(title: str, text: str, people: Sequence[Person]) -> bool:
    """Return whether no person was recognised, or the masked text still has words that look like the name of a person
    whom it does not cite."""
    if not people or known_names_remain(text, people):
        return True
    small = frozenset(SMALL_WORD.findall(text))
    return any(_looks_like_person(match, small) for part in (title, text) for match in _NAME.finditer(part))


def known_names_remain(text: str, people: Sequence[Person]) -> bool:
    """Return whether a masked text still has the family name of one of these people outside a citation."""
    families = {family for person in people if len(family := person.family.split(" ")[-1]) > 1}
    return any(match[0] in families and not _CITED.match(text, match.end()) for match in _CAPITALISED.finditer(text))


def verbatim(text: str, names: Sequence[str]) -> Iterator[MaskSpan]:
    """Yield the places outside citations where one of the names stands as it is."""
    for name in names:
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            if not _CITED.match(text, match.end()):
                yield MaskSpan(*match.span(), "name")


def _looks_like_person(match: "re.Match[str]", small: frozenset[str]) -> bool:
    person = person_of(match[0])
    if person is None or person.family in eponyms() or _CITED.match(match.string, match.end()):
        return False
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0]
    alone = match.start() < _HEAD and line.strip(" *_#") == match[0] and not has_small_word(person, small)
    return alone or (has_given_name(person) and not has_small_word(person, small))
