"""Select the text from which the references of an idea judged blind are read, and the names not used in lookups."""

import re
from collections.abc import Set
from typing import NamedTuple, TypeAlias

from assayer.models import Idea

MaskedNames: TypeAlias = Set[tuple[str, ...]]
"""Set of names, each split into words without punctuation: `Roe, J.` is `("Roe", "J")`."""
_WORD = re.compile(r"\w+")
_MAX_WORDS = 6


class KeptWords(NamedTuple):
    text: str
    """Text without the lines and sections that are cut. Names in the rest are kept, because authors distinguish works.
    """
    masked_names: MaskedNames


def keep_words(idea: Idea) -> KeptWords:
    """Return the words kept for reading references. For an idea judged as submitted, these are the whole text, with no
    masked names."""
    if idea.unblinded is None:
        return KeptWords(idea.text, frozenset())
    from assayer.blinding.blind import spans_to_mask
    from assayer.blinding.names import people_in
    from assayer.blinding.spans import apply

    text = idea.unblinded.text
    masked = [item.text for item in idea.blinding.masked if item.kind == "name"] if idea.blinding else []
    known = [person for name in masked for person in people_in(name)]
    spans, people = spans_to_mask(text, idea.unblinded.title, known)
    names = masked + [text[span.start : span.end] for span in spans if span.kind == "name" and not span.cut]
    names += [name for person in people for name in (person.full, person.family)]
    found = frozenset(words for name in names if len("".join(words := tuple(_WORD.findall(name)))) > 1)
    return KeptWords(apply(text, [span for span in spans if span.cut]), found)


def remove_names(words: str, names: MaskedNames, *, min_words: int = 1) -> str:
    """Return the words without the names, on one line. Names with fewer than `min_words` words stay, because a surname
    can be a word in a title."""
    tokens = list(_WORD.finditer(words)) if names else []
    kept, place, number = list[str](), 0, 0
    while number < len(tokens):
        most = min(_MAX_WORDS, len(tokens) - number)
        length = next(
            (
                n
                for n in range(most, min_words - 1, -1)
                if tuple(token[0] for token in tokens[number : number + n]) in names
            ),
            0,
        )
        if length:
            kept.append(words[place : tokens[number].start()])
            place = tokens[number + length - 1].end()
        number += length or 1
    return " ".join("".join([*kept, words[place:]]).split()).strip(" ,;:.&") if kept else words
