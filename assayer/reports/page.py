"""What the HTML and the Markdown page have in common: the report with what can be looked up in it."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from assayer.models import Absent, Assessment, Label, Part, Reference, Report, Score, Verdict
from assayer.reports.labels import cited_labels
from assayer.reports.matrix import Matrix, matrix_of
from assayer.reports.neighbourhood import Drawing, drawing_of
from assayer.reports.panel import Panel, panel_of

__all__ = ["AssessmentView", "Page", "PartView", "share"]


@dataclass(frozen=True)
class AssessmentView:
    """An assessment and where it stands on the page."""

    assessment: Assessment
    anchor: str

    @cached_property
    def stances(self) -> Counter[int | None]:
        return Counter(reading.stance for reading in self.assessment.readings)


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
    def matrix(self) -> Matrix | None:
        return matrix_of(self.part)


@dataclass(frozen=True)
class Page:
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
        if self.report.board is None:
            return self.parts
        judged = {one.name for one in self.report.board.dimensions}
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
    def drawing(self) -> Drawing | None:
        """Of the verdict's evidence."""
        return drawing_of(self.report.verdict) if isinstance(self.report.verdict, Verdict) else None

    @cached_property
    def panel(self) -> Panel | None:
        """Of the board's scores."""
        return panel_of(self.report.board, self.report.parts) if self.report.board else None

    @property
    def led_by_verdict(self) -> bool:
        """Whether the verdict of labelled ideas is all there is to say."""
        return self.report.verdict is not None and not self.report.parts

    @property
    def without_llm(self) -> bool:
        return any(notice.kind == "no_llm" for notice in self.report.notices)


def _part_view(part: Part, number: int) -> PartView:
    views = (
        AssessmentView(assessment, f"part-{number}-{place}")
        for place, assessment in enumerate(part.assessments, start=1)
    )
    return PartView(part, f"part-{number}", tuple(views))


def share(score: Score | Absent) -> float | None:
    """Where a score lies on its own scale, 0 to 1; None when there is no score."""
    if isinstance(score, Absent):
        return None
    width = score.scale_max - score.scale_min
    return min(1.0, max(0.0, (score.value - score.scale_min) / width)) if width > 0 else None
