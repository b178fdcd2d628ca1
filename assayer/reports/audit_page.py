"""A counterfactual audit as one HTML file, Markdown and JSON, by the means and under the policy of the reports."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from assayer.models import Absent, AuditAttribute, AuditReport, ScoreDifference
from assayer.reports import html, markdown

__all__ = ["ATTRIBUTE_TITLES", "AuditPage", "as_audit_html", "as_audit_json", "as_audit_markdown"]

ATTRIBUTE_TITLES: dict[AuditAttribute, str] = {
    "institution": "Institution",
    "seniority": "Seniority",
    "gender": "Women's and men's names",
    "origin": "Origin of names",
    "language": "Quality of the English",
}
"""In the order in which they are read."""
_LEAST_WIDTH = 0.5
"""Points; an axis that is narrower makes much of nothing."""
_ROUNDING = 0.0005
"""Points; less is 0.000 as it is printed."""


class AttributeGroup(NamedTuple):
    attribute: AuditAttribute
    title: str
    rows: tuple[ScoreDifference, ...]


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
        ends = [
            abs(end) for one in self.audit.differences for end in (one.low, one.high, self.mean(one)) if end is not None
        ]
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
        return "0.000" if abs(value) < _ROUNDING else f"{value:+.3f}".replace("-", "−")

    @staticmethod
    def score_title(name: str) -> str:
        return "All scores" if name == "all" else name

    @cached_property
    def largest_masked(self) -> float | None:
        """The largest difference of any one idea in what blind mode masks: everything but the language."""
        found = [
            one.largest for one in self.audit.differences if one.attribute != "language" and one.largest is not None
        ]
        return max(found, default=None)

    @property
    def nothing_moved(self) -> bool:
        return self.largest_masked is not None and self.largest_masked < _ROUNDING


def as_audit_html(audit: AuditReport) -> str:
    css, css_hash = html.stylesheet("report.css", "audit.css")
    template = html.environment().get_template("audit.html")
    return template.render(page=AuditPage(audit), audit=audit, css=css, css_hash=css_hash) + "\n"


def as_audit_markdown(audit: AuditReport) -> str:
    text = markdown.environment().get_template("audit.md").render(page=AuditPage(audit), audit=audit)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def as_audit_json(audit: AuditReport) -> str:
    """Every score that the differences are made of is in it."""
    return audit.model_dump_json(indent=2) + "\n"
