"""Text of a report for a judge to read, without anything about how it was made. It leaves out the idea's own text
(which mentions everything that experts comment on), the references, the searches, and how the report was produced."""

from collections.abc import Iterable, Iterator, Mapping

from assayer.models import Absent, Assessment, Citation, Label, PlanReview, Point, Report, Score, Summary
from assayer.models.board import MetaReview
from assayer.reports.markdown import render_report_markdown


def extract_judgement(report: Report) -> str:
    return "\n".join(list_judgement_lines(report))


def split_text(text: str, max_chars: int) -> list[str]:
    """Split a text into parts of at most `max_chars` characters, between lines if possible."""
    text_pieces, remaining_text = [], text
    while len(remaining_text) > max_chars:
        end = remaining_text.rfind("\n", 0, max_chars)
        end = end if end > 0 else max_chars
        text_pieces.append(remaining_text[:end])
        remaining_text = remaining_text[end:].lstrip("\n")
    return [*text_pieces, remaining_text] if remaining_text or not text_pieces else text_pieces


def list_judgement_lines(report: Report) -> Iterator[str]:
    titles = {reference.label: reference.title for reference in report.references}
    if report.panel_review is not None:
        yield _extract_first_page(report)
        return
    yield "# In short"
    yield from _format_summary(report.summary, titles)
    for part in report.parts:
        yield f"\n# {part.title}"
        yield from _format_summary(part.summary, titles)
        for assessment in part.assessments:
            yield from _format_assessment(assessment, titles)
    if report.board and isinstance(report.board.meta_review, MetaReview):
        yield f"\n# Meta-review\n{report.board.meta_review.text}"
    if report.plan_review:
        yield "\n# The plan by itself, judged without literature"
        yield from list_plan_lines(report.plan_review, titles)


def _extract_first_page(report: Report) -> str:
    """Return the text of a panel's first page as people see it, without its scores and without the hint on how to read
    labels, as what the labels stand for is not shown."""
    before_scores, _, _ = render_report_markdown(report).partition("\n## Scores")
    page = before_scores.partition("## Verdict")[2]
    lines = [line for line in page.split("\n") if "panel's own judgement" not in line]
    return "\n".join(["## Verdict", *lines[1:]])


def list_plan_lines(review: PlanReview, titles: Mapping[Label, str]) -> Iterator[str]:
    for flaw in () if isinstance(review.flaws, Absent) else review.flaws:
        change = f" Change: {flaw.change}" if flaw.change else ""
        yield f"Doubt ({flaw.aspect}, {flaw.certainty}): {flaw.text}{change}"
        yield from _format_plan_quote(flaw.quote.quote)
    for comparator in review.comparators:
        near_papers = () if isinstance(comparator.papers, Absent) else comparator.papers
        paper_titles = "; ".join(titles.get(paper.label, paper.label) for paper in near_papers)
        papers = f" Papers on it: {paper_titles}." if paper_titles else ""
        yield f"Should be compared with: {comparator.text} ({comparator.purpose}){papers}"
        yield from _format_plan_quote(comparator.quote.quote)


def _format_plan_quote(words: str) -> Iterator[str]:
    if words:
        yield f'    the plan: "{words}"'


def _format_summary(summary: Summary | Absent, titles: Mapping[Label, str]) -> Iterator[str]:
    if isinstance(summary, Absent):
        return
    for points in (summary.strengths, summary.weaknesses, summary.suggestions):
        yield from _format_points(points, titles)


def _format_assessment(assessment: Assessment, titles: Mapping[Label, str]) -> Iterator[str]:
    score = assessment.score
    yield f"\n## {assessment.name}"
    yield f"({assessment.statement})"
    yield f"Score: {score.value:g}. {score.basis}" if isinstance(score, Score) else f"No score: {score.reason}"
    yield from _format_points(assessment.points, titles)
    for reading in assessment.readings:
        if reading.stance is not None:
            yield f"Read: {titles.get(reading.label, reading.label)}: {reading.text}"


def _format_points(points: Iterable[Point], titles: Mapping[Label, str]) -> Iterator[str]:
    for point in points:
        yield f"{point.kind.capitalize()}: {point.text}"
        for citation in point.citations:
            yield from _format_citation(citation, titles)


def _format_citation(citation: Citation, titles: Mapping[Label, str]) -> Iterator[str]:
    yield f"    [{citation.label}] {titles.get(citation.label, 'unknown')}: {format_quotes(citation)}"


def format_quotes(citation: Citation) -> str:
    """Return all verified quotes of a citation."""
    if not citation.quote or citation.quote_state != "verified":
        return "no quote"
    return " and ".join(
        f'"{quote}"' for quote in (citation.quote, *(further_quote.quote for further_quote in citation.further))
    )
