"""What the terminal shows of finished reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assayer.models import Absent, Part, PlanReview, Point, Report, ReportRelease, Score, Verdict, suspicious_kinds
from assayer.reports.plan_wording import not_stated
from assayer.reports.wording import MINIMA, measured

__all__ = ["SummaryRow", "show_summary", "show_summary_table"]

_HEADINGS = (
    ("strengths", "Strengths", "green"),
    ("weaknesses", "Weaknesses", "red"),
    ("suggestions", "Do next", "cyan"),
)


_SUSPICIOUS, _NOTHING = "Suspicious text", "none"


class SummaryRow(NamedTuple):
    """What the table shows of one report: all that is kept of it when there are thousands."""

    title: str
    figures: tuple[tuple[str, str], ...]
    """Headings and values: what differs between methods."""
    file: str

    @classmethod
    def of(cls, report: Report, files: Sequence[Path]) -> "SummaryRow":
        figures = [(part.title, _score(part)) for part in report.parts]
        figures.append((_SUSPICIOUS, ", ".join(suspicious_kinds(report.idea.flags)).replace("_", " ") or _NOTHING))
        if report.release is not None:
            figures.append(("Release", report.release.state))
        if isinstance(report.verdict, Verdict):
            figures.append(("Labelled ideas", _outcome(report.verdict)))
        if report.parts:
            fit = report.coverage.corpus_fit
            figures.append(("Corpus fit", "unknown" if isinstance(fit, Absent) else f"{fit.level} ({fit.value:.2f})"))
            figures.append(("Cited", str(len(report.references))))
        return cls(title=_short(report.idea.title, 60), figures=tuple(figures), file=str(files[0]))


def show_summary_table(console: Console, lines: Sequence[SummaryRow]) -> None:
    """Of reports of one method."""
    if not lines:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    # What none of them has is not asked for here: why is said by the report.
    headings = list(dict.fromkeys(heading for line in lines for heading, _ in line.figures))
    if all((_SUSPICIOUS, _NOTHING) in line.figures for line in lines):
        headings.remove(_SUSPICIOUS)
    for heading in ("Idea", *headings, "Report"):
        table.add_column(heading, overflow="fold")
    for line in lines:
        values = dict(line.figures)
        table.add_row(*map(escape, (line.title, *(values.get(one, "absent") for one in headings), line.file)))
    console.print(table)


def show_summary(console: Console, report: Report) -> None:
    """What it lacks for a total, notices and the summary of one report."""
    console.print(f"\n[bold]{escape(report.idea.title)}[/]", soft_wrap=True)
    if report.release is not None:
        _show_release(console, report.release)
    for notice in report.notices:
        console.print(f"[yellow]![/] {escape(notice.text)}", soft_wrap=True)
    if isinstance(report.verdict, Verdict):
        _show_verdict(console, report.verdict)
    for name, heading, colour in _HEADINGS:
        points: tuple[Point, ...] = getattr(report.summary, name)
        for point in points:
            mark = " (quote not verified in its source)" if point.downgraded else ""
            console.print(f"[{colour}]{heading}:[/] {escape(point.text)}{mark}", soft_wrap=True)
    if report.plan_review is not None:
        _show_plan_review(console, report.plan_review)


def _show_plan_review(console: Console, review: PlanReview) -> None:
    flaws = () if isinstance(review.flaws, Absent) else review.flaws
    for flaw in flaws[:3]:
        console.print(f"[magenta]Doubt, without literature:[/] {escape(flaw.text)}", soft_wrap=True)
    if missing := not_stated(review):
        console.print(f"[magenta]Not stated, by wordings:[/] {'; '.join(missing)}", soft_wrap=True)


def _show_release(console: Console, release: ReportRelease) -> None:
    for one in release.failed:
        console.print(
            f"[red]Incomplete, no total:[/] {MINIMA[one.name]} {measured(one.measured)}, at least "
            f"{measured(one.minimum)} is needed. {escape(one.basis)}",
            soft_wrap=True,
        )


def _show_verdict(console: Console, verdict: Verdict) -> None:
    for one in verdict.evidence[:3]:
        near = one.neighbours[0]
        console.print(
            f"[cyan]Beside {escape(near.label or 'an unknown outcome')}:[/] {escape(one.text)} "
            f"[dim]~ {escape(near.text)} ({near.similarity:.2f}, {escape(_short(near.title, 60))})[/]",
            soft_wrap=True,
        )
    for chance in verdict.probabilities:
        console.print(
            f"{escape(chance.name)}: {chance.probability:.0%} ({chance.low:.0%} to {chance.high:.0%}), "
            f"{chance.rate:.0%} knowing nothing",
            soft_wrap=True,
        )
    if isinstance(verdict.decision, Absent):
        console.print(f"No outcome is named: {escape(verdict.decision.reason)}", soft_wrap=True)


def _outcome(verdict: Verdict) -> str:
    """The outcome named, with its probability, or that none is."""
    if isinstance(verdict.decision, Absent):
        return "no outcome named"
    probability = next((one.probability for one in verdict.probabilities if one.name == verdict.decision), None)
    return verdict.decision if probability is None else f"{verdict.decision} ({100 * probability:.0f} %)"


def _score(part: Part) -> str:
    return f"{part.score.value:.1f} of {part.score.scale_max:.0f}" if isinstance(part.score, Score) else "absent"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
