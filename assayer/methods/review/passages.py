"""Passages read for the panel's points: merge and select them, and check whether they support the statements derived
from them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assayer.citing.evidence import Evidence, Quoted, build_citation
from assayer.citing.excerpts import cut_excerpt
from assayer.citing.labels import strip_citations
from assayer.claim_support.checking import check_support
from assayer.claim_support.task import SupportItem
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


def read_passage(item: Evidence, note: ReadingNote, verified_quotes: Sequence[Quoted]) -> ReadPassage:
    """Convert the reader model's note to a passage. `verified_quotes` holds those of the note's quotes that were found
    in the paper; there must be at least one."""
    distinct = list({entry.words: entry for entry in verified_quotes}.values())
    first, *further = distinct
    quote = build_citation(item.paper_id, first).model_copy(
        update={"further": tuple(FurtherQuote(quote=entry.words, place=entry.place) for entry in further)}
    )
    return ReadPassage(
        paper=item.paper_id,
        title=item.title,
        year=item.year,
        points=(note.point,),
        relation=note.relation,
        shows=strip_citations(note.shows).rstrip("."),
        quote=quote,
        excerpts=_cut_excerpts([entry.words for entry in distinct], item.text),
    )


def _cut_excerpts(quotes: Sequence[str], text: str) -> tuple[str, ...]:
    """Return the text around each quote. A quote that an earlier excerpt contains gets no excerpt of its own."""
    excerpts: list[str] = []
    for quote in quotes:
        if not any(quote in item for item in excerpts):
            excerpts.append(cut_excerpt(quote, text))
    return tuple(excerpts)


def select_passages(read: Sequence[ReadPassage], order: Sequence[str], limit: int) -> tuple[ReadPassage, ...]:
    """Select up to `limit` distinct passages. Every point gets its most significant passage, then its second most
    significant, and so on; a passage for several points counts at its best rank among them. The result is sorted by
    point."""
    passages_by_key: dict[tuple[PaperId, str | None], ReadPassage] = {}
    for item in sorted(read, key=lambda passage: _WEIGHT.index(passage.relation)):
        key = (item.paper, item.quote.quote)
        same_passage = passages_by_key.get(key)
        points = tuple(dict.fromkeys((*same_passage.points, *item.points))) if same_passage else item.points
        passages_by_key[key] = replace(same_passage or item, points=points)
    ranking: list[tuple[int, int, ReadPassage]] = []
    counts_by_point: Counter[str] = Counter()
    for item in passages_by_key.values():
        counts_by_point.update(item.points)
        ranking.append((min(counts_by_point[point] for point in item.points), _WEIGHT.index(item.relation), item))
    selected = [item for *_, item in sorted(ranking, key=lambda entry: entry[:2])[:limit]]
    return tuple(sorted(selected, key=lambda item: order.index(item.points[0])))


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
    outcomes = await check_support(items, llm, run, "support check of a passage") if items else []
    return tuple(
        replace(passage, quote=passage.quote.model_copy(update={"support": outcome.support}))
        for passage, outcome in zip(passages, outcomes, strict=True)
    )
