"""The support check without a language model: how many of a claim's words the quote has, and how near the two are.

It measures shared subject matter. It cannot tell a claim from its negation, a link from a cause or one group from
another, so it never says "contradicts"; what it is worth is measured in docs/quality/support.md.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple

import Stemmer

from assayer.claim_support.schemas import SupportAnswer, SupportItem, SupportQuestion, SupportVerdict
from assayer.ports import Embedder
from assayer.text.sentences import sentences

__all__ = ["Closeness", "closeness", "outcome_of", "said_here", "support_by_overlap"]

NEARNESS_WEIGHT = 0.25
"""Of the cosine; the rest weighs the share of the claim's words that the quote has."""
SUPPORTED_FROM = 0.48
PARTLY_FROM = 0.38
"""Closeness, fitted on one part of SciFact and Citation-Integrity and measured on another (docs/quality/support.md)."""
MOST_CARRIED = 40
"""Words of each quote that an answer repeats."""
MOST_PASSAGES = 2
"""Of an item: with every further one more words are shared, whatever they say."""
MOST_NAMED = 8
"""Words of the claim that are named as missing."""

_HERE = "[this source]"
_SOURCES = re.compile(r"\[(?:this|another) source\]")
_WORD = re.compile(r"[^\W\d_]{4,}|\d+(?:[.,]\d+)*")
_COMMON_WORDS = frozenset(
    """
    about above across after again against also although among another because been before being between both could
    does doing done during each either every from further given have having here into itself less like made make makes
    many more most much must only other over same should show shown shows since some such than that their them then
    there these they this those through thus under until upon used uses using very were what when where whether which
    while whom whose will with within without would your
    """.split()  # noqa: SIM905 - a hundred words are read as text, not as a list
)


class Closeness(NamedTuple):
    """Of a claim to the words quoted for it."""

    cosine: float
    shared: float
    """Share of the claim's stems that the quote has."""

    def weighed(self, nearness: float = NEARNESS_WEIGHT) -> float:
        return nearness * self.cosine + (1 - nearness) * self.shared


async def support_by_overlap(question: SupportQuestion, embedder: Embedder) -> SupportAnswer:
    """Each item by itself."""
    claims = [said_here(item.claim) for item in question.items]
    passages = [" ".join(_read(item)) for item in question.items]
    measured = await closeness(claims, passages, embedder)
    return SupportAnswer(
        verdicts=[
            _verdict(item, claim, one.weighed())
            for item, claim, one in zip(question.items, claims, measured, strict=True)
        ]
    )


async def closeness(claims: Sequence[str], passages: Sequence[str], embedder: Embedder) -> list[Closeness]:
    """Of each claim to its passage."""
    # Both sides as queries: the comparison is symmetric, and embedders remember queries, which repeat here.
    vectors = await embedder.embed([*claims, *passages], "query")
    cosines = (vectors[: len(claims)] * vectors[len(claims) :]).sum(axis=1)
    return [
        Closeness(float(cosine), _share_found(claim, passage))
        for claim, passage, cosine in zip(claims, passages, cosines, strict=True)
    ]


def outcome_of(closeness: float) -> Literal["supports", "partly", "not"]:
    if closeness >= SUPPORTED_FROM:
        return "supports"
    return "partly" if closeness >= PARTLY_FROM else "not"


def _read(item: SupportItem) -> tuple[str, ...]:
    return item.passages[:MOST_PASSAGES]


def _verdict(item: SupportItem, claim: str, value: float) -> SupportVerdict:
    outcome = outcome_of(value)
    lacking = _words_not_found(claim, " ".join(_read(item)))[:MOST_NAMED]
    return SupportVerdict(
        label=item.label,
        carried=" … ".join(" ".join(passage.split()[:MOST_CARRIED]) for passage in _read(item)),
        missing=f"Words of the claim that the quote does not have: {', '.join(lacking)}." if lacking else "",
        # Most advice only points at a paper; words alone do not tell whether it says anything of it.
        outcome="nothing_claimed" if item.advice and outcome != "supports" else outcome,
    )


def said_here(claim: str) -> str:
    """The sentences that cite the passage's paper, without what stands for citations."""
    here = [one for one in sentences(claim, min_words=1) if _HERE in one]
    return " ".join(_SOURCES.sub(" ", " ".join(here) or claim).split())


def _share_found(claim: str, passage: str) -> float:
    stems = set(_stems(claim))
    return len(stems & set(_stems(passage))) / len(stems) if stems else 0.0


def _words_not_found(claim: str, passage: str) -> list[str]:
    there = set(_stems(passage))
    return list(
        dict.fromkeys(word for word, stem in zip(_words(claim), _stems(claim), strict=True) if stem not in there)
    )


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _COMMON_WORDS]


def _stems(text: str) -> list[str]:
    stems: list[str] = _stemmer().stemWords(_words(text))
    return stems


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")
