"""Citation labels and markers.

A prompt labels its papers `[P1]`, `[P2]` … in order, and answers cite these labels. Before a text leaves its step, the
labels become markers, `[@paper-id]`, which `assayer.citing.numbering` numbers once for the whole report. So the prompt
that a step renders does not depend on the steps that ran before it."""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote as percent_encode
from urllib.parse import unquote

from assayer.models import Assessment, Label, PaperId, Point
from assayer.models.assessment import LABEL

MARKER = re.compile(r"\[@([^\[\]@\s]+)\]")
_SINGLE_LABEL = re.compile(r"P\d+")
_BRACKET = re.compile(r"\[[^\[\]]{0,200}\bP\d{1,5}\b[^\[\]]{0,200}\]")
"""Matches any bracket that contains a label. Forms such as `[P3 and P4]`, `[P3-P5]` and `[P3, p. 4]` are not valid
citations either."""
_LINK = re.compile(
    r"(?:\b[a-z][a-z0-9+.-]{0,15}:)?//[^\s)\]>]+|\bwww\.[^\s)\]>]+|\bdoi:\s*10\.[^\s)\]>]+"
    r"|\b(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24}/[^\s)\]>]+",
    re.IGNORECASE,
)


def strip_citations(text: str) -> str:
    """Strip links, markers and labels from a text that must not contain citations. A label is valid only within its own
    prompt; elsewhere it would refer to another paper."""
    text = LABEL.sub("(another paper)", text.replace("[@", "(@"))
    text = _BRACKET.sub("(another paper)", text)
    return " ".join(_LINK.sub("(link removed)", text).split())


def complain_about_uncited_texts(texts: Iterable[str]) -> list[str]:
    """Return a complaint for every text that should cite a paper but does not."""
    return [f"This claim cites no paper: {text[:80]!r}." for text in texts if not LABEL.search(text)]


def build_marker(paper: PaperId) -> Label:
    """Return a paper's marker: the placeholder used in texts and citations until the report is numbered."""
    return Label("@" + percent_encode(paper, safe=""))


def parse_marker(label: str) -> PaperId:
    """Return the paper that a marker refers to; the inverse of `build_marker`."""
    return PaperId(unquote(label.removeprefix("@")))


def replace_labels_with_markers(text: str, papers: Mapping[str, PaperId]) -> str:
    """Replace every label, such as `[P3]`, with its paper's marker, and remove links. All labels must be known."""
    text = _LINK.sub("(link removed)", text.replace("[@", "(@"))
    return LABEL.sub(
        lambda match: "".join(f"[{build_marker(papers[item])}]" for item in _SINGLE_LABEL.findall(match[1])), text
    )


def relabel(text: str, labels: Mapping[PaperId, str]) -> str:
    """Replace markers with the labels of another prompt."""
    return MARKER.sub(lambda match: f"[{labels[parse_marker(match[1])]}]", text)


def label_papers(items: Iterable[PaperId]) -> dict[str, PaperId]:
    """Map the labels `P1`, `P2` … to the papers, in the order passed."""
    return {f"P{number}": paper for number, paper in enumerate(items, start=1)}


def check_each_once(expected_labels: Sequence[str], answered_labels: Iterable[str], noun: str) -> list[str]:
    """Return complaints about wanted labels that were not answered exactly once, and about labels that were not
    wanted."""
    counts = Counter(answered_labels)
    complaints = [f"There is no entry for {noun} {label}." for label in expected_labels if label not in counts]
    complaints += [f"{noun.capitalize()} {label} has {n} entries." for label, n in counts.items() if n > 1]
    return complaints + [
        f"{label} is not a {noun} given here." for label in counts if label not in set(expected_labels)
    ]


def complain_about_unknown_labels(labels: Iterable[str], known_labels: Iterable[str], noun: str) -> list[str]:
    """Return a complaint for every label that was not in the question."""
    return [f"{label} is not a {noun} given here." for label in sorted(set(labels) - set(known_labels))]


def split_at_labels(text: str, known_labels: Container[Label]) -> Iterator[tuple[str, Label | None]]:
    """Split a text into words and labels, in order. Words come with None; a label comes as written (`[P3]`) with the
    label. `[P3, P7]` becomes two labels; an unknown label counts as words."""
    position = 0
    for match in LABEL.finditer(text):
        if match.start() > position:
            yield text[position : match.start()], None
        for item in _SINGLE_LABEL.findall(match[1]):
            label = Label(item)
            yield f"[{item}]", (label if label in known_labels else None)
        position = match.end()
    if position < len(text):
        yield text[position:], None


def find_labels(text: str) -> Iterator[Label]:
    """Yield the labels that a text cites, in order."""
    for group in LABEL.findall(text):
        yield from map(Label, _SINGLE_LABEL.findall(group))


def find_point_labels(point: Point) -> Iterator[Label]:
    yield from find_labels(point.text)
    yield from (citation.label for citation in point.citations)


def collect_cited_labels(assessment: Assessment) -> set[Label]:
    """Return every label used in the assessment's texts, citations and readings."""
    labels = set(find_labels(assessment.statement))
    for point in assessment.points:
        labels.update(find_point_labels(point))
    for reading in assessment.readings:
        labels.update({reading.label, *find_labels(reading.text)})
    return labels
