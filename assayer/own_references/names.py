"""Decide whether names in a reference list and in a record could belong to the same person or organisation."""

import re
from collections.abc import Callable

from rapidfuzz import fuzz

from assayer.literature.paper_identity import extract_family_name
from assayer.reference_lists.entry_shape import ORGANISATION, UNREADABLE
from assayer.text.folding import fold_text, german_folded, pinyin_folded

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_PARTS = 4
"""Maximum words in a family name: `Van der Linden`."""
_LONG = 6
"""Minimum number of letters in a family name for a misprint or variant spelling (`Müller`, `Mueller`) to be tolerated.
"""
_LONGEST = 100
"""Maximum number of letters in a family name that is compared for misprints, which takes time in proportion to both."""
_MISSPELT = 85.0
"""Minimum similarity (0 to 100) for two long family names to count as the same: `Hinton` and `Linton` score 83."""
_ACRONYM = re.compile(
    r"(?!(?:Ma?c|De|Di|Du|La|Le|Van|Von|Fitz)[A-Z][a-z]+$)[A-Z][A-Za-z]*[A-Z][A-Za-z0-9]*|[A-Z]{2,10}"
)
_SMALL = re.compile(r"\b(?:of|the|for|and|on|in|at|de|des|du|la|le|für|der|die|und)\b", re.IGNORECASE)
_GROUP_WORDS = re.compile(r"\b(?:the|collab(?:oration)?|consortium|group|team|authors)\b\.?", re.IGNORECASE)
_FOLDS = (fold_text, german_folded, pinyin_folded)
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")


def is_group(author: str) -> bool:
    """Return whether an author is an organisation or collaboration: `NOVEX Collaboration`, `WHO`, `OpenAI`."""
    words = author.split()
    return bool(ORGANISATION.search(author)) or (len(words) == 1 and _ACRONYM.fullmatch(words[0]) is not None)


def are_comparable(author: str, other: str) -> bool:
    """Return whether both names are in Latin letters or both are not, and all letters have a meaning. The same name in
    two scripts would share no letters."""
    if UNREADABLE.search(author) or UNREADABLE.search(other):
        return False
    return bool(_LATIN.search(author)) == bool(_LATIN.search(other))


def is_named_in(author: str, text: str) -> bool:
    """Return whether the family name appears in the text as whole words: `Li` does not match inside `Oliver`."""
    return not _families(author).isdisjoint(_keys(text))


def names_may_match(author: str, other: str) -> bool:
    """Return whether either family name appears in the other name, the family names differ only by a typo, or both
    names refer to the same organisation."""
    if is_group(author) and is_group(other):
        return _is_same_group(author, other)
    if is_named_in(author, other) or is_named_in(other, author) or _is_same_group(author, other):
        return True
    ours, theirs = _key(extract_family_name(author)), _key(extract_family_name(other))
    shorter, longer = sorted((len(ours), len(theirs)))
    return shorter >= _LONG and longer <= _LONGEST and fuzz.ratio(ours, theirs) >= _MISSPELT


def _is_same_group(author: str, other: str) -> bool:
    """Return whether both names refer to the same organisation: one name has all words of the other, or is the other's
    acronym."""
    names = [" ".join(_GROUP_WORDS.sub(" ", name).replace(".", " ").split()) for name in (author, other)]
    ours, theirs = (frozenset(map(_key, name.split())) for name in names)
    if _key(names[0]) == _key(names[1]) or (
        is_group(author) and is_group(other) and (ours <= theirs or theirs <= ours)
    ):
        return bool(ours and theirs)
    pairs = ((author, other), (other, author))
    if any(_is_inverted_group(*pair) or _is_group_in_initials(*pair) for pair in pairs):
        return True
    initials = ["".join(word[0] for word in _SMALL.sub(" ", name).split()).upper() for name in names]
    return any(
        short.isupper() and len(short) >= 2 and " " not in short and short == long
        for short, long in ((names[0], initials[1]), (names[1], initials[0]))
    )


def _is_inverted_group(short: str, long: str) -> bool:
    """Return whether a name is that of an organisation read as a person's: `Organization WH`, `Organization, W. H.`"""
    words = re.findall(r"\w+", short)
    if not words:
        return False
    family, *initials = words
    others = [word for word in long.split() if _key(word) != _key(family)] if initials else []
    found = len(others) + 1 == len(long.split()) and "".join(word[0] for word in others).upper()
    return found == "".join(initials).upper() != ""


def _is_group_in_initials(short: str, long: str) -> bool:
    """Return whether a name is that of a group whose first words were read as given names: `T. P. O. Consortium` for
    `Post Office Consortium`."""
    parts, others = re.findall(r"\w+", short), _SMALL.sub(" ", long).split()
    if not parts or not others:
        return False
    (*first, last), (*words, end) = parts, others
    initials = "".join(word[0] for word in words).upper()
    shortened = "".join(first) if all(len(word) == 1 for word in first) else ""
    return bool(initials) and _key(last) == _key(end) and shortened in (initials, f"T{initials}")


def _families(author: str) -> set[str]:
    """Return the keys of the family name, with and without particles, and of the last word, because a last word in
    capitals (`RUI GAO`) can be mistaken for initials. Umlauts are folded in all ways."""
    family = extract_family_name(author)
    last = [word for word in author.split()[-1:] if len(word.rstrip(".")) > 2]
    bare = [word for word in family.split()[-1:] if family[:1].islower()]
    return {_key(name, fold) for name in (family, *bare, *last) for fold in _FOLDS} - {""}


def _keys(text: str) -> set[str]:
    """Return the keys of all words and of joined neighbouring words, so that `Le Cun` and `LeCun` match. Umlauts are
    folded in all ways."""
    found = set[str]()
    for fold in _FOLDS:
        words = [_key(word, fold) for word in _WORD.findall(text)]
        found |= {"".join(words[start : start + n]) for start in range(len(words)) for n in range(1, _PARTS + 1)}
    return found


def _key(name: str, fold: Callable[[str], str] = fold_text) -> str:
    return "".join(letter for letter in fold(name) if letter.isalnum())
