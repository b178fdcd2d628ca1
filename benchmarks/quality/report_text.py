"""What a report says of an idea, as text to be read by a judge: all of it, and nothing of how it was made.

Left out are the idea's own text, in which everything that experts speak of is mentioned, references, what was searched,
and how the report came about.
"""

from collections.abc import Iterable, Iterator, Mapping

from assayer.models import Absent, Assessment, Citation, Label, PlanReview, Point, Report, Score, Summary
from assayer.models.board import MetaReview
from assayer.reports.plan_wording import ITEMS

__all__ = ["judgement_lines", "judgement_text", "pieces", "plan_lines", "quoted_words"]


def judgement_text(report: Report) -> str:
    return "\n".join(judgement_lines(report))


def pieces(text: str, most: int) -> list[str]:
    """The whole text in parts of at most so many characters, cut between lines where there are any."""
    found, left = [], text
    while len(left) > most:
        end = left.rfind("\n", 0, most)
        end = end if end > 0 else most
        found.append(left[:end])
        left = left[end:].lstrip("\n")
    return [*found, left] if left or not found else found


def judgement_lines(report: Report) -> Iterator[str]:
    titles = {one.label: one.title for one in report.references}
    yield "# In short"
    yield from _summary(report.summary, titles)
    for part in report.parts:
        yield f"\n# {part.title}"
        yield from _summary(part.summary, titles)
        for one in part.assessments:
            yield from _assessment(one, titles)
    if report.board and isinstance(report.board.meta_review, MetaReview):
        yield f"\n# Meta-review\n{report.board.meta_review.text}"
    if report.plan_review:
        yield "\n# The plan by itself, judged without literature"
        yield from plan_lines(report.plan_review, titles)


def plan_lines(review: PlanReview, titles: Mapping[Label, str]) -> Iterator[str]:
    if not isinstance(review.checklist, Absent):
        missing = [ITEMS[row.item] for row in review.checklist if row.outcome == "not_stated"]
        if missing:
            yield f"Not stated, as far as wordings tell: {'; '.join(missing)}."
    for flaw in () if isinstance(review.flaws, Absent) else review.flaws:
        change = f" Change: {flaw.change}" if flaw.change else ""
        yield f"Doubt ({flaw.aspect}, {flaw.certainty}): {flaw.text}{change}"
        yield from _plan_quote(flaw.quote.quote)
    for one in review.comparators:
        near = () if isinstance(one.papers, Absent) else one.papers
        named = "; ".join(titles.get(paper.label, paper.label) for paper in near)
        yield f"Should be compared with: {one.text} ({one.purpose}){f' Papers on it: {named}.' if named else ''}"
        yield from _plan_quote(one.quote.quote)


def _plan_quote(words: str) -> Iterator[str]:
    if words:
        yield f'    the plan: "{words}"'


def _summary(summary: Summary | Absent, titles: Mapping[Label, str]) -> Iterator[str]:
    if isinstance(summary, Absent):
        return
    for points in (summary.strengths, summary.weaknesses, summary.suggestions):
        yield from _points(points, titles)


def _assessment(one: Assessment, titles: Mapping[Label, str]) -> Iterator[str]:
    score = one.score
    yield f"\n## {one.name}"
    yield f"({one.statement})"
    yield f"Score: {score.value:g}. {score.basis}" if isinstance(score, Score) else f"No score: {score.reason}"
    yield from _points(one.points, titles)
    for reading in one.readings:
        if reading.stance is not None:
            yield f"Read: {titles.get(reading.label, reading.label)}: {reading.text}"


def _points(points: Iterable[Point], titles: Mapping[Label, str]) -> Iterator[str]:
    for one in points:
        yield f"{one.kind.capitalize()}: {one.text}"
        for citation in one.citations:
            yield from _cited(citation, titles)


def _cited(citation: Citation, titles: Mapping[Label, str]) -> Iterator[str]:
    yield f"    [{citation.label}] {titles.get(citation.label, 'unknown')}: {quoted_words(citation)}"


def quoted_words(citation: Citation) -> str:
    """All verified quotes of a citation."""
    if not citation.quote or citation.quote_state != "verified":
        return "no quote"
    return " and ".join(f'"{one}"' for one in (citation.quote, *(more.quote for more in citation.further)))
