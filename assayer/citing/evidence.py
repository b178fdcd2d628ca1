"""Evidence that prompts show, the points that cite it, and whether what they quote stands in it."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Literal, TypeVar

from assayer.citing.claim_numbers import KnownNumbers, numbers_in
from assayer.citing.foreign_citations import foreign_citations
from assayer.citing.foreign_labels import without_labels
from assayer.citing.labels import MARKER, canonical, marker, paper_of, plain
from assayer.citing.quote_context import objection
from assayer.citing.quotes import SourceSpan, find_quote, stands_in
from assayer.models import Citation, Frozen, PaperId, Point

__all__ = ["TITLE_ALONE", "Evidence", "Quoted", "ShownPlace", "check_quote", "citation_of", "evidence_batches", "point"]

EvidenceT = TypeVar("EvidenceT", bound="Evidence")

_ENDS = re.compile(r"[.!?…。！？:*$}\])»”’\"']$|://|^www\.|@")
"""How the last word of a whole text looks: with a mark that ends a sentence or closes something, or an address."""


class ShownPlace(Frozen):
    """Where a stretch of an evidence's text comes from; it runs up to the next one."""

    start: int
    """Offset in the text."""
    name: str
    """`abstract`, `title`, the title of a section …"""


class Evidence(Frozen):
    """One paper as a prompt shows it."""

    label: str
    """`P3`, without brackets; unique within the prompt only."""
    paper_id: PaperId
    title: str
    year: int | None
    text: str
    """Abstract, passages and sections as the prompt shows them."""
    places: tuple[ShownPlace, ...] = ()
    """What the stretches of the text are, in order; those that begin after its end were cut off."""
    full_text: bool = False
    similarity: float | None = None
    """Cosine of the paper with what it is held against; never shown to a model."""

    @property
    def shown(self) -> str:
        """Everything of the paper that the prompt shows. Its quotes may come from the text, not from the title."""
        return f"{self.title}\n\n{self.text}"

    @property
    def breaks_off(self) -> bool:
        """Whether the text ends in the middle of a sentence: cut to fit, or handed on so by its source."""
        last = self.text.split()[-1:]
        return bool(last) and not _ENDS.search(last[0])

    @property
    def numbers(self) -> frozenset[Decimal]:
        """What a claim on the paper may take its numbers from: all that is shown, and the year."""
        return numbers_in(f"{self.shown}\n\n{self.year or ''}")

    def place_at(self, offset: int) -> str | None:
        """Of a character of the text; None where nobody said."""
        return next((one.name for one in reversed(self.places) if one.start <= offset), None)


def evidence_batches(
    evidence: Sequence[EvidenceT], most: int, most_chars: int | None = None
) -> list[tuple[EvidenceT, ...]]:
    """Splits evidence, in order, into calls of at most `most` items and about `most_chars` characters, and labels every
    call from P1 again: a label means nothing outside its prompt."""
    batches: list[list[EvidenceT]] = []
    room = 0
    for item in evidence:
        if not batches or len(batches[-1]) >= most or (most_chars is not None and len(item.text) > room):
            batches.append([])
            room = most_chars or 0
        batches[-1].append(item.model_copy(update={"label": f"P{len(batches[-1]) + 1}"}))
        room -= len(item.text)
    return [tuple(batch) for batch in batches]


class Quoted(Frozen):
    """A quote that an answer gave, and whether its source can be quoted so."""

    words: str
    """Cut from the source when verified, else as the answer gave them."""
    state: Literal["verified", "not_found"]
    place: str | None = None
    """Where in the source a verified quote stands."""
    objection: str | None = None
    """Why words that do stand in the source are not verified, as it follows `not verified:`."""


def point(
    kind: Literal["support", "contradiction", "strength", "weakness", "suggestion"],
    text: str,
    papers: Mapping[str, PaperId],
    quotes: Mapping[PaperId, Quoted],
    numbers: KnownNumbers | None = None,
) -> Point:
    """A point with the quotes of the papers it cites; downgraded when it has quotes and none was found. Its numbers are
    looked for where it is said which ones are known."""
    text = canonical(text, papers)
    cited = list(dict.fromkeys(paper_of(one) for one in MARKER.findall(text)))
    citations = tuple(citation_of(paper, quotes.get(paper)) for paper in cited)
    states = {citation.quote_state for citation in citations}
    return Point(
        kind=kind,
        text=text,
        citations=citations,
        downgraded="not_found" in states and "verified" not in states,
        numbers_not_found=numbers.missing_from(text, cited) if numbers else (),
    )


def citation_of(paper: PaperId, quoted: Quoted | None) -> Citation:
    if quoted is None:
        return Citation(label=marker(paper), quote=None, quote_state="none")
    return Citation(
        label=marker(paper),
        quote=quoted.words,
        quote_state=quoted.state,
        place=quoted.place,
        objection=quoted.objection,
    )


def check_quote(quote: str, evidence: Evidence) -> Quoted | None:
    """The quote as its source may be quoted: cut from the source, with its place; None when nothing is quoted.

    Words of the source are shown as they are, an address among them too: they are the paper's, not the model's.
    """
    words = " ".join(quote.strip().strip("\"'“”").split())
    if not words:
        return None
    against: str | None = None
    # Paragraph by paragraph: no quote runs from one passage or section into the next.
    for paragraph in _PARAGRAPH.finditer(evidence.text):
        place = evidence.place_at(paragraph.start())
        if place == "title" or paragraph[0].strip() == place:
            continue
        for spans in find_quote(words, paragraph[0]):
            found = objection(words, paragraph[0], spans) or _is_title(evidence.title, paragraph[0], spans)
            if found is None:
                return Quoted(words=_cut(paragraph[0], spans), state="verified", place=place)
            against = against or found
    if against is None and stands_in(words, evidence.title):
        against = TITLE_ALONE
    return Quoted(words=plain(_without_citations(words)), state="not_found", objection=against)


def _without_citations(words: str) -> str:
    """What nobody found in a source is the model's own, and names no work that was not given."""
    for one in reversed(foreign_citations(without_labels(words))):
        words = f"{words[: one.start]}…{words[one.end :]}"
    return words


_PARAGRAPH = re.compile(r"(?:[^\n]+|\n(?!\n))+")
TITLE_ALONE = "it is the title of the paper"


def _is_title(title: str, source: str, spans: Sequence[SourceSpan]) -> str | None:
    """A title that begins or repeats itself in a text is still one."""
    words = _cut(source, spans)
    return TITLE_ALONE if len(words) >= _SHARE_OFTITLE_ALONE * len(title) and stands_in(words, title) else None


_SHARE_OFTITLE_ALONE = 0.8


def _cut(source: str, spans: Sequence[SourceSpan]) -> str:
    """The source's own words, on one line; an ellipsis stands for what the quote left out, after a full stop where it
    leaves the sentence."""
    pieces = [" ".join(source[one.start : one.end].split()) for one in spans]
    stops = [_FULL_STOP.match(source, one.end) for one in spans[:-1]]
    apart = (f"{piece}{stop[0] if stop else ''} … " for piece, stop in zip(pieces, stops, strict=False))
    return f"{''.join(apart)}{pieces[-1]}"


_FULL_STOP = re.compile(r"[.!?。！？](?=[\s\"'”’)\]]|$)")
