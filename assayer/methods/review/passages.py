"""Passages read for the panel's points: merged, selected, and checked for support of what they are said to show."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assayer.citing.evidence import Evidence, Quoted, citation_of
from assayer.citing.excerpts import excerpt
from assayer.citing.labels import plain
from assayer.claim_support.checking import support_of
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
"""Relations of evidence to a point, most significant first."""


@dataclass(frozen=True)
class ReadPassage:
    """Evidence that a paper provides for one or more points."""

    paper: PaperId
    title: str
    year: int | None
    points: tuple[str, ...]
    """Labels of the points for which the paper provides evidence."""
    relation: EvidenceRelation
    shows: str
    quote: Citation
    excerpts: tuple[str, ...]
    """Text around the quotes, as it occurs in the paper."""


def read_passage(item: Evidence, note: ReadingNote, verified: Sequence[Quoted]) -> ReadPassage:
    """Convert a reader's note to a passage. `verified` holds the note's quotes found in the paper, at least one."""
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
        shows=plain(note.shows).rstrip("."),
        quote=quote,
        excerpts=_excerpts([entry.words for entry in distinct], item.text),
    )


def _excerpts(quotes: Sequence[str], text: str) -> tuple[str, ...]:
    """Return the text around the quotes, without an excerpt for a quote that an earlier excerpt contains."""
    found: list[str] = []
    for quote in quotes:
        if not any(quote in item for item in found):
            found.append(excerpt(quote, text))
    return tuple(found)


def chosen_passages(read: Sequence[ReadPassage], order: Sequence[str], most: int) -> tuple[ReadPassage, ...]:
    """Select at most `most` distinct passages: the most significant passage for every point, then the second most
    significant, and so on. A passage for several points counts at its best rank among them. The result is in the order
    of the points."""
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
    chosen = [item for *_, item in sorted(ranked, key=lambda each: each[:2])[:most]]
    return tuple(sorted(chosen, key=lambda item: order.index(item.points[0])))


async def checked_passages(passages: Sequence[ReadPassage], llm: Llm, run: Run) -> tuple[ReadPassage, ...]:
    """Return the passages with the outcome of the support check: does the text around the quotes support `shows`?

    Raises errors that would affect every other request as well."""
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
    found = await support_of(items, llm, run, "support check of a passage") if items else []
    return tuple(
        replace(passage, quote=passage.quote.model_copy(update={"support": outcome.support}))
        for passage, outcome in zip(passages, found, strict=True)
    )
