"""Data for the HTML and Markdown reports: lookups and tables that both templates use."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from assayer.citing.labels import collect_cited_labels
from assayer.models import (
    Absent,
    Assessment,
    EvidenceNode,
    Label,
    NearPassage,
    Part,
    Point,
    Reading,
    Reference,
    Report,
    Reviewer,
    Score,
    Verdict,
)
from assayer.reports.graph_drawing import GraphDrawing, draw_graph
from assayer.reports.passages import ShownPassage, collect_passages
from assayer.reports.release import list_judged_parts
from assayer.reports.viewpoint_drawing import ViewpointDrawing, draw_viewpoints
from assayer.reports.wording import METHODS, group_points_by_kind

_MAX_CLOSEST = 5
_PARAGRAPHS = (
    ("New against earlier work", "novelty"),
    ("Likely outcome and feasibility", "outlook"),
    ("A stronger study", "redesign"),
)
"""Headings and anchors of a panel's paragraphs on the plan as a whole."""


class AssessmentView(NamedTuple):
    """Assessment with its position on the page."""

    assessment: Assessment
    anchor: str


class PartView(NamedTuple):
    part: Part
    anchor: str
    assessments: tuple[AssessmentView, ...]

    @property
    def shared_reasons(self) -> dict[str, int]:
        """Reasons for absent scores that several assessments share, with the number of assessments that share each."""
        scores = (view.assessment.score for view in self.assessments)
        reasons = Counter(score.reason for score in scores if isinstance(score, Absent))
        return {reason: times for reason, times in reasons.items() if times > 1}


class FindingPlace(NamedTuple):
    """Place on the page that uses a reference."""

    name: str
    anchor: str


class BoardScores(NamedTuple):
    parts: tuple[int, ...]
    """Index of each judged dimension among the report's parts. Each of these parts holds one assessment per reviewer,
    in the reviewers' order."""
    rows: tuple[tuple[Reviewer, tuple[Score | Absent, ...]], ...]
    means: tuple[Score | Absent, ...]

    @property
    def missing(self) -> int:
        return sum(isinstance(score, Absent) for _, scores in self.rows for score in scores)


