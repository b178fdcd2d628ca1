"""Choose the quote for a claim: one that was extracted for the same statement and takes the same side.

Each reading quotes its paper for one stance on one method or dimension. A claim that takes the opposite side, or says
something else, cites the paper without that quote. A quote on neither side can serve both."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from assayer.citing.claim_numbers import KnownNumbers
from assayer.citing.evidence import Evidence, Quoted, build_point
from assayer.citing.further_quotes import find_further_quotes
from assayer.citing.labels import MARKER, parse_marker
from assayer.models import Citation, Frozen, FurtherQuote, PaperId, Point
from assayer.models.assessment import LABEL
from assayer.text.content_words import content_words

Side = Literal["for", "against", "neither"]
"""The side that a quote takes on the idea."""
PointKind = Literal["support", "contradiction", "strength", "weakness", "suggestion"]

_SIDES: dict[PointKind, Side] = {
    "support": "for",
    "strength": "for",
    "contradiction": "against",
    "weakness": "against",
    "suggestion": "neither",
}
MIN_SHARED_WORDS = 2
"""Minimum number of content words that a claim must share with a statement to get its quote, if there are several
statements. If there is only one, one shared word is enough."""
OPENING_WORDS = 8
"""Number of words at the start of a quote that a claim must contain to count as repeating the quote. Such a claim says
no more than the quote."""
MIN_OPENING_WORDS = 4
"""Minimum number of words in a quote for the repetition test; repetition of a shorter quote is ignored."""


class GivenQuote(Frozen):
    """A statement about a paper, with the quote offered for it."""

    paper: PaperId
    side: Side
    statement: str
    quoted: Quoted | None
    further: tuple[Quoted, ...] = ()
    """Further verified quotes from the paper for the same statement."""


def build_quoted_point(
    kind: PointKind,
    text: str,
    papers: Mapping[str, PaperId],
    given_quotes: Iterable[GivenQuote],
    numbers: KnownNumbers | None = None,
    evidence_by_paper: Mapping[PaperId, Evidence] | None = None,
) -> Point:
    """Build a point with one quote per paper: of the quotes on the point's side or on neither, the one that shares the
    most words with the point. Quotes that the point repeats are candidates too, whatever their side.

    A verified quote gets at most two further quotes that add missing content. They are taken from the quotes passed or,
    if passed, from the texts in `evidence_by_paper`."""
    by_paper: dict[PaperId, list[GivenQuote]] = {}
    for item in given_quotes:
        if _repeats_quote(text, item.quoted) or (kind != "suggestion" and item.side in (_SIDES[kind], "neither")):
            by_paper.setdefault(item.paper, []).append(item)
    nearest = {paper: _find_nearest_quote(text, paper_quotes) for paper, paper_quotes in by_paper.items()}
    quotes = {paper: item.quoted for paper, item in nearest.items() if item is not None and item.quoted is not None}
    built_point = build_point(kind, text, papers, quotes, numbers)
    return built_point.model_copy(
        update={
            "citations": tuple(
                _add_further_quotes(built_point.text, citation, by_paper, evidence_by_paper or {})
                for citation in built_point.citations
            ),
        }
    )


def _add_further_quotes(
    claim: str,
    citation: Citation,
    by_paper: Mapping[PaperId, Sequence[GivenQuote]],
    evidence_by_paper: Mapping[PaperId, Evidence],
) -> Citation:
    if citation.quote is None or citation.quote_state != "verified":
        return citation
    paper = parse_marker(citation.label)
    available_quotes = [
        quote for item in by_paper.get(paper, ()) for quote in (item.quoted, *item.further) if quote is not None
    ]
    further_quotes = find_further_quotes(claim, paper, citation.quote, available_quotes, evidence_by_paper.get(paper))
    return citation.model_copy(
        update={"further": tuple(FurtherQuote(quote=item.words, place=item.place) for item in further_quotes)}
    )


def _repeats_quote(claim: str, quoted: Quoted | None) -> bool:
    if quoted is None:
        return False
    opening_words = quoted.words.split()[:OPENING_WORDS]
    beginning = re.escape(" ".join(opening_words))
    return len(opening_words) >= MIN_OPENING_WORDS and bool(
        re.search(rf"(?<!\w){beginning}(?!\w)", " ".join(claim.split()))
    )


def _find_nearest_quote(claim: str, quotes: Sequence[GivenQuote]) -> GivenQuote | None:
    for item in quotes:
        if _repeats_quote(claim, item.quoted):
            return item
    if len(quotes) == 1 and (quotes[0].quoted is None or quotes[0].quoted.state != "verified"):
        return quotes[0]  # its quote was not found in the source
    claim_words = content_words(LABEL.sub(" ", claim))
    shared_counts = [len(claim_words & _collect_content_words(item)) for item in quotes]
    best = max(shared_counts)
    return quotes[shared_counts.index(best)] if best >= min(MIN_SHARED_WORDS, len(quotes)) else None


def _collect_content_words(given_quote: GivenQuote) -> frozenset[str]:
    """Return the content words in the statement and its quote. An unverified quote is ignored, because its words may
    not be the paper's."""
    quote_words = (
        given_quote.quoted.words if given_quote.quoted is not None and given_quote.quoted.state == "verified" else ""
    )
    return frozenset(content_words(MARKER.sub(" ", f"{given_quote.statement} {quote_words}")))


def collect_given_quotes(points: Iterable[Point]) -> list[GivenQuote]:
    """Return the points' quotes, for claims that summarise these points and inherit their quotes."""
    return [
        GivenQuote(
            paper=parse_marker(citation.label),
            side=_SIDES[item.kind],
            statement=item.text,
            quoted=_get_quoted(citation),
            further=tuple(Quoted(words=extra.quote, state="verified", place=extra.place) for extra in citation.further),
        )
        for item in points
        for citation in item.citations
    ]


def _get_quoted(citation: Citation) -> Quoted | None:
    if citation.quote is None or citation.quote_state == "none":
        return None
    return Quoted(words=citation.quote, state=citation.quote_state, place=citation.place, objection=citation.objection)
