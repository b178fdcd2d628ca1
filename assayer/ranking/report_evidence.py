"""What an idea's report found, as a judge who compares ideas is shown it: points for and against, each with the quotes
that carry it.

Scores are left out, so that the judge compares what was found and not two numbers; labels become titles, since each
report has labels of its own.
"""

from collections.abc import Iterable, Iterator, Mapping

from assayer.citing.labels import LABEL
from assayer.errors import InputError
from assayer.models import Absent, Idea, IdeaId, Label, Point, Report, Summary

__all__ = ["evidence_of", "require_blind_evidence"]

_SIDES = {"support": "For", "strength": "For", "contradiction": "Against", "weakness": "Against"}
_MOST_QUOTES = 2
"""Of one point."""


def evidence_of(report: Report, chars: int) -> str:
    """At most so many characters, whole points only, the report's own first points before those of its parts. Empty
    where it has none."""
    titles = {
        one.label: f"{one.title} ({one.publication_date.year if one.publication_date else 'no date'})"
        for one in report.references
    }
    lines: list[str] = []
    left = chars
    for point in _points(report):
        shown = _shown(point, titles)
        if len(shown) + 1 <= left:
            lines.append(shown)
            left -= len(shown) + 1
    return "\n".join(lines)


def require_blind_evidence(ideas: Iterable[Idea], blind: Mapping[IdeaId, bool]) -> None:
    """For ideas that are compared blind. `blind`: of every idea with a report, whether that saw it masked. Raises
    InputError for reports that did not: their words may name who wrote the idea."""
    seen = [one.source for one in ideas if not blind.get(one.id, True)]
    if seen:
        raise InputError(
            f"The ideas are judged blind, and the reports of {len(seen):,} of them were not ({seen[0]}).",
            "Evaluate them with --blind, or rank with --no-blind.",
        )


def _points(report: Report) -> Iterator[Point]:
    """Those on either side in turn, so that what room there is shows both; nothing twice."""
    given: set[str] = set()
    for summary in (report.summary, *(one.summary for one in report.parts)):
        if isinstance(summary, Absent):
            continue
        for point in _in_turn(summary):
            if point.text not in given:
                given.add(point.text)
                yield point


def _in_turn(summary: Summary) -> Iterator[Point]:
    for rank in range(max(len(summary.strengths), len(summary.weaknesses))):
        yield from (*summary.strengths[rank : rank + 1], *summary.weaknesses[rank : rank + 1])


def _shown(point: Point, titles: Mapping[Label, str]) -> str:
    verified = [one for one in point.citations if one.quote_state == "verified" and one.quote]
    quotes = [f'    "{one.quote}": {titles[one.label]}' for one in verified[:_MOST_QUOTES] if one.label in titles]
    words = " ".join(LABEL.sub("", point.text).split()).replace(" .", ".").replace(" ,", ",")
    return "\n".join([f"{_SIDES[point.kind]}: {words}", *(quotes or ["    (no quote bears it out)"])])
