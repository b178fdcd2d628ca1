"""Passages read for the panel's points: merge and select them, and check whether they support the statements derived
from them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assayer.citing.evidence import Evidence, Quoted, citation_of
from assayer.citing.excerpts import excerpt
from assayer.citing.labels import strip_citations
from assayer.claim_support.checking import check_support
from assayer.claim_support.schemas import SupportItem
from assayer.llm import Llm
from assayer.methods.review.schemas import ReadingNote
from assayer.models import Citation, EvidenceRelation, FurtherQuote, PaperId
from assayer.run.run import Run

_WEIGHT: tuple[EvidenceRelation, ...] = (
    "already_has",
    "has_part",
    "contradicts",
    "missing_comparison",
    "weakens",
    "supports",
    "background",
)
"""Relations that evidence can have to a point, most significant first."""


@dataclass(frozen=True)
class ReadPassage:
    """Evidence from one paper for one or more points."""

    paper: PaperId
    title: str
    year: int | None
    points: tuple[str, ...]
    """Labels of the points to which the evidence relates."""
    relation: EvidenceRelation
    shows: str
    quote: Citation
    excerpts: tuple[str, ...]
    """The paper's text around each quote."""


def read_passage(item: Evidence, note: ReadingNote, verified: Sequence[Quoted]) -> ReadPassage:
    """Convert the reader model's note to a passage. `verified` holds those of the note's quotes that were found in the
    paper; there must be at least one."""
    distinct = list({entry.words: entry for entry in verified}.values())
    first, *more = distinct
    quote = citation_of(item.paper_id, first).model_copy(
        update={"further": tuple(FurtherQuote(quote=entry.words, place=entry.place) for entry in more)}
    )
    return ReadPassage(
        paper=item.paper_id,
        title=item.title,
        year=item.year,
        points=(note.point,),
        relation=note.relation,
        shows=strip_citations(note.shows).rstrip("."),
        quote=quote,
        excerpts=_excerpts([entry.words for entry in distinct], item.text),
    )


def _excerpts(quotes: Sequence[str], text: str) -> tuple[str, ...]:
    """Return the text around each quote. A quote that an earlier excerpt contains gets no excerpt of its own."""
    found: list[str] = []
    for quote in quotes:
        if not any(quote in item for item in found):
            found.append(excerpt(quote, text))
    return tuple(found)


def select_passages(read: Sequence[ReadPassage], order: Sequence[str], limit: int) -> tuple[ReadPassage, ...]:
    """Select up to `limit` distinct passages. Every point gets its most significant passage, then its second most
    significant, and so on; a passage for several points counts at its best rank among them. The result is sorted by
    point."""
    merged: dict[tuple[PaperId, str | None], ReadPassage] = {}
    for item in sorted(read, key=lambda passage: _WEIGHT.index(passage.relation)):
        key = (item.paper, item.quote.quote)
        known = merged.get(key)
        points = tuple(dict.fromkeys((*known.points, *item.points))) if known else item.points
        merged[key] = replace(known or item, points=points)
    ranked: list[tuple[int, int, ReadPassage]] = []
    taken: Counter[str] = Counter()
    for item in merged.values():
        taken.update(item.points)
        ranked.append((min(taken[point] for point in item.points), _WEIGHT.index(item.relation), item))
    chosen = [item for *_, item in sorted(ranked, key=lambda each: each[:2])[:limit]]
    return tuple(sorted(chosen, key=lambda item: order.index(item.points[0])))


async def check_passages(passages: Sequence[ReadPassage], llm: Llm, run: Run) -> tuple[ReadPassage, ...]:
    """Check whether the text around each passage's quotes supports the statement in `shows`, and return the passages
    with the outcome. Raises errors that would affect every other request too."""
    items = [
        SupportItem(
            label="",
            claim=f"[this source] {passage.shows}.",
            passage=passage.excerpts[0],
            more=passage.excerpts[1:],
            title=passage.title or "(unknown)",
        )
        for passage in passages
    ]
    found = await check_support(items, llm, run, "support check of a passage") if items else []
    return tuple(
        replace(passage, quote=passage.quote.model_copy(update={"support": outcome.support}))
        for passage, outcome in zip(passages, found, strict=True)
    )
