"""What the HTML and the Markdown report have in common: the report with what can be looked up in it, and its tables."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from assayer.citing.labels import cited_labels
from assayer.models import (
    Absent,
    Assessment,
    BoardRecord,
    EvidenceNode,
    Label,
    Part,
    Reference,
    Report,
    Reviewer,
    Score,
    Verdict,
)
from assayer.reports.graph_drawing import GraphDrawing, graph_drawing
from assayer.reports.release import judged_parts
from assayer.reports.viewpoint_drawing import ViewpointDrawing, drawing_of
from assayer.reports.wording import Stance

__all__ = [
    "AssessmentView",
    "BoardScores",
    "MatrixRow",
    "PartView",
    "ReportPage",
    "StanceMatrix",
    "board_scores",
    "matrix_of",
]


@dataclass(frozen=True)
class AssessmentView:
    """An assessment and where it stands on the page."""

    assessment: Assessment
    anchor: str

    @cached_property
    def stances(self) -> Counter[int | None]:
        return Counter(reading.stance for reading in self.assessment.readings)


class MatrixRow(NamedTuple):
    label: Label
    stances: tuple[Stance | Literal["unread"] | None, ...]
    """One for each assessment of the part, in its order; `unread` where the paper was not read for it."""


class StanceMatrix(NamedTuple):
    rows: tuple[MatrixRow, ...]
    """The paper with the most overlap first."""

    @property
    def unjudged(self) -> bool:
        return any(None in row.stances for row in self.rows)


@dataclass(frozen=True)
class PartView:
    part: Part
    anchor: str
    assessments: tuple[AssessmentView, ...]

    @cached_property
    def shared_reasons(self) -> dict[str, int]:
        """Why scores are absent, where several assessments lack theirs for one reason, and how many do."""
        scores = (view.assessment.score for view in self.assessments)
        reasons = Counter(score.reason for score in scores if isinstance(score, Absent))
        return {reason: times for reason, times in reasons.items() if times > 1}

    @cached_property
    def matrix(self) -> StanceMatrix | None:
        return matrix_of(self.part)


class BoardScores(NamedTuple):
    parts: tuple[int, ...]
    """Places of the judged dimensions among the report's parts; each holds one assessment a reviewer, in order."""
    rows: tuple[tuple[Reviewer, tuple[Score | Absent, ...]], ...]
    means: tuple[Score | Absent, ...]

    @property
    def missing(self) -> int:
        return sum(isinstance(score, Absent) for _, scores in self.rows for score in scores)


@dataclass(frozen=True)
class ReportPage:
    report: Report

    @cached_property
    def references(self) -> dict[Label, Reference]:
        return {reference.label: reference for reference in self.report.references}

    @cached_property
    def parts(self) -> tuple[PartView, ...]:
        return tuple(_part_view(part, number) for number, part in enumerate(self.report.parts, start=1))

    @cached_property
    def scored(self) -> tuple[PartView, ...]:
        """Parts that the summary gives scores of: where a board judged, what it judged, and not what it judged by."""
        judged = {part.name for part in judged_parts(self.report)}
        return tuple(view for view in self.parts if view.part.name in judged)

    @cached_property
    def cited_in(self) -> dict[Label, list[AssessmentView]]:
        """Which assessments use a reference, in the page's order."""
        places: dict[Label, list[AssessmentView]] = {label: [] for label in self.references}
        for part in self.parts:
            for view in part.assessments:
                for label in cited_labels(view.assessment) & places.keys():
                    places[label].append(view)
        return places

    @cached_property
    def drawing(self) -> ViewpointDrawing | None:
        """Of the verdict's evidence."""
        return drawing_of(self.report.verdict) if isinstance(self.report.verdict, Verdict) else None

    @cached_property
    def panel(self) -> BoardScores | None:
        """Of the board's scores."""
        return board_scores(self.report.board, self.report.parts) if self.report.board else None

    @cached_property
    def graph(self) -> GraphDrawing | None:
        return graph_drawing(self.report.graph) if self.report.graph else None

    @property
    def graph_contents(self) -> tuple[EvidenceNode, ...]:
        """Concepts, methods and claims that were ever in the graph."""
        nodes = self.report.graph.nodes if self.report.graph else ()
        return tuple(one for one in nodes if one.kind not in ("idea", "paper"))

    @property
    def led_by_verdict(self) -> bool:
        """Whether the verdict of labelled ideas is all there is to say."""
        return self.report.verdict is not None and not self.report.parts

    @property
    def claims_by_overlap(self) -> bool:
        """Whether claims were held against their quotes without a language model."""
        return self.report.coverage.claims is not None and not self.report.provenance.models

    @property
    def without_llm(self) -> bool:
        return any(notice.kind == "no_llm" for notice in self.report.notices)


def _part_view(part: Part, number: int) -> PartView:
    views = (
        AssessmentView(assessment, f"part-{number}-{place}")
        for place, assessment in enumerate(part.assessments, start=1)
    )
    return PartView(part, f"part-{number}", tuple(views))


LEAST_FILLED = 0.5
"""A part whose papers were mostly read for one assessment each is a list, not a matrix."""


def matrix_of(part: Part) -> StanceMatrix | None:
    """None when the part has fewer than two assessments, or its papers were not compared across them."""
    columns = [{one.label: one.stance for one in item.readings} for item in part.assessments]
    times_read = Counter(label for column in columns for label in column)
    judged = any(stance is not None for column in columns for stance in column.values())
    filled = times_read.total() / (len(columns) * len(times_read)) if judged else 0.0
    if len(columns) < 2 or filled < LEAST_FILLED:
        return None
    rows = [MatrixRow(label, tuple(column.get(label, "unread") for column in columns)) for label in times_read]
    return StanceMatrix(tuple(sorted(rows, key=_overlap)))


def _overlap(row: MatrixRow) -> tuple[int, int]:
    """Most often already there, then most often comparable; ties keep the order of reading."""
    return -row.stances.count(-1), -row.stances.count(0)


def board_scores(board: BoardRecord, parts: tuple[Part, ...]) -> BoardScores:
    places = {part.name: place for place, part in enumerate(parts)}
    judged = tuple(places[one.name] for one in board.dimensions)
    return BoardScores(
        parts=judged,
        rows=tuple(
            (reviewer, tuple(parts[place].assessments[row].score for place in judged))
            for row, reviewer in enumerate(board.reviewers)
        ),
        means=tuple(parts[place].score for place in judged),
    )
