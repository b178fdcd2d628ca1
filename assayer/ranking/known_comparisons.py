"""Comparisons from earlier rankings: decide which ones can be reused with the current texts, judge and question."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from assayer_client.comparisons import Comparison, DimensionVerdict, JudgedBy, NamedComparison


class SubmittedVerdict(DimensionVerdict, extra="forbid"):
    pass


class SubmittedJudge(JudgedBy, extra="forbid"):
    pass


class SubmittedComparison(NamedComparison, extra="forbid"):
    """Comparison submitted for a ranking; unlike in a response, unknown fields are refused."""

    verdicts: tuple[SubmittedVerdict, ...]
    judged_by: SubmittedJudge | None = None
    first_reference: str = Field(default="", max_length=1_000)
    second_reference: str = Field(default="", max_length=1_000)

    def drop_names(self) -> Comparison:
        """Return the comparison without its ideas' names, which are not stored."""
        return Comparison.model_validate(self.model_dump())


class Judging(NamedTuple):
    """Conditions under which a ranking is judged. Except in `rules`, None means not yet known, and rules out no
    comparison."""

    rules: int | None
    """Version of the masking rules; None if the ideas are shown as submitted."""
    with_evidence: bool = False
    """Whether the judge sees the findings of reports."""
    model: str | None = None
    question: str | None = None
    """Digest of the question, in the form used by `JudgedBy`."""
    texts: Mapping[str, str] | None = None
    """Digest of the text that the judge is shown for each idea."""

    def explain_objection(self, comparison: Comparison) -> str | None:
        """Return why a comparison cannot be reused: how its conditions differ from the current ones, worded to follow
        `12 judged …`. None if it can be used. Conditions that the comparison does not state are ignored."""
        if comparison.blinding_rules != self.rules:
            return _describe_blinding_difference(comparison.blinding_rules, self.rules)
        if comparison.with_evidence != self.with_evidence:
            return f"{'without' if self.with_evidence else 'with'} the findings of reports"
        return None if comparison.judged_by is None else self._explain_other_judge(comparison, comparison.judged_by)

    def _explain_other_judge(self, comparison: Comparison, by: JudgedBy) -> str | None:
        if _have_changed(by.model, self.model):
            return f"by {by.model} and not by {self.model}"
        if _have_changed(by.question, self.question):
            return "with another question (other dimensions, or another version of the prompt)"
        texts = self.texts or {}
        if _have_changed(by.first_text, texts.get(comparison.first)) or _have_changed(
            by.second_text, texts.get(comparison.second)
        ):
            return "on a text that differs from the idea's current one"
        return None


class KnownComparisons(NamedTuple):
    """The known comparisons between two of the ideas, in input order."""

    usable: list[Comparison]
    refused: list[Comparison]
    """Comparisons judged under other conditions: with names that are now masked, by another model, or with another
    question."""


def split_comparisons(comparisons: Sequence[Comparison], ideas: Container[str], judging: Judging) -> KnownComparisons:
    """Sort the comparisons between two of the ideas into those that can be used under these conditions and those that
    cannot."""
    relevant = [
        item for item in comparisons if item.first in ideas and item.second in ideas and item.first != item.second
    ]
    known_comparisons = KnownComparisons([], [])
    for item in relevant:
        (known_comparisons.usable if judging.explain_objection(item) is None else known_comparisons.refused).append(
            item
        )
    return known_comparisons


def explain_refused(refused: Sequence[Comparison], judging: Judging) -> str:
    """Return a sentence that says how many comparisons are not used, and why. Example: `Of the comparisons of these
    ideas, 12 judged … cannot be used, …`."""
    counts = Counter(judging.explain_objection(comparison) for comparison in refused)
    parts = [f"{count:,} judged {objection}" for objection, count in counts.items()]
    blinding_phrase = "not blind" if judging.rules is None else "blind"
    evidence_phrase = " and uses reports" if judging.with_evidence else ""
    has_other_conditions = any(
        (comparison.blinding_rules, comparison.with_evidence) != (judging.rules, judging.with_evidence)
        for comparison in refused
    )
    explanation = f", because this ranking is {blinding_phrase}{evidence_phrase}" if has_other_conditions else ""
    return f"Of the comparisons of these ideas, {' and '.join(parts)} cannot be used{explanation}."


def _have_changed(old: str | None, new: str | None) -> bool:
    return old is not None and new is not None and old != new


def _describe_blinding_difference(version: int | None, rules: int | None) -> str:
    if version is None:
        return "with the original names"
    return "blind" if rules is None else f"blind by other rules (version {version} instead of {rules})"
