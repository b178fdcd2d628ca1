"""Bias test as one HTML file and as Markdown, under the same content security policy as the reports."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from assayer.models import (
    SCORE_ROUNDING,
    Absent,
    BiasTestAttribute,
    BiasTestReport,
    MeanInterval,
    ScoreChanges,
    ScoreDifference,
)
from assayer.reports.html import render_page
from assayer.reports.markdown import render_markdown
from assayer.reports.wording import format_count

ATTRIBUTE_TITLES: dict[BiasTestAttribute, str] = {
    "institution": "Institution",
    "seniority": "Seniority",
    "gender": "Women's and men's names",
    "origin": "Origin of names",
    "language": "Quality of the English",
    "persuasion": "Persuasive wording",
}
_MASKED_ATTRIBUTES: tuple[tuple[str, frozenset[BiasTestAttribute]], ...] = (
    ("names", frozenset({"gender", "origin"})),
    ("institutions", frozenset({"institution"})),
    ("seniority", frozenset({"seniority"})),
)
"""Attributes that blind mode masks, grouped by the phrase that names them in a sentence."""
_MIN_WIDTH = 0.5
"""Minimum width of the axis in points, because a narrower axis would exaggerate negligible differences."""


class AttributeGroup(NamedTuple):
    attribute: BiasTestAttribute
    title: str
    rows: tuple[ScoreDifference, ...]

    @property
    def without_interval(self) -> Counter[str]:
        """Number of rows with a difference but no interval, by reason."""
        intervals = (row.interval for row in self.rows if not isinstance(row.mean, Absent))
        return Counter(interval.reason for interval in intervals if isinstance(interval, Absent))


class BiasTestFinding(NamedTuple):
    """Main finding, in sentences for a reader."""

    headline: str
    remarks: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join((self.headline, *self.remarks))


@dataclass(frozen=True)
class BiasTestPage:
    bias_test: BiasTestReport

    @cached_property
    def groups(self) -> tuple[AttributeGroup, ...]:
        rows = {
            name: tuple(difference for difference in self.bias_test.differences if difference.attribute == name)
            for name in ATTRIBUTE_TITLES
        }
        return tuple(AttributeGroup(name, title, rows[name]) for name, title in ATTRIBUTE_TITLES.items() if rows[name])

    @cached_property
    def width(self) -> float:
        """Half of the width of the axis, in points."""
        ends = [item.mean for item in self.bias_test.differences if not isinstance(item.mean, Absent)]
        intervals = [item.interval for item in self.bias_test.differences if not isinstance(item.interval, Absent)]
        ends += [end for interval in intervals for end in (interval.low, interval.high)]
        return max([_MIN_WIDTH, *(1.1 * abs(end) for end in ends)])

    def format_position(self, points: float) -> str:
        """Return the position on the axis as a percentage."""
        return f"{50 + 50 * points / self.width:.2f}%"

    @staticmethod
    def format_points(value: float | None) -> str:
        """Return the value with its sign and three decimals, never as `-0.000`."""
        if value is None:
            return "–"
        return "0.000" if abs(value) < SCORE_ROUNDING else f"{value:+.3f}".replace("-", "−")

    @classmethod
    def format_size(cls, value: float | None) -> str:
        """Return the value in points, without its sign."""
        return cls.format_points(value).lstrip("+−")

    @classmethod
    def format_interval(cls, mean_interval: MeanInterval) -> str:
        return f"{cls.format_points(mean_interval.low)} to {cls.format_points(mean_interval.high)}"

    @staticmethod
    def format_score_name(name: str) -> str:
        return "All scores" if name == "all" else name

    @cached_property
    def finding(self) -> BiasTestFinding:
        sender = self.bias_test.sender_changes
        if isinstance(sender, Absent):
            return BiasTestFinding("No detail about the sender was varied.", tuple(self._list_common_remarks(None)))
        subject, moved_count = (
            self._name_varied_attributes(),
            sender.changed_pairs + sender.scores_gained + sender.scores_lost,
        )
        if not (moved_count or sender.compared_pairs):
            headline = f"No score could be compared, so the effect of {subject} is unknown."
            return BiasTestFinding(headline, tuple(self._list_common_remarks(sender)))
        if not moved_count:
            headline = f"{subject[0].upper()}{subject[1:]} changed no score of any idea"
            compared_scores = format_count(sender.compared_pairs, "score was", "scores were")
            remarks = [f"({compared_scores} compared, to three decimals)."]
            if self.bias_test.blind:
                remarks.append("Blind mode masks the words that identify the sender before anything is judged.")
            return BiasTestFinding(headline, (*remarks, *self._list_common_remarks(sender)))
        blind, surviving = "Blind mode was off.", self.bias_test.inserted_words
        if self.bias_test.blind:
            blind = (
                f"Blind mode was on: {surviving.unmasked:,} of {surviving.inserted:,} planted words were not masked."
            )
        headline = f"{subject[0].upper()}{subject[1:]} {self._describe_changes(sender)}"
        return BiasTestFinding(headline, (blind, *self._list_common_remarks(sender)))

    def _name_varied_attributes(self) -> str:
        varied_attributes = [
            name for name, attributes in _MASKED_ATTRIBUTES if attributes & set(self.bias_test.attributes)
        ]
        return (
            varied_attributes[0]
            if len(varied_attributes) == 1
            else f"{', '.join(varied_attributes[:-1])} and {varied_attributes[-1]}"
        )

    def _describe_changes(self, changes: ScoreChanges) -> str:
        clauses = []
        largest, mean, widest = changes.largest_change, changes.mean_change, changes.widest_range
        if changes.changed_pairs and not (isinstance(largest, Absent) or isinstance(mean, Absent)):
            clauses.append(
                f"changed {changes.changed_pairs:,} of {format_count(changes.compared_pairs, 'score')} by up to "
                f"{self.format_size(largest)} points of 10, {self.format_size(mean)} on average"
            )
            if not isinstance(widest, Absent) and widest - largest >= SCORE_ROUNDING:
                clauses.append(f"some were up to {self.format_size(widest)} apart from each other")
        if changes.scores_lost:
            clauses.append(f"removed {format_count(changes.scores_lost, 'score')}")
        if changes.scores_gained:
            clauses.append(f"added {format_count(changes.scores_gained, 'score')} that the reference lacks")
        return f"{'; '.join(clauses) or 'changed none of ' + format_count(changes.compared_pairs, 'score')}."

    def _list_common_remarks(self, sender: ScoreChanges | None) -> Iterator[str]:
        bias_test = self.bias_test
        if not isinstance(bias_test.repetition_changes, Absent):
            changes = self._describe_changes(bias_test.repetition_changes)
            yield f"For comparison, evaluating the same text again {changes}"
        elif bias_test.models:
            yield "Score changes from evaluating the same text again were not measured."
        else:
            yield "Without a language model the same text always has the same scores."
        if sender is not None and sender.failed_evaluations:
            failures = format_count(sender.failed_evaluations, "evaluation")
            yield f"{failures} produced no report and could not be compared."
        if len(bias_test.corpus_versions) > 1:
            yield "The corpus changed during the bias test, so differences may come from it. Run the test again."
        if "language" in bias_test.attributes:
            yield "The quality of the English is never masked, so its effect is reported as measured."
        if "persuasion" in bias_test.attributes:
            yield (
                "A language model wrote the persuasive wording; variants whose content was found to differ from the "
                "original were left out."
            )


def render_bias_test_html(bias_test: BiasTestReport) -> str:
    return render_page(
        "bias_test.html", "report.css", "bias_test.css", page=BiasTestPage(bias_test), bias_test=bias_test
    )


def render_bias_test_markdown(bias_test: BiasTestReport) -> str:
    return render_markdown("bias_test.md", page=BiasTestPage(bias_test), bias_test=bias_test)
