"""What the terminal shows of finished reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assayer.models import Absent, Part, Point, Report, Score

__all__ = ["Line", "show_summary", "show_table"]

_HEADINGS = (
    ("strengths", "Strengths", "green"),
    ("weaknesses", "Weaknesses", "red"),
    ("suggestions", "Do next", "cyan"),
)


class Line(NamedTuple):
    """What the table shows of one report: all that is kept of it when there are thousands."""

    title: str
    soundness: str
    contribution: str
    fit: str
    cited: str
    file: str

    @classmethod
    def of(cls, report: Report, files: Sequence[Path]) -> "Line":
        fit = report.coverage.corpus_fit
        soundness, contribution = (_score(part) for part in report.parts)
        return cls(
            title=_short(report.idea.title, 60),
            soundness=soundness,
            contribution=contribution,
            fit="unknown" if isinstance(fit, Absent) else f"{fit.level} ({fit.value:.2f})",
            cited=str(len(report.references)),
            file=str(files[0]),
        )


def show_table(console: Console, lines: Sequence[Line]) -> None:
    if not lines:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("Idea", "Soundness", "Contribution", "Corpus fit", "Cited", "Report"):
        table.add_column(heading, overflow="fold")
    for line in lines:
        table.add_row(*map(escape, line))
    console.print(table)


def show_summary(console: Console, report: Report) -> None:
    """Notices and the summary of one report."""
    console.print(f"\n[bold]{escape(report.idea.title)}[/]", soft_wrap=True)
    for notice in report.notices:
        console.print(f"[yellow]![/] {escape(notice.text)}", soft_wrap=True)
    for name, heading, colour in _HEADINGS:
        points: tuple[Point, ...] = getattr(report.summary, name)
        for point in points:
            mark = " (quote not found in its source)" if point.downgraded else ""
            console.print(f"[{colour}]{heading}:[/] {escape(point.text)}{mark}", soft_wrap=True)


def _score(part: Part) -> str:
    return f"{part.score.value:.1f} of {part.score.scale_max:.0f}" if isinstance(part.score, Score) else "absent"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
