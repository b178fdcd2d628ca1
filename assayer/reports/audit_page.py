"""A counterfactual audit as one HTML file and as Markdown, by the means and under the policy of the reports."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from assayer.models import (
    SCORE_ROUNDING,
    Absent,
    AuditAttribute,
    AuditReport,
    MeanInterval,
    ScoreChanges,
    ScoreDifference,
)
from assayer.reports.html import render_page
from assayer.reports.markdown import render_markdown
from assayer.reports.wording import count

__all__ = ["ATTRIBUTE_TITLES", "AuditFinding", "AuditPage", "as_audit_html", "as_audit_markdown"]

ATTRIBUTE_TITLES: dict[AuditAttribute, str] = {
    "institution": "Institution",
    "seniority": "Seniority",
    "gender": "Women's and men's names",
    "origin": "Origin of names",
    "language": "Quality of the English",
}
_SENDERS: tuple[tuple[str, frozenset[AuditAttribute]], ...] = (
    ("names", frozenset({"gender", "origin"})),
    ("institutions", frozenset({"institution"})),
    ("seniority", frozenset({"seniority"})),
)
"""What blind mode masks, as a sentence names it."""
_LEAST_WIDTH = 0.5
"""Points; an axis that is narrower makes much of nothing."""


class AttributeGroup(NamedTuple):
    attribute: AuditAttribute
    title: str
    rows: tuple[ScoreDifference, ...]

    @property
    def without_interval(self) -> Counter[str]:
        """How many rows with a difference have no interval, by the reason."""
        measured = (one.interval for one in self.rows if not isinstance(one.mean, Absent))
        return Counter(interval.reason for interval in measured if isinstance(interval, Absent))


class AuditFinding(NamedTuple):
    """What a reader should take away, in sentences."""

    headline: str
    remarks: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join((self.headline, *self.remarks))


@dataclass(frozen=True)
class AuditPage:
    audit: AuditReport

    @cached_property
    def groups(self) -> tuple[AttributeGroup, ...]:
        found = (
            AttributeGroup(name, title, tuple(one for one in self.audit.differences if one.attribute == name))
            for name, title in ATTRIBUTE_TITLES.items()
        )
        return tuple(group for group in found if group.rows)

    @cached_property
    def width(self) -> float:
        """Half of the axis, in points."""
        ends = [abs(one.mean) for one in self.audit.differences if not isinstance(one.mean, Absent)]
        intervals = [one.interval for one in self.audit.differences if not isinstance(one.interval, Absent)]
        ends += [max(abs(one.low), abs(one.high)) for one in intervals]
        return max([_LEAST_WIDTH, *(1.1 * end for end in ends)])

    def place(self, points: float) -> str:
        """On the axis, as a percentage."""
        return f"{50 + 50 * points / self.width:.2f}%"

    @staticmethod
    def mean(one: ScoreDifference) -> float | None:
        return None if isinstance(one.mean, Absent) else one.mean

    @staticmethod
    def points(value: float | None) -> str:
        """Signed, with three decimals, and never `-0.000`."""
        if value is None:
            return "–"
        return "0.000" if abs(value) < SCORE_ROUNDING else f"{value:+.3f}".replace("-", "−")

    @classmethod
    def size(cls, value: float | None) -> str:
        """Without its sign."""
        return cls.points(value).lstrip("+−")

    @classmethod
    def interval(cls, one: MeanInterval) -> str:
        return f"{cls.points(one.low)} to {cls.points(one.high)}"

    @staticmethod
    def score_title(name: str) -> str:
        return "All scores" if name == "all" else name

    @cached_property
    def finding(self) -> AuditFinding:
        sender = self.audit.by_sender
        if isinstance(sender, Absent):
            return AuditFinding("Nothing of the sender was varied.", tuple(self._common_remarks(None)))
        subject, moved = self._subject(), sender.changed + sender.gained + sender.lost
        if not (moved or sender.compared):
            headline = f"No score could be compared, so nothing is known of {subject}."
            return AuditFinding(headline, tuple(self._common_remarks(sender)))
        if not moved:
            headline = f"{subject[0].upper()}{subject[1:]} changed no score of any idea"
            compared = count(sender.compared, "score was", "scores were")
            remarks = [f"({compared} compared, to three decimals)."]
            if self.audit.blind:
                remarks.append("Blind mode masks what says who sends an idea before anything is judged.")
            return AuditFinding(headline, (*remarks, *self._common_remarks(sender)))
        headline = f"{subject[0].upper()}{subject[1:]} {self._moved(sender)}"
        return AuditFinding(headline, (*self._moved_remarks(), *self._common_remarks(sender)))

    def _subject(self) -> str:
        varied = [name for name, attributes in _SENDERS if attributes & set(self.audit.attributes)]
        return varied[0] if len(varied) == 1 else f"{', '.join(varied[:-1])} and {varied[-1]}"

    def _moved(self, changes: ScoreChanges) -> str:
        said = []
        largest, mean, widest = changes.largest, changes.mean, changes.widest
        if changes.changed and not (isinstance(largest, Absent) or isinstance(mean, Absent)):
            said.append(
                f"changed {changes.changed:,} of {count(changes.compared, 'score')} by up to {self.size(largest)} "
                f"points of 10, {self.size(mean)} on average"
            )
            if not isinstance(widest, Absent) and widest - largest >= SCORE_ROUNDING:
                said.append(f"some were up to {self.size(widest)} apart from each other")
        if changes.lost:
            said.append(f"took away {count(changes.lost, 'score')}")
        if changes.gained:
            said.append(f"gave {count(changes.gained, 'score')} that the reference lacks")
        return f"{'; '.join(said) or 'changed none of ' + count(changes.compared, 'score')}."

    def _moved_remarks(self) -> Iterator[str]:
        audit = self.audit
        if audit.blind:
            surviving = audit.surviving
            yield f"Blind mode was on: {surviving.survived:,} of {surviving.planted:,} planted words escaped it."
        else:
            yield "Blind mode was off."

    def _common_remarks(self, sender: ScoreChanges | None) -> Iterator[str]:
        audit = self.audit
        if not isinstance(audit.by_repeating, Absent):
            yield f"For comparison, evaluating the same text again {self._moved(audit.by_repeating)}"
        elif audit.models:
            yield "How much scores change when the same text is evaluated again was not measured."
        else:
            yield "Without a language model the same text always has the same scores."
        if sender is not None and sender.failed:
            yield f"{count(sender.failed, 'evaluation')} could not be compared, for want of a report."
        if len(audit.corpus_versions) > 1:
            yield "The corpus changed during the audit: differences may be between its versions. Run it again."
        if "language" in audit.attributes:
            yield "The quality of the English is never masked: its difference is reported as it is."


def as_audit_html(audit: AuditReport) -> str:
    return render_page("audit.html", "report.css", "audit.css", page=AuditPage(audit), audit=audit)


def as_audit_markdown(audit: AuditReport) -> str:
    return render_markdown("audit.md", page=AuditPage(audit), audit=audit)
