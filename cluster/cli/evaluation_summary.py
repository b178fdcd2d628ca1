"""Terminal output about finished reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypedDict

from rich.markup import escape

from assayer.models import (
    Absent,
    EvidenceReport,
    Part,
    PlanReview,
    Point,
    Report,
    ReportRelease,
    Score,
    Verdict,
    suspicious_kinds,
)
from assayer.reports.plan_wording import ITEMS
from assayer.reports.release import was_made_without_model
from assayer.reports.wording import MINIMA, describe_incomplete, format_measured
from cluster.cli.terminal import print_markup, show_table

_HEADINGS = (
    ("strengths", "Strengths", "green"),
    ("weaknesses", "Weaknesses", "red"),
    ("suggestions", "Do next", "cyan"),
)


_MAX_CLOSEST_PAPERS = 5

_SUSPICIOUS, _NOTHING = "Suspicious text", "none"


class SummaryRow(NamedTuple):
    """Values of a report that the summary table shows. Only these are kept in memory when there are many reports."""

    title: str
    figures: tuple[tuple[str, str], ...]
    """Headings and values specific to the method."""
    file: str

    @classmethod
    def from_report(cls, report: Report, files: Sequence[Path]) -> "SummaryRow":
        figures = [] if was_made_without_model(report) else [(part.title, _format_score(part)) for part in report.parts]
        figures.append((_SUSPICIOUS, ", ".join(suspicious_kinds(report.idea.flags)).replace("_", " ") or _NOTHING))
        if report.evidence is not None:
            figures += _count_evidence(report.evidence)
        elif report.release is not None:
            figures.append(("Release", report.release.state))
        if isinstance(report.verdict, Verdict):
            figures.append(("Labelled ideas", _format_outcome(report.verdict)))
        if report.parts or report.evidence:
            fit = report.coverage.corpus_fit
            figures.append(("Corpus fit", "unknown" if isinstance(fit, Absent) else f"{fit.level} ({fit.value:.2f})"))
        if report.parts:
            figures.append(("Cited", str(len(report.references))))
        return cls(title=_truncate(report.idea.title, 60), figures=tuple(figures), file=str(files[0]))


class ReportRecord(TypedDict):
    """Values of a report that `--json` prints. The full report is in the files."""

    source: str
    title: str
    method: str
    complete: bool | None
    """Whether the report meets the minimum requirements for a total score; None if the method has no total."""
    scores: dict[str, float | None]
    files: list[str]


def build_report_record(report: Report, files: Sequence[Path]) -> ReportRecord:
    """Return the values of a report that `--json` prints."""
    return ReportRecord(
        source=report.idea.source,
        title=report.idea.title,
        method=report.method,
        complete=None if report.release is None else not report.release.failed,
        scores={part.name: part.score.value if isinstance(part.score, Score) else None for part in report.parts},
        files=[str(file) for file in files],
    )


def show_summary_table(lines: Sequence[SummaryRow]) -> None:
    """Print a table of reports, all by the same method."""
    if not lines:
        return
    headings = list(dict.fromkeys(heading for line in lines for heading, _ in line.figures))
    if all((_SUSPICIOUS, _NOTHING) in line.figures for line in lines):
        headings.remove(_SUSPICIOUS)
    rows = [
        (line.title, *(dict(line.figures).get(heading, "absent") for heading in headings), line.file) for line in lines
    ]
    show_table(("Idea", *headings, "Report"), rows)


def show_summary(report: Report) -> None:
    """Print a report's summary and notices and, if it is incomplete, the requirements that it does not meet."""
    print_markup(f"\n[bold]{escape(report.idea.title)}[/]")
    if report.release is not None and report.evidence is None:
        _show_release(report.release, describe_incomplete(report).title)
    for notice in report.notices:
        print_markup(f"[yellow]![/] {escape(notice.text)}")
    if isinstance(report.verdict, Verdict):
        _show_verdict(report.verdict)
    if report.evidence is not None:
        _show_closest_papers(report, report.evidence)
    if report.panel_review is not None:
        print_markup(f"[bold]Verdict:[/] {escape(report.panel_review.verdict)}")
    for name, heading, colour in _HEADINGS:
        points: tuple[Point, ...] = getattr(report.summary, name)
        for point in points:
            quote_note = " (quote not verified in its source)" if point.downgraded else ""
            print_markup(f"[{colour}]{heading}:[/] {escape(point.text)}{quote_note}")
    if report.plan_review is not None:
        _show_plan_review(report.plan_review)


