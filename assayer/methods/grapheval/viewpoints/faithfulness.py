"""Check that a viewpoint is faithful to its idea: entity-level consistency, after Nan et al. (2021).

Numbers, acronyms, names and compound terms in a viewpoint must occur in the idea, and so must most of its words,
regardless of their endings. This tests where words come from, not whether they are true: a viewpoint that reverses the
meaning of the idea's own words passes."""

import re
from collections.abc import Sequence
from functools import cached_property

import Stemmer

from assayer.citing.quotes import occurs_in
from assayer.methods.grapheval.graph.records import RefusedViewpoint, Viewpoint

MAX_FOREIGN_SHARE = 0.4
"""Maximum share of a viewpoint's content words that do not occur in the idea. It is above 0 because a paraphrase needs
some words of its own."""
MIN_FOREIGN = 3
"""Minimum number of content words missing from the idea at which a viewpoint is rejected."""

_NUMBER = re.compile(r"(?<![\w.])(?<!\d,)(?<![A-Za-z]-)\d[\d,]*(?:\.\d+)?(?![\w])")
_TERM = re.compile(
    r"\b(?:[A-Za-z]+-\d[\w.]*\b|(?=\w*[A-Z0-9])(?:[^\WA-Z]*+[A-Z]\w*?[A-Z]\w*+|[^\WA-Za-z]*+[A-Za-z]\w*?\d\w*+|\d++[A-Za-z]\w*+)\b)"
)
"""Matches acronyms, mixed case, and letters with digits: CNN, BiLSTM, GPT4, GPT-4, 3D."""
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}\b")
"""Matches a capitalised word in mid-sentence."""
_COMPOUND = re.compile(r"\b[a-z]{2,}(?:-[a-z]{2,})+\b")
_WORD = re.compile(r"[^\W\d_]+")
_SMALL_NUMBERS = dict(
    zip(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        map(str, range(13)),
        strict=True,
    )
)
_COMMON_WORDS = frozenset(
    """
    about above across after again against all also although among and another any are based because been before being
    between both but can cannot could does doing done due during each either every few for from further given has
    have having here how idea into its itself less like made make makes many may method might more most much must
    need needs new nor not one only other our over own paper per plan propose proposed proposes rather same should
    show shows since some study such than that the their them then there these they this those through thus under
    until upon use used uses using via was were what when where whether which while who whom whose will with within
    without work would yet you your
    """.split()  # noqa: SIM905 - a block of words is easier to read than a list of strings
)
"""Common words that are not specific to any idea."""


class IdeaWords:
    """An idea's words and numbers, extracted once for all of its viewpoints."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stemmer = Stemmer.Stemmer("english")

    @cached_property
    def _numbers(self) -> frozenset[str]:
        spelled_numbers = (
            _SMALL_NUMBERS[word] for word in _WORD.findall(self._text.casefold()) if word in _SMALL_NUMBERS
        )
        return frozenset(map(_normalise_number, _NUMBER.findall(self._text))) | frozenset(spelled_numbers)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(_WORD.findall(self._text.casefold()))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(self._stemmer.stemWords(list(set(self._words))))

    @cached_property
    def _initials(self) -> str:
        return "".join(word[0] for word in self._words)

    @cached_property
    def _squeezed(self) -> str:
        """The idea's letters and digits only, so that `time-series` matches `time series`."""
        return re.sub(r"[\W_]+", "", self._text.casefold())

    def find_foreign_words(self, statement: str) -> list[str]:
        """Return a statement's numbers, names and terms that do not occur in the idea, in order."""
        numbers = [item for item in _NUMBER.findall(statement) if _normalise_number(item) not in self._numbers]
        terms = [item for item in _TERM.findall(statement) if not self._has_term(item)]
        names = [item for item in _NAME.findall(statement) if item.casefold() not in self._squeezed]
        compounds = [item for item in _COMPOUND.findall(statement) if not self._has_compound(item)]
        return list(dict.fromkeys([*numbers, *terms, *names, *compounds]))

    def count_foreign(self, statement: str) -> tuple[int, int]:
        """Return how many of a statement's content words the idea lacks, and how many content words it has."""
        words = {word for word in _WORD.findall(statement.casefold()) if len(word) > 3 and word not in _COMMON_WORDS}
        foreign = sum(stem not in self._stems for stem in self._stemmer.stemWords(sorted(words)))
        return foreign, len(words)

    def contains(self, words: str) -> bool:
        """Return whether these words occur consecutively in the idea."""
        return occurs_in(words, self._text)

    def _has_term(self, term: str) -> bool:
        """Return whether the idea contains the term: as written, in the singular or plural, or as the initials of
        consecutive words."""
        squeezed_term = re.sub(r"[\W_]+", "", term.casefold())
        singular = squeezed_term.removesuffix("s")
        if squeezed_term in self._squeezed or singular in self._squeezed:
            return True
        return term.rstrip("s").isupper() and len(singular) >= 3 and singular in self._initials

    def _has_compound(self, compound: str) -> bool:
        stems = self._stemmer.stemWords([part for part in compound.split("-") if part not in _COMMON_WORDS])
        return all(stem in self._stems for stem in stems) or compound.replace("-", "") in self._squeezed


def _normalise_number(text: str) -> str:
    digits = text.replace(",", "")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def explain_unfaithfulness(viewpoint: Viewpoint, idea: IdeaWords) -> str:
    """Return why a viewpoint is not faithful to the idea, or an empty string if it is."""
    if not idea.contains(viewpoint.words):
        return "its words do not stand in the idea"
    if foreign := idea.find_foreign_words(viewpoint.text):
        return f"{', '.join(foreign)} stands nowhere in the idea"
    foreign_count, words = idea.count_foreign(viewpoint.text)
    if foreign_count >= MIN_FOREIGN and foreign_count > MAX_FOREIGN_SHARE * words:
        return f"{foreign_count} of its {words} content words stand nowhere in the idea"
    return ""


def check_faithfulness(
    viewpoints: Sequence[Viewpoint], idea: IdeaWords
) -> tuple[tuple[Viewpoint, ...], tuple[RefusedViewpoint, ...]]:
    """Split viewpoints into those that the idea supports and those that are rejected, with the reason."""
    reason_by_viewpoint = [(viewpoint, explain_unfaithfulness(viewpoint, idea)) for viewpoint in viewpoints]
    kept_viewpoints = tuple(viewpoint for viewpoint, reason in reason_by_viewpoint if not reason)
    refusals = tuple(
        RefusedViewpoint(text=viewpoint.text, reason=reason) for viewpoint, reason in reason_by_viewpoint if reason
    )
    return kept_viewpoints, refusals
