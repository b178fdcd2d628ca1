"""Where the texts of a report cite: `[P3]` becomes a link, everything else stays text."""

import re
from collections.abc import Container, Iterator

from assayer.evidence import LABEL
from assayer.models import Assessment, Label, Point

__all__ = ["cited_labels", "segments"]

_ONE = re.compile(r"P\d+")


def segments(text: str, known: Container[Label]) -> Iterator[tuple[str, Label | None]]:
    """The text in order: stretches of words with None, and labels as written (`[P3]`) with their label.

    `[P3, P7]` comes apart into two; a label that is not known stays words.
    """
    position = 0
    for match in LABEL.finditer(text):
        if match.start() > position:
            yield text[position : match.start()], None
        for one in _ONE.findall(match[1]):
            label = Label(one)
            yield f"[{one}]", (label if label in known else None)
        position = match.end()
    if position < len(text):
        yield text[position:], None


def _in_text(text: str) -> Iterator[Label]:
    for group in LABEL.findall(text):
        yield from map(Label, _ONE.findall(group))


def _in_point(point: Point) -> Iterator[Label]:
    yield from _in_text(point.text)
    yield from (citation.label for citation in point.citations)


def cited_labels(assessment: Assessment) -> set[Label]:
    """Every label that the assessment uses: in texts, citations and readings."""
    labels = set(_in_text(assessment.statement))
    for point in assessment.points:
        labels.update(_in_point(point))
    for reading in assessment.readings:
        labels.update({reading.label, *_in_text(reading.text)})
    return labels
