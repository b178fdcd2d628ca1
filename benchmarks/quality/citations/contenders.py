"""What is compared: searches in one step, and walks along citations, each with the papers that it returns."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from assayer.methods.scicompanion.walk import WalkOptions, walk
from assayer.models import Filters, PaperId, Window
from benchmarks.quality.citations.records import CitationQuery
from index import Corpus
from index.records.paper_record import last_day
from index.search.hybrid_ranking import candidate_depth, rank_candidates
from index.search.version_reader import VersionReader

__all__ = ["HOPS", "SEARCHES", "Returned", "returned"]

SEARCHES = ("dense", "BM25", "hybrid")
HOPS = (1, 2, 3, 4)
_LIMIT = 120
"""Papers: enough that a hundred are left without the most cited."""


class Returned(NamedTuple):
    """What one way of searching gave for one query, best first, and what it cost."""

    way: str
    query: CitationQuery
    papers: tuple[PaperId, ...]
    cpu_ms: float
    """Without embedding the query, which all ways but BM25 need."""


async def returned(corpus: Corpus, reader: VersionReader, query: CitationQuery, hops: Sequence[int]) -> list[Returned]:
    """By every way. The query's paper is hidden, so that neither its list nor who cites it helps."""
    window = Window.until(last_day(query.date))
    vectors = await corpus.embed_queries([query.text])
    filters = Filters(window=window, without=frozenset({query.paper}))
    began = time.process_time()
    (found,) = reader.candidates([query.text], vectors, candidate_depth(_LIMIT), filters)
    orders = {
        "dense": found.papers.by_vector.rows.tolist(),
        "BM25": found.papers.by_bm25.documents.tolist(),
        "hybrid": [unit for unit, _ in rank_candidates(found, _LIMIT)],
    }
    cost = (time.process_time() - began) * 1000
    answers = [
        Returned(way, query, tuple(reader.paper(unit).id for unit in units[:_LIMIT]), cost)
        for way, units in orders.items()
    ]
    for count in hops:
        options = replace(WalkOptions(), hops=count, limit=_LIMIT)
        began = time.process_time()
        walked = await walk([query.text], corpus, window, options, exclude={query.paper})
        cost = (time.process_time() - began) * 1000
        answers.append(Returned(walk_name(count), query, tuple(one.paper.id for one in walked), cost))
    return answers


def walk_name(hops: int) -> str:
    return f"walk, {hops} hop{'s' * (hops > 1)}"
