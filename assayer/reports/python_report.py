"""Report as Python code sees it: scores by name, findings, tables, and HTML in a notebook.

The names in this file are a stable interface under semantic versioning, unlike those of other modules."""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from assayer.errors import ConfigurationError
from assayer.models import Absent, Report
from assayer.reports.html import render_html
from assayer.reports.markdown import render_report_markdown
from assayer.reports.scores import compute_total_score

if TYPE_CHECKING:
    from pandas import DataFrame

FindingKind = Literal["strength", "weakness", "question", "suggestion", "closest", "limitation"]
"""Kind of a finding. `closest` and `limitation` occur only in reports made without a language model, and quote a paper
without judging it: the passage closest to the proposal, or a limitation that the paper states."""


class ReportScore(NamedTuple):
    """Score of one part of a report."""

    value: float | None
    """None if the part has no score."""
    low: float
    high: float
    """Ends of the scale, from `low` to `high`."""
    reason: str = ""
    """Reason why there is no score; empty if there is one."""

    def __str__(self) -> str:
        return f"no score: {self.reason}" if self.value is None else f"{self.value:g} of {self.high:g}"


class ReportFinding(NamedTuple):
    """Finding of a report, with the titles of the papers that are evidence for it."""

    kind: FindingKind
    text: str
    severity: Literal["fatal", "major", "minor"] | None = None
    """None for a strength, or if the method states no severity."""
    papers: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class EvaluationReport:
    """Report of one evaluation."""

    _full: Report
    files: tuple[Path, ...] = field(default=())
    """Files that were written; empty unless a folder was passed."""

    @property
    def title(self) -> str:
        return self._full.idea.title

    @property
    def method(self) -> str:
        return self._full.method

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices that a reader must see before the rest."""
        return tuple(notice.text for notice in self._full.notices)

    @cached_property
    def scores(self) -> dict[str, ReportScore]:
        """Score of each part by its name, such as `soundness`; empty in a report made without a language model."""
        return {
            part.name: ReportScore(None, 0.0, 10.0, part.score.reason)
            if isinstance(part.score, Absent)
            else ReportScore(part.score.value, part.score.scale_min, part.score.scale_max)
            for part in self._full.parts
        }

    @cached_property
    def total(self) -> ReportScore:
        """Score used to order reports, 0 to 100. It is not the mean of the part scores: without an overall
        score, it is the lowest of them."""
        score = compute_total_score(self._full)
        if isinstance(score, Absent):
            return ReportScore(None, 0.0, 100.0, score.reason)
        return ReportScore(round(100 * score, 1), 0.0, 100.0)

    @cached_property
    def findings(self) -> tuple[ReportFinding, ...]:
        """Findings grouped by kind, the most important of each kind first."""
        if self._full.panel_review is not None:
            return tuple(self._list_panel_findings())
        return (*self._list_summary_findings(), *self._list_evidence_findings())

    def to_dict(self) -> dict[str, Any]:
        """Return the complete report, with the same fields as the JSON file."""
        return self._full.model_dump(mode="json")

    def to_html(self) -> str:
        """Return the report as a standalone HTML page."""
        return render_html(self._full)

    def to_markdown(self) -> str:
        return render_report_markdown(self._full)

    def to_pandas(self) -> "DataFrame":
        """Return the findings as a table with one row each. Raises ConfigurationError if pandas is not installed."""
        rows = [{"title": self.title, "method": self.method, **finding._asdict()} for finding in self.findings]
        return build_table(rows, ["title", "method", *ReportFinding._fields])

    def __repr__(self) -> str:
        scores = "".join(f", {name} {score.value}" for name, score in self.scores.items())
        return f"<EvaluationReport of {self.title!r} by {self.method}{scores}, {len(self.findings)} findings>"

    def _repr_html_(self) -> str:
        """Return the page as an iframe, so that a notebook shows it with the page's own styles."""
        return frame_page(self.to_html())

    @cached_property
    def _titles(self) -> dict[str, str]:
        return {str(reference.label): reference.title for reference in self._full.references}

    def _list_panel_findings(self) -> Iterator[ReportFinding]:
        review = self._full.panel_review
        assert review is not None  # noqa: S101 - checked by the caller
        for _, item in review.numbered:
            labels = dict.fromkeys(str(review.evidence[place].label) for place in item.evidence)
            text = " ".join(filter(None, (item.headline, item.text)))
            yield ReportFinding(item.kind, text, item.severity, tuple(self._titles[label] for label in labels))

    def _list_summary_findings(self) -> Iterator[ReportFinding]:
        summary = self._full.summary
        kinds: dict[FindingKind, Any] = {
            "strength": summary.strengths,
            "weakness": summary.weaknesses,
            "suggestion": summary.suggestions,
        }
        for kind, points in kinds.items():
            for point in points:
                labels = dict.fromkeys(str(citation.label) for citation in point.citations)
                yield ReportFinding(kind, point.text, None, tuple(self._titles[label] for label in labels))

    def _list_evidence_findings(self) -> Iterator[ReportFinding]:
        evidence = self._full.evidence
        if evidence is None:
            return
        for near_passage in sorted(evidence.closest_passages, key=lambda item: -item.similarity):
            yield ReportFinding(
                "closest", near_passage.paper.quote or "", None, (self._titles[near_passage.paper.label],)
            )
        for citation in evidence.limitations:
            yield ReportFinding("limitation", citation.quote or "", None, (self._titles[citation.label],))


def build_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> "DataFrame":
    """Return rows as a pandas table. Raises ConfigurationError if pandas is not installed."""
    try:
        from pandas import DataFrame
    except ModuleNotFoundError:
        raise ConfigurationError(
            "Tables need pandas, which is not installed.",
            "Install it with: pip install 'assayer-research[pandas]'.",
        ) from None
    return DataFrame(rows, columns=list(columns))


def frame_page(page: str) -> str:
    """Wrap an HTML page in an iframe, for display in a notebook."""
    page = html.escape(page)
    return f'<iframe srcdoc="{page}" sandbox="allow-popups" style="width:100%;height:40em;border:0"></iframe>'
