"""More of a paper's words beside a claim: one quote seldom carries two findings, or a finding with its number.

What the first quote lacks of the claim is sought in other quotes given for the same side, then in the sentences of what
was shown of the paper. Choosing by words says nothing of support: which of them the claim keeps, its check decides.
"""

import re
from collections.abc import Sequence, Set
from functools import cache, lru_cache
from typing import NamedTuple

import Stemmer

from assayer.citing.evidence import Evidence, Quoted, check_quote
from assayer.citing.labels import MARKER, paper_of
from assayer.models import PaperId
from assayer.text.content_words import is_grammar
from assayer.text.sentences import sentences

__all__ = ["MOST_FURTHER", "further_quotes", "said_words"]

MOST_FURTHER = 2
"""Quotes beside the first."""
LEAST_GAINED = 3
"""Words of the claim that a further quote brings; a number of several digits counts as two."""
LONGEST = 60
"""Words of a sentence."""
_TRIED = 3
"""Sentences that may turn out to be no quote before the search is given up."""
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]{3,}")


class _Sentence(NamedTuple):
    text: str
    words: frozenset[str]


def further_quotes(
    claim: str, paper: PaperId, first: str, given: Sequence[Quoted], shown: Evidence | None
) -> tuple[Quoted, ...]:
    """For a claim that cites by markers; `first` is its verified quote of the paper."""
    lacking = said_words(_said_of(claim, paper)) - said_words(first)
    found: list[Quoted] = []
    while len(found) < MOST_FURTHER:
        best = _best_given(given, lacking) or (_best_shown(shown, lacking) if shown else None)
        if best is None:
            break
        found.append(best)
        lacking -= said_words(best.words)
    return tuple(found)


@lru_cache(maxsize=1_024)
def said_words(text: str) -> frozenset[str]:
    """Stems of its words of content, and its numbers. The same quotes are held against many claims."""
    return _stems(text)


def _stems(text: str) -> frozenset[str]:
    words = [one.replace(",", "") if one[0].isdigit() else one for one in _WORD.findall(text.casefold())]
    return frozenset(_stemmer().stemWords([one for one in words if not is_grammar(one)]))


def _said_of(claim: str, paper: PaperId) -> str:
    """The sentences that cite the paper, without what stands for citations."""
    here = [
        one for one in sentences(claim, min_words=1) if any(paper_of(found) == paper for found in MARKER.findall(one))
    ]
    return MARKER.sub(" ", " ".join(here) or claim)


def _weight(words: Set[str]) -> int:
    return sum(2 if one[0].isdigit() and len(one) > 1 else 1 for one in words)


def _best_given(given: Sequence[Quoted], lacking: Set[str]) -> Quoted | None:
    verified = [one for one in given if one.state == "verified"]
    best = max(verified, key=lambda one: _weight(lacking & said_words(one.words)), default=None)
    return best if best and _weight(lacking & said_words(best.words)) >= LEAST_GAINED else None


def _best_shown(shown: Evidence, lacking: Set[str]) -> Quoted | None:
    """As the paper may be quoted: not from under a negation, no title, not too short."""
    weighed = ((_weight(lacking & one.words), one.text) for one in _sentences(shown.text))
    worth = [(weight, text) for weight, text in weighed if weight >= LEAST_GAINED]
    for _, text in sorted(worth, key=lambda one: -one[0])[:_TRIED]:
        quoted = check_quote(text, shown)
        if quoted is not None and quoted.state == "verified":
            return quoted
    return None


@lru_cache(maxsize=256)
def _sentences(text: str) -> tuple[_Sentence, ...]:
    """Kept, as the same papers are cited by many claims."""
    return tuple(_Sentence(one, _stems(one)) for one in sentences(text) if len(one.split()) <= LONGEST)


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")
