"""Comparisons of earlier rankings: which of them were judged by the very words, judge and question of now."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from assayer.models.ranking import Comparison, JudgedBy

__all__ = ["Judging", "KnownComparisons", "of_these_words", "other_words"]


class Judging(NamedTuple):
    """What a ranking judges by. What is None nobody knows yet, and nothing is held against it."""

    rules: int | None
    """Version of the rules by which the ideas are masked; None where they are shown as they came in."""
    with_evidence: bool = False
    """Whether the judge sees what reports found."""
    model: str | None = None
    question: str | None = None
    """Digest, as in `JudgedBy`."""
    texts: Mapping[str, str] | None = None
    """Digests of what is shown of each idea."""

    def objection(self, one: Comparison) -> str | None:
        """How it was judged otherwise, after `12 judged …`; None where it can be used. A comparison that does not say
        is not refused for that."""
        if one.blinding_rules != self.rules:
            return _shown(one.blinding_rules, self.rules)
        if one.with_evidence != self.with_evidence:
            return f"{'without' if self.with_evidence else 'with'} what reports found"
        return None if one.judged_by is None else self._other_judge(one, one.judged_by)

    def _other_judge(self, one: Comparison, by: JudgedBy) -> str | None:
        if _differ(by.model, self.model):
            return f"by {by.model} and not by {self.model}"
        if _differ(by.question, self.question):
            return "by another question (other respects, or another version of the prompt)"
        texts = self.texts or {}
        if _differ(by.first_text, texts.get(one.first)) or _differ(by.second_text, texts.get(one.second)):
            return "from another text of an idea than is shown now"
        return None


class KnownComparisons(NamedTuple):
    """Those between two of the ideas, in the order in which they were given."""

    usable: list[Comparison]
    refused: list[Comparison]
    """Judged otherwise: names where they are masked now, by another model or another question."""


def of_these_words(given: Sequence[Comparison], ideas: Container[str], judging: Judging) -> KnownComparisons:
    between = [one for one in given if one.first in ideas and one.second in ideas and one.first != one.second]
    found = KnownComparisons([], [])
    for one in between:
        (found.usable if judging.objection(one) is None else found.refused).append(one)
    return found


def other_words(refused: Sequence[Comparison], judging: Judging) -> str:
    """Why they are not used, in one sentence: `Of the comparisons of these ideas, 12 judged … cannot be used, …`."""
    counts = Counter(judging.objection(one) for one in refused)
    parts = [f"{count:,} judged {objection}" for objection, count in counts.items()]
    blind, reports = "not blind" if judging.rules is None else "blind", " and uses reports" * judging.with_evidence
    unlike = any((one.blinding_rules, one.with_evidence) != (judging.rules, judging.with_evidence) for one in refused)
    why = f", as this ranking is {blind}{reports}" if unlike else ""
    return f"Of the comparisons of these ideas, {' and '.join(parts)} cannot be used{why}."


def _differ(then: str | None, now: str | None) -> bool:
    return then is not None and now is not None and then != now


def _shown(version: int | None, rules: int | None) -> str:
    if version is None:
        return "with the names that the ideas came in with"
    return "blind" if rules is None else f"blind by other rules (version {version}; they are at {rules})"
