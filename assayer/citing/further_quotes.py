"""Add further quotes from a paper to a claim: one quote seldom covers two findings, or a finding and its number.

The claim's words that the first quote lacks are searched for, first in other quotes on the same side, then in the
sentences shown from the paper. Shared words do not prove support: the support check decides which quotes are kept."""

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from assayer.citing.evidence import Evidence, Quoted, check_quote
from assayer.citing.labels import MARKER, parse_marker
from assayer.models import PaperId
from assayer.text.content_words import is_grammar
from assayer.text.sentences import sentences
from assayer.text.stems import stems

MAX_FURTHER_QUOTES = 2
"""Maximum number of quotes besides the first."""
MIN_ADDED_WORDS = 3
"""Minimum number of the claim's words that a further quote must add; a number with several digits counts as two."""
MAX_SENTENCE_WORDS = 60
"""Maximum number of words in a sentence that is used as a quote."""
_MAX_TRIED = 3
"""Maximum number of candidate sentences that are verified."""
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]{3,}")


class _Sentence(NamedTuple):
    text: str
    words: frozenset[str]


def find_further_quotes(
    claim: str, paper: PaperId, first_quote: str, given_quotes: Sequence[Quoted], evidence: Evidence | None
) -> tuple[Quoted, ...]:
    """Return further quotes from a paper for a claim that cites it by a marker. `first_quote` is the claim's verified
    quote from the paper."""
    missing_stems = stem_words(_select_citing_sentences(claim, paper)) - stem_words(first_quote)
    further_quotes: list[Quoted] = []
    while len(further_quotes) < MAX_FURTHER_QUOTES:
        best = _choose_given_quote(given_quotes, missing_stems) or (
            _choose_shown_sentence(evidence, missing_stems) if evidence else None
        )
        if best is None:
            break
        further_quotes.append(best)
        missing_stems -= stem_words(best.words)
    return tuple(further_quotes)


@lru_cache(maxsize=1_024)
def stem_words(text: str) -> frozenset[str]:
    """Return the stems of a text's content words, and its numbers. Cached because the same quotes are compared with
    many claims."""
    return _compute_stems(text)


def _compute_stems(text: str) -> frozenset[str]:
    words = [item.replace(",", "") if item[0].isdigit() else item for item in _WORD.findall(text.casefold())]
    return frozenset(stems([word for word in words if not is_grammar(word)]))


def _select_citing_sentences(claim: str, paper: PaperId) -> str:
    """Return the claim's sentences that cite the paper, without citation markers; if there are none, the whole
    claim."""
    citing_sentences = [
        sentence
        for sentence in sentences(claim, min_words=1)
        if any(parse_marker(marker) == paper for marker in MARKER.findall(sentence))
    ]
    return MARKER.sub(" ", " ".join(citing_sentences) or claim)


def _weigh_words(words: Set[str]) -> int:
    return sum(2 if word[0].isdigit() and len(word) > 1 else 1 for word in words)


def _choose_given_quote(given_quotes: Sequence[Quoted], missing_stems: Set[str]) -> Quoted | None:
    verified_quotes = [item for item in given_quotes if item.state == "verified"]
    best = max(verified_quotes, key=lambda item: _weigh_words(missing_stems & stem_words(item.words)), default=None)
    return best if best and _weigh_words(missing_stems & stem_words(best.words)) >= MIN_ADDED_WORDS else None


def _choose_shown_sentence(evidence: Evidence, missing_stems: Set[str]) -> Quoted | None:
    """Return the best quotable sentence from the paper's text as shown, or None. Titles, short sentences and sentences
    negated by their context are not quotable."""
    weighted_sentences = (
        (_weigh_words(missing_stems & sentence.words), sentence.text) for sentence in _split_sentences(evidence.text)
    )
    useful_sentences = [(weight, text) for weight, text in weighted_sentences if weight >= MIN_ADDED_WORDS]
    for _, text in sorted(useful_sentences, key=lambda item: -item[0])[:_MAX_TRIED]:
        quoted = check_quote(text, evidence)
        if quoted is not None and quoted.state == "verified":
            return quoted
    return None


@lru_cache(maxsize=256)
def _split_sentences(text: str) -> tuple[_Sentence, ...]:
    """Split a text into sentences with their stems. Cached because many claims cite the same papers."""
    return tuple(
        _Sentence(sentence, _compute_stems(sentence))
        for sentence in sentences(text)
        if len(sentence.split()) <= MAX_SENTENCE_WORDS
    )