@dataclass(frozen=True)
class ReportPage:
    report: Report
    max_points: int = 0
    """Maximum number of points of each kind that the Markdown report, which is short, shows under an assessment."""
    shows_further_quotes: bool = True

    @cached_property
    def references(self) -> dict[Label, Reference]:
        return {reference.label: reference for reference in self.report.references}

    @cached_property
    def parts(self) -> tuple[PartView, ...]:
        return tuple(
            PartView(
                part,
                f"part-{number}",
                tuple(
                    AssessmentView(item, f"part-{number}-{place}")
                    for place, item in enumerate(part.assessments, start=1)
                ),
            )
            for number, part in enumerate(self.report.parts, start=1)
        )

    @cached_property
    def scored(self) -> tuple[PartView, ...]:
        """Parts whose scores the summary shows. With a board, these are the parts that it judged, without those that
        were its input."""
        judged_names = {part.name for part in list_judged_parts(self.report)}
        return tuple(view for view in self.parts if view.part.name in judged_names)

    @cached_property
    def passages(self) -> dict[Label, list[ShownPassage]]:
        """Each reference's passages, each listed once; empty for an evidence report, because its first page already
        quotes the passages."""
        return collect_passages(self.report)

    def list_chief_passages(self, label: Label) -> list[ShownPassage]:
        """Return a reference's passages that the Markdown report lists: those that its points quote or, if there are
        none, the first passage. A panel review lists all."""
        passages = self.passages[label]
        if self.report.panel_review:
            return passages
        return [item for item in passages if item.quote and item.quote.quote in self._chief_quotes] or passages[:1]

    def list_chief_points(self, assessment: Assessment) -> list[Point]:
        """Return the points that the Markdown report shows under an assessment."""
        groups = group_points_by_kind(self.list_further_points(assessment.points))
        return [point for _, group in groups for point in group[: self.max_points]]

    @cached_property
    def _chief_quotes(self) -> frozenset[str | None]:
        """Words that points in the Markdown report quote."""
        summary, board = self.report.summary, self.report.board
        points = [*summary.strengths, *summary.weaknesses, *summary.suggestions]
        if board and not isinstance(board.advice, Absent):
            points += board.advice
        for view in self.parts:
            points += self.list_further_summary_points(view.part)
            for item in view.assessments:
                points += self.list_chief_points(item.assessment)
        return frozenset(citation.quote for point in points for citation in point.citations)

    @property
    def passages_left_out(self) -> int:
        return sum(len(passages) - len(self.list_chief_passages(label)) for label, passages in self.passages.items())

    @cached_property
    def silent_readings(self) -> int:
        """Number of readings in which the paper says nothing about the subject it was read for."""
        readings = (reading for part in self.report.parts for item in part.assessments for reading in item.readings)
        return sum(reading.stance is None and reading.quote is None for reading in readings)

    @cached_property
    def on_page_one(self) -> frozenset[str]:
        """Texts of the points that the summary shows."""
        summary = self.report.summary
        return frozenset(point.text for point in (*summary.strengths, *summary.weaknesses, *summary.suggestions))

    def list_further_points(self, points: Sequence[Point]) -> tuple[Point, ...]:
        """Return the points that the first page does not show, each once."""
        return tuple({point.text: point for point in points if point.text not in self.on_page_one}.values())

    def list_further_summary_points(self, part: Part) -> tuple[Point, ...]:
        """Return the points of a part's summary that appear neither on the first page nor under an assessment."""
        if isinstance(part.summary, Absent):
            return ()
        texts_in_parts = {point.text for item in part.assessments for point in item.points}
        points = (*part.summary.strengths, *part.summary.weaknesses, *part.summary.suggestions)
        return tuple(point for point in self.list_further_points(points) if point.text not in texts_in_parts)

    @cached_property
    def closest(self) -> tuple[Reading, ...]:
        """Readings of up to five papers, each once, that already contain what the idea claims as new."""
        readings = (
            reading
            for part in self.report.parts
            if part.name == "contribution"
            for item in part.assessments
            for reading in item.readings
            if reading.stance == -1
        )
        return tuple({reading.label: reading for reading in readings}.values())[:_MAX_CLOSEST]

    @cached_property
    def evidence_parts(self) -> dict[str, list[NearPassage]]:
        """Closest passages in an evidence report, keyed by the part of the plan."""
        passages_by_part: dict[str, list[NearPassage]] = {}
        for item in self.report.evidence.closest_passages if self.report.evidence else ():
            passages_by_part.setdefault(item.part, []).append(item)
        return passages_by_part

    @cached_property
    def findings_by_label(self) -> dict[Label, list[FindingPlace]]:
        """Panel findings or assessments that rely on a reference, in page order, keyed by the reference's label."""
        places: dict[Label, list[FindingPlace]] = {label: [] for label in self.references}
        review = self.report.panel_review
        if review is not None:
            paragraphs = (review.novelty, review.outlook, review.redesign)
            for (name, anchor), paragraph in zip(_PARAGRAPHS, paragraphs, strict=True):
                for evidence_number in paragraph.evidence if paragraph else ():
                    places[review.evidence[evidence_number].label].append(FindingPlace(name, anchor))
        for number, finding in review.numbered if review else ():
            for label in dict.fromkeys(
                review.evidence[evidence_number].label for evidence_number in finding.evidence if review
            ):
                places[label].append(FindingPlace(number, f"finding-{number}"))
        for view in () if review else self.parts:
            for item in view.assessments:
                for label in collect_cited_labels(item.assessment) & places.keys():
                    places[label].append(FindingPlace(item.assessment.name, item.anchor))
        return places

    @cached_property
    def drawing(self) -> ViewpointDrawing | None:
        """Diagram of the evidence for the verdict; None if there is no verdict or no evidence."""
        return draw_viewpoints(self.report.verdict) if isinstance(self.report.verdict, Verdict) else None

    @cached_property
    def panel(self) -> BoardScores | None:
        """Scores of the board; None without a board."""
        board, parts = self.report.board, self.report.parts
        if board is None:
            return None
        places = {part.name: place for place, part in enumerate(parts)}
        dimension_places = tuple(places[dimension.name] for dimension in board.dimensions)
        rows = tuple(
            (reviewer, tuple(parts[place].assessments[row].score for place in dimension_places))
            for row, reviewer in enumerate(board.reviewers)
        )
        return BoardScores(dimension_places, rows, tuple(parts[place].score for place in dimension_places))

    @cached_property
    def graph(self) -> GraphDrawing | None:
        return draw_graph(self.report.graph) if self.report.graph else None

    @property
    def graph_contents(self) -> tuple[EvidenceNode, ...]:
        """Concepts, methods and claims that were ever in the graph."""
        nodes = self.report.graph.nodes if self.report.graph else ()
        return tuple(node for node in nodes if node.kind not in ("idea", "paper"))

    @property
    def method_name(self) -> str:
        """Displayed name of the method. A report without judgement is named as evidence instead."""
        return METHODS.get("check" if self.report.evidence else self.report.method, self.report.method)

    @property
    def flagged(self) -> bool:
        """True if the idea has suspicious passages or masked words."""
        idea = self.report.idea
        return bool(idea.flags or (idea.blinding and idea.blinding.masked))

    @property
    def led_by_verdict(self) -> bool:
        """True if the first page is a verdict based on labelled ideas."""
        return self.report.verdict is not None

    @property
    def has_no_llm(self) -> bool:
        return any(notice.kind == "no_llm" for notice in self.report.notices)
