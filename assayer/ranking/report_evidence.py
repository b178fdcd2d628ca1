"""Turn an idea's report into evidence for the judge that compares ideas: points for and against, each with its quotes.

Scores are left out, so that the judge compares findings rather than two numbers. Reference labels are replaced by
titles, because each report has its own labels."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, zip_longest

from assayer.errors import InputError
from assayer.models import Absent, Idea, IdeaId, Label, Point, Report
from assayer.models.assessment import LABEL

_SIDES = {"support": "For", "strength": "For", "contradiction": "Against", "weakness": "Against"}
_MAX_QUOTES = 2
"""Maximum number of quotes per point."""


def format_evidence(report: Report, max_chars: int) -> str:
    """Return a report's evidence in at most `chars` characters, or an empty string if it has none. Only whole points
    are included; the report's own points come before those of its parts."""
    titles = {
        paper.label: f"{paper.title} ({paper.publication_date.year if paper.publication_date else 'no date'})"
        for paper in report.references
    }
    lines: list[str] = []
    remaining_chars = max_chars
    for point in _alternate_points(report):
        formatted_point = _format_point(point, titles)
        if len(formatted_point) + 1 <= remaining_chars:
            lines.append(formatted_point)
            remaining_chars -= len(formatted_point) + 1
    return "\n".join(lines)


def require_blind_evidence(ideas: Iterable[Idea], blind: Mapping[IdeaId, bool]) -> None:
    """Check that ideas judged blind have blind reports. `blind` says, for every idea with a report, whether the report
    was made from the masked idea. Raises InputError if a report was made from the unmasked idea, because it may reveal
    who wrote the idea."""
    unblinded = [idea.source for idea in ideas if not blind.get(idea.id, True)]
    if unblinded:
        raise InputError(
            f"The ideas are judged blind, but {len(unblinded):,} of their reports were not "
            f"produced blind "
            f"(first: {unblinded[0]}).",
            "Evaluate them with --blind, or rank with --no-blind.",
        )


def _alternate_points(report: Report) -> Iterator[Point]:
    """Yield each point once, alternating between for and against, so that both sides fit into limited space."""
    yielded_texts: set[str] = set()
    for summary in (report.summary, *(part.summary for part in report.parts)):
        if isinstance(summary, Absent):
            continue
        for point in chain.from_iterable(zip_longest(summary.strengths, summary.weaknesses)):
            if point is not None and point.text not in yielded_texts:
                yielded_texts.add(point.text)
                yield point


def _format_point(point: Point, titles: Mapping[Label, str]) -> str:
    verified_citations = [
        citation for citation in point.citations if citation.quote_state == "verified" and citation.quote
    ]
    quotes = [
        f'    "{item.quote}": {titles[item.label]}' for item in verified_citations[:_MAX_QUOTES] if item.label in titles
    ]
    plain_text = " ".join(LABEL.sub("", point.text).split()).replace(" .", ".").replace(" ,", ",")
    return "\n".join([f"{_SIDES[point.kind]}: {plain_text}", *(quotes or ["    (no quote bears it out)"])])
