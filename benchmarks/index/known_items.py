"""Measure whether search finds a known paper by its title and by half its abstract, among all papers of the corpus.

A paper's title is embedded and indexed with it, so the title finds it too easily. Therefore the benchmark also searches
for papers whose own titles were withheld from both indexes, while all others keep theirs. The fusion weight is chosen
on one half of the sample and reported on the other.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assayer.models import Paper
from assayer.ports import Embedder, Vectors
from benchmarks.index.measures import Figure
from benchmarks.index.questions import take_first_half
from index.search.hybrid_ranking import COSINE_WEIGHT, HybridMatches, fuse_scores
from index.segments.bm25_index import Bm25Document, Bm25Index, write_bm25_index
from index.segments.passages import build_paper_text
from index.segments.row_filter import NO_FILTERS, RowFilter
from index.segments.segment import Segment
from index.segments.vector_index import VectorIndex, VectorIndexParameters, create_vectors_file

_DEPTH, _RRF = 50, 60
_WEIGHTS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


class _Result(NamedTuple):
    row: int
    matches: HybridMatches
    cosines: dict[int, float]


class _Library:
    """The papers of a segment; the papers of some rows have no titles."""

    def __init__(
        self, segment: Segment, untitled: Mapping[int, np.ndarray[tuple[int], np.dtype[np.float32]]], directory: Path
    ):
        paper_vectors = segment.papers.vectors
        vectors = create_vectors_file(directory, *paper_vectors.shape)
        vectors[:] = paper_vectors
        for row, vector in untitled.items():
            vectors[row] = vector
        self._dense = VectorIndex(
            directory, VectorIndexParameters(kind="exact", rows=len(paper_vectors)), len(paper_vectors)
        )
        (directory / "words").mkdir()
        texts = (
            record["abstract"] if row in untitled else build_paper_text(record["title"], record["abstract"])
            for row, record in enumerate(segment.store.read_all_indexed_columns())
        )
        write_bm25_index(
            directory / "words", (Bm25Document(row, text, None, "", (), False) for row, text in enumerate(texts))
        )
        self._words = Bm25Index(directory / "words")

    def search(self, rows: Sequence[int], queries: Sequence[str], vectors: Vectors) -> list[_Result]:
        no_filter = RowFilter(len(self._dense))
        results = []
        nearest = self._dense.find_nearest(vectors, _DEPTH, no_filter)
        for row, query, vector, vector_matches in zip(rows, queries, vectors, nearest, strict=True):
            matches = HybridMatches(vector_matches, self._words.search(query, _DEPTH, NO_FILTERS))
            unit_rows = np.union1d(vector_matches.rows, matches.by_bm25.documents)
            cosines = dict(
                zip(unit_rows.tolist(), self._dense.compute_similarities(vector, unit_rows).tolist(), strict=True)
            )
            results.append(_Result(row, matches, cosines))
        return results


async def measure_known_items(
    segment: Segment, embedder: Embedder, papers: Mapping[int, Paper], scratch: Path
) -> list[Figure]:
    rows = list(papers)
    titles = [paper.title for paper in papers.values()]
    halves = [take_first_half(paper.abstract) for paper in papers.values()]
    title_vectors, half_vectors = await embedder.embed(titles, "query"), await embedder.embed(halves, "query")
    abstracts = await embedder.embed([paper.abstract for paper in papers.values()], "passage")
    (scratch / "titled").mkdir()
    (scratch / "untitled").mkdir()
    titled = _Library(segment, {}, scratch / "titled")
    untitled = _Library(segment, dict(zip(rows, abstracts, strict=True)), scratch / "untitled")
    tasks = {
        "its title": titled.search(rows, titles, title_vectors),
        "its title, withheld": untitled.search(rows, titles, title_vectors),
        "half its abstract": titled.search(rows, halves, half_vectors),
    }
    figures = []
    for weight in _WEIGHTS:
        shares = [_compute_share(results[::2], _build_fused_order(weight), 1) for results in tasks.values()]
        shares_text = ", ".join(f"{share:.4f}" for share in shares)
        figures.append(Figure(f"tuning half, weight {weight}", f"first {shares_text}; mean {np.mean(shares):.4f}"))
    for name, results in tasks.items():
        for kind, order in _ORDERS.items():
            first, tenth = (_compute_share(results[1::2], order, limit) for limit in (1, 10))
            figures.append(Figure(f"paper by {name}, {kind}", f"first {first:.4f}, in the first ten {tenth:.4f}"))
    return figures


Ordering = Callable[[_Result], Sequence[int]]


def _compute_share(results: Sequence[_Result], order: Ordering, limit: int) -> float:
    return float(np.mean([result.row in order(result)[:limit] for result in results]))


def _build_fused_order(weight: float) -> Ordering:
    def order(result: _Result) -> list[int]:
        scores = fuse_scores(result.cosines, [result.matches.by_bm25], weight)
        return sorted(scores, key=lambda row: (-scores[row], -result.cosines[row], row))

    return order


def _fuse_ranks(result: _Result) -> list[int]:
    """Order by reciprocal rank fusion, for comparison (Cormack, Clarke and Buettcher, SIGIR 2009)."""
    scores = dict.fromkeys(result.cosines, 0.0)
    for ranking in (result.matches.by_vector.rows, result.matches.by_bm25.documents):
        for rank, row in enumerate(ranking.tolist(), start=1):
            scores[row] += 1 / (_RRF + rank)
    return sorted(scores, key=lambda row: (-scores[row], -result.cosines[row], row))


_ORDERS: dict[str, Ordering] = {
    "dense": lambda item: item.matches.by_vector.rows.tolist(),
    "BM25": lambda item: item.matches.by_bm25.documents.tolist(),
    "reciprocal ranks": _fuse_ranks,
    "hybrid": _build_fused_order(COSINE_WEIGHT),
}
