"""Which quote goes with a claim: one that was given for what the claim says, on the side that the claim takes.

A reading quotes its paper for one stance on one method or dimension. A claim that cites the same paper for the
opposite, or for something else, is not carried by those words: it cites the paper without them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from assayer.citing.claim_numbers import KnownNumbers
from assayer.citing.evidence import Evidence, Quoted, point
from assayer.citing.further_quotes import further_quotes
from assayer.citing.labels import LABEL, MARKER, paper_of
from assayer.models import Citation, Frozen, FurtherQuote, PaperId, Point
from assayer.text.content_words import content_words

__all__ = ["GivenQuote", "PointKind", "Side", "given_by_points", "quoted_point"]

Side = Literal["for", "against", "neither"]
"""Of the idea."""
PointKind = Literal["support", "contradiction", "strength", "weakness", "suggestion"]

_SIDES: dict[PointKind, Side] = {
    "support": "for",
    "strength": "for",
    "contradiction": "against",
    "weakness": "against",
    "suggestion": "neither",
}
LEAST_SHARED = 2
"""Words of content in which a claim must agree with one of several statements to have its quote; with an only one, in
one word."""
REPEATED = 8
"""Words of a quote that a claim repeats: then it says no more than the quote."""
LEAST_REPEATED = 4
"""Words of a shorter quote that may be found again."""


class GivenQuote(Frozen):
    """What was said of a paper, and the quote that was given for it."""

    paper: PaperId
    side: Side
    statement: str
    quoted: Quoted | None
    further: tuple[Quoted, ...] = ()
    """Other verified quotes of the paper for the same statement."""


def quoted_point(
    kind: PointKind,
    text: str,
    papers: Mapping[str, PaperId],
    given: Iterable[GivenQuote],
    numbers: KnownNumbers | None = None,
    shown: Mapping[PaperId, Evidence] | None = None,
) -> Point:
    """A point with one quote a paper to begin with: of what was said of it on the point's side what is nearest to the
    point in words, those of its quote included where it was found; and any quote whose words the point itself repeats.
    Beside a verified one stand at most two more that carry what it does not, from what was given or, where the papers'
    texts are handed over, from what was `shown` of them."""
    by_paper: dict[PaperId, list[GivenQuote]] = {}
    for one in given:
        if _repeats(text, one.quoted) or one.side == _SIDES[kind] != "neither":
            by_paper.setdefault(one.paper, []).append(one)
    nearest = {paper: _nearest(text, found) for paper, found in by_paper.items()}
    quotes = {paper: one.quoted for paper, one in nearest.items() if one is not None and one.quoted is not None}
    made = point(kind, text, papers, quotes, numbers)
    return made.model_copy(
        update={
            "citations": tuple(_with_further(made.text, one, by_paper, shown or {}) for one in made.citations),
        }
    )


def _with_further(
    claim: str,
    citation: Citation,
    by_paper: Mapping[PaperId, Sequence[GivenQuote]],
    shown: Mapping[PaperId, Evidence],
) -> Citation:
    if citation.quote is None or citation.quote_state != "verified":
        return citation
    paper = paper_of(citation.label)
    given = [quote for one in by_paper.get(paper, ()) for quote in (one.quoted, *one.further) if quote is not None]
    found = further_quotes(claim, paper, citation.quote, given, shown.get(paper))
    return citation.model_copy(
        update={"further": tuple(FurtherQuote(quote=one.words, place=one.place) for one in found)}
    )


def _repeats(claim: str, quoted: Quoted | None) -> bool:
    if quoted is None:
        return False
    words = quoted.words.split()[:REPEATED]
    return len(words) >= LEAST_REPEATED and _stands_whole(" ".join(words), " ".join(claim.split()))


def _stands_whole(words: str, text: str) -> bool:
    """Whether they stand in the text without being part of longer words."""
    at = text.find(words)
    while at >= 0:
        if not _in_word(text[max(0, at - 1) : at]) and not _in_word(text[at + len(words) : at + len(words) + 1]):
            return True
        at = text.find(words, at + 1)
    return False


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _nearest(claim: str, found: Sequence[GivenQuote]) -> GivenQuote | None:
    for one in found:
        if _repeats(claim, one.quoted):
            return one
    if len(found) == 1 and (found[0].quoted is None or found[0].quoted.state != "verified"):
        return found[0]  # whatever it says: its words were looked for in vain
    said = content_words(LABEL.sub(" ", claim))
    shared = [len(said & _words(one)) for one in found]
    best = max(shared)
    return found[shared.index(best)] if best >= min(LEAST_SHARED, len(found)) else None


def _words(one: GivenQuote) -> frozenset[str]:
    """Of what was said, and of the quote where it was found: others' words say nothing of the paper."""
    own = one.quoted.words if one.quoted is not None and one.quoted.state == "verified" else ""
    return frozenset(content_words(MARKER.sub(" ", f"{one.statement} {own}")))


def given_by_points(points: Iterable[Point]) -> list[GivenQuote]:
    """For claims that sum up points: they inherit the quotes of what they sum up."""
    return [
        GivenQuote(
            paper=paper_of(citation.label),
            side=_SIDES[one.kind],
            statement=one.text,
            quoted=_quoted(citation),
            further=_further(citation),
        )
        for one in points
        for citation in one.citations
    ]


def _quoted(citation: Citation) -> Quoted | None:
    if citation.quote is None or citation.quote_state == "none":
        return None
    return Quoted(words=citation.quote, state=citation.quote_state, place=citation.place, objection=citation.objection)


def _further(citation: Citation) -> tuple[Quoted, ...]:
    return tuple(Quoted(words=one.quote, state="verified", place=one.place) for one in citation.further)
