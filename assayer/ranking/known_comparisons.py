"""Comparisons of earlier rankings: which of them were judged by the very words that are judged now."""

from collections import Counter
from collections.abc import Container, Sequence
from typing import NamedTuple

from assayer.models.ranking import Comparison

__all__ = ["KnownComparisons", "of_these_words", "other_words"]


class KnownComparisons(NamedTuple):
    """Those between two of the ideas, in the order in which they were given."""

    usable: list[Comparison]
    refused: list[Comparison]
    """The judge saw other words: names where they are masked now, or the other way round."""


def of_these_words(
    given: Sequence[Comparison], ideas: Container[str], rules: int | None, with_evidence: bool = False
) -> KnownComparisons:
    """`rules`: version of the rules by which the ideas are masked now; None where they are shown as they came in.
    `with_evidence`: whether the judge now sees what reports found."""
    between = [one for one in given if one.first in ideas and one.second in ideas and one.first != one.second]
    return KnownComparisons(
        usable=[one for one in between if _same_words(one, rules, with_evidence)],
        refused=[one for one in between if not _same_words(one, rules, with_evidence)],
    )


def _same_words(one: Comparison, rules: int | None, with_evidence: bool) -> bool:
    return one.blinding_rules == rules and one.with_evidence == with_evidence


def other_words(refused: Sequence[Comparison], rules: int | None, with_evidence: bool = False) -> str:
    """Why they are not used, in one sentence: `12 comparisons of these ideas were judged …, and this ranking …`."""
    otherwise = [one for one in refused if one.blinding_rules != rules]
    counts = Counter(one.blinding_rules for one in otherwise)
    parts = [f"{count:,} judged {_shown(version, rules)}" for version, count in counts.items()]
    if left := len(refused) - len(otherwise):
        parts.append(f"{left:,} judged {'without' if with_evidence else 'with'} what reports found")
    now = f"is {'not blind' if rules is None else 'blind'}{' and uses reports' if with_evidence else ''}"
    return f"Of the comparisons of these ideas, {' and '.join(parts)} cannot be used, as this ranking {now}."


def _shown(version: int | None, rules: int | None) -> str:
    if version is None:
        return "with the names that the ideas came in with"
    return "blind" if rules is None else f"blind by other rules (version {version}; they are at {rules})"