def _show_closest_papers(report: Report, evidence: EvidenceReport) -> None:
    """Print the papers closest to the idea, each with its most similar passage."""
    references = {reference.label: reference for reference in report.references}
    nearest = sorted(evidence.closest_passages, key=lambda item: -item.similarity)
    for neighbour in nearest[:_MAX_CLOSEST_PAPERS]:
        paper = references[neighbour.paper.label]
        year = paper.publication_date.year if paper.publication_date else "no date"
        quote = _truncate(neighbour.paper.quote or "", 160)
        line = f"[{neighbour.paper.label}] {_truncate(paper.title, 100)} ({year}): “{quote}”"
        print_markup(f"[cyan]Close paper, not judged:[/] {escape(line)}")
    if not nearest:
        print_markup("[cyan]No close paper was found.[/]")
    rows = () if isinstance(evidence.not_stated, Absent) else evidence.not_stated or ()
    if rows:
        missing_items = "; ".join(ITEMS[row.item] for row in rows)
        print_markup(f"[magenta]Possibly not stated:[/] {missing_items}")


def _show_plan_review(review: PlanReview) -> None:
    flaws = () if isinstance(review.flaws, Absent) else review.flaws
    for flaw in flaws[:3]:
        print_markup(f"[magenta]Doubt, not based on literature:[/] {escape(flaw.text)}")


def _show_release(release: ReportRelease, meaning: str) -> None:
    for minimum in release.failed:
        print_markup(
            f"[red]Incomplete, {meaning}:[/] {MINIMA[minimum.name]} {format_measured(minimum.measured)}, minimum "
            f"{format_measured(minimum.minimum)}. {escape(minimum.basis)}"
        )


def _show_verdict(verdict: Verdict) -> None:
    for comparison in verdict.evidence[:3]:
        nearest = comparison.neighbours[0]
        print_markup(
            f"[cyan]Compared with {escape(nearest.label or 'an unknown outcome')}:[/] {escape(comparison.text)} "
            f"[dim]~ {escape(nearest.text)} ({nearest.similarity:.2f}, {escape(_truncate(nearest.title, 60))})[/]"
        )
    for chance in verdict.probabilities:
        print_markup(
            f"{escape(chance.name)}: {chance.probability:.0%} ({chance.low:.0%} to {chance.high:.0%}), "
            f"base rate {chance.rate:.0%}"
        )
    if isinstance(verdict.decision, Absent):
        print_markup(f"No outcome: {escape(verdict.decision.reason)}")


def _count_evidence(evidence: EvidenceReport) -> list[tuple[str, str]]:
    """Return headings and counts for the items in an evidence report."""
    counts = (
        ("Close papers", evidence.closest_passages),
        ("Limitations quoted", evidence.limitations),
        ("Possibly missing references", evidence.often_cited),
    )
    return [(heading, f"{len(items)}") for heading, items in counts]


def _format_outcome(verdict: Verdict) -> str:
    """Return the outcome and its probability, or `no outcome named`."""
    if isinstance(verdict.decision, Absent):
        return "no outcome named"
    probability = next(
        (probability.probability for probability in verdict.probabilities if probability.name == verdict.decision), None
    )
    return verdict.decision if probability is None else f"{verdict.decision} ({100 * probability:.0f} %)"


def _format_score(part: Part) -> str:
    return f"{part.score.value:.1f} of {part.score.scale_max:.0f}" if isinstance(part.score, Score) else "absent"


def _truncate(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
