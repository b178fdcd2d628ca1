"""Evidence with short labels, the points that cite it, and the state of what they quote.

Inside one prompt papers are labelled `[P1]`, `[P2]` … in the order given. Answers cite those labels; before a
text leaves its step they become markers, `[@paper-id]`, and `assayer.numbering` numbers the markers once for
the whole report. So a step always renders the same prompt, whatever ran before it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal
from urllib.parse import quote as percent_encode
from urllib.parse import unquote

from assayer.models import Citation, Frozen, Label, PaperId, Point
from assayer.quotes import stands_in

__all__ = [
    "LABEL",
    "MARKER",
    "Evidence",
    "Quoted",
    "canonical",
    "check_quote",
    "labelled",
    "marker",
    "paper_of",
    "plain",
    "point",
    "relabel",
    "unknown_labels",
]

LABEL = re.compile(r"\[(P\d+(?:\s*[,;]\s*P\d+)*)\]")
"""`[P3]`, and the `[P3, P7]` that models write unasked."""
MARKER = re.compile(r"\[@([^\[\]@\s]+)\]")
_ONE = re.compile(r"P\d+")
_BRACKET = re.compile(r"\[[^\[\]]*\bP\d{1,2}\b[^\[\]]*\]")
"""Any bracket that speaks of a label: `[P3 and P4]`, `[P3-P5]`, `[P3, p. 4]` are not citations of ours. No prompt
has a hundred papers, and `[P450 enzymes]` is biology."""
_LINK = re.compile(
    r"(?:\b[a-z][a-z0-9+.-]*:)?//[^\s)\]>]+|\bwww\.[^\s)\]>]+|\bdoi:\s*10\.[^\s)\]>]+"
    r"|\b(?:[a-z0-9-]+\.)+[a-z]{2,}/[^\s)\]>]+",
    re.IGNORECASE,
)


class Evidence(Frozen):
    """One paper as a prompt shows it."""

    label: str
    """`P3`, without brackets; unique within the prompt only."""
    paper_id: PaperId
    title: str
    year: int | None
    text: str
    """Abstract, passages and sections as the prompt shows them."""
    full_text: bool = False
    similarity: float | None = None
    """Cosine of the paper with what it is held against; never shown to a model."""

    @property
    def shown(self) -> str:
        """Everything of the paper that the prompt shows: the only place its quotes may come from."""
        return f"{self.title}\n\n{self.text}"


class Quoted(Frozen):
    """A quote that an answer gave, and whether it stands in its source."""

    words: str
    state: Literal["verified", "not_found"]


def plain(text: str) -> str:
    """Text that must not cite: links and markers are taken out, and labels, which would name another paper
    outside the prompt they were written for."""
    text = _BRACKET.sub("(another paper)", text.replace("[@", "(@"))
    return " ".join(_LINK.sub("(link removed)", text).split())


def unknown_labels(text: str, known: Sequence[str]) -> list[str]:
    """What stands in brackets like a citation and is none: labels never given, and forms that are not ours."""
    cited = {one for group in LABEL.findall(text) for one in _ONE.findall(group)}
    malformed = {bracket for bracket in _BRACKET.findall(text) if not LABEL.fullmatch(bracket)}
    return sorted(cited - set(known)) + sorted(malformed)


def marker(paper: PaperId) -> Label:
    """What stands for a paper in texts and citations until the report is numbered."""
    return Label("@" + percent_encode(paper, safe=""))


def paper_of(label: str) -> PaperId:
    """The inverse of `marker`."""
    return PaperId(unquote(label.removeprefix("@")))


def canonical(text: str, papers: Mapping[str, PaperId]) -> str:
    """Replaces `[P3]` by the marker of its paper, and takes out links. Labels must be known."""
    text = _LINK.sub("(link removed)", text.replace("[@", "(@"))
    return LABEL.sub(lambda match: "".join(f"[{marker(papers[one])}]" for one in _ONE.findall(match[1])), text)


def relabel(text: str, labels: Mapping[PaperId, str]) -> str:
    """Replaces markers by the labels of another prompt."""
    return MARKER.sub(lambda match: f"[{labels[paper_of(match[1])]}]", text)


def point(
    kind: Literal["support", "contradiction", "strength", "weakness", "suggestion"],
    text: str,
    papers: Mapping[str, PaperId],
    quotes: Mapping[PaperId, Quoted],
) -> Point:
    """A point with the quotes of the papers it cites; downgraded when it has quotes and none was found."""
    text = canonical(text, papers)
    cited = list(dict.fromkeys(paper_of(one) for one in MARKER.findall(text)))
    citations = tuple(_citation(paper, quotes.get(paper)) for paper in cited)
    states = {citation.quote_state for citation in citations}
    return Point(
        kind=kind,
        text=text,
        citations=citations,
        downgraded="not_found" in states and "verified" not in states,
    )


def _citation(paper: PaperId, quoted: Quoted | None) -> Citation:
    if quoted is None:
        return Citation(label=marker(paper), quote=None, quote_state="none")
    return Citation(label=marker(paper), quote=quoted.words, quote_state=quoted.state)


def check_quote(quote: str, source: str) -> Quoted | None:
    """Whether the quoted words stand in the source, and the words as they may be shown; None when nothing is quoted.

    Words of the source are shown as they are, an address among them too: they are the paper's, not the model's.
    """
    words = " ".join(quote.strip().strip("\"'“”").split())
    if not words:
        return None
    # Paragraph by paragraph: no quote runs from one passage or section into the next.
    if any(stands_in(words, paragraph) for paragraph in source.split("\n\n")):
        return Quoted(words=words, state="verified")
    return Quoted(words=plain(words), state="not_found")


def labelled(items: Iterable[PaperId]) -> dict[str, PaperId]:
    """`P1`, `P2` … for papers in the order given."""
    return {f"P{number}": paper for number, paper in enumerate(items, start=1)}
