"""The measures of the corpus index; each returns rows of the table."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Window
from assayer.ports import Vectors
from benchmarks.index.questions import LabelledIdea
from index import Corpus
from index.segments.approximate_index import ApproximateIndexKind
from index.segments.row_filter import RowFilter
from index.segments.segment import Segment
from index.segments.vector_index import VectorIndex, VectorIndexParameters, build_vector_index, create_vectors_file

CUTOFFS = (None, dt.date(2024, 9, 24), dt.date(2019, 12, 31))
"""No cutoff; the cutoff of most ideas; a cutoff that leaves a fifth of the papers."""
_HITS = 20


class Figure(NamedTuple):
    name: str
    value: str


async def measure_latency(corpus: Corpus, queries: Sequence[str], batch: int) -> list[Figure]:
    """Measure the wall time of `search` for 20 hits before a cutoff, first with new queries, then with cached ones."""
    batches = [queries[start : start + batch] for start in range(0, len(queries) - batch + 1, batch)]
    figures = []
    for name in ("embedding included", "query vectors remembered"):
        times = []
        for query_batch in batches:
            start = perf_counter()
            await corpus.search(query_batch, _HITS, Window.until(CUTOFFS[1]))
            times.append((perf_counter() - start) * 1000)
        p50, p95 = np.quantile(times, [0.5, 0.95])
        figures.append(Figure(f"search, batch {batch}, {name}", f"p50 {p50:.1f} ms, p95 {p95:.1f} ms"))
    return figures


def measure_recall(name: str, dense: VectorIndex, queries: Vectors, segment: Segment) -> list[Figure]:
    """Measure the share of the ten nearest papers by brute force that a search finds, for each cutoff."""
    vectors = np.asarray(dense.vectors, np.float32)
    figures = []
    for cutoff in CUTOFFS:
        rows = segment.store.count_until(cutoff)
        shares, start = [], perf_counter()
        matches_by_query = dense.find_nearest(queries, 10, RowFilter(rows))
        ms_per_query = (perf_counter() - start) / len(queries) * 1000
        for scores, nearest in zip(queries @ vectors[:rows].T, matches_by_query, strict=True):
            best = np.argsort(-scores)[:10]
            shares.append(len(set(best.tolist()) & set(nearest.rows.tolist())) / 10)
        condition = f"before {cutoff} ({rows:,} papers)" if cutoff else f"no cutoff ({rows:,} papers)"
        figures.append(
            Figure(f"recall@10, {name}, {condition}", f"{np.mean(shares):.4f} ({ms_per_query:.2f} ms a query)")
        )
    return figures


def build_approximate_index(
    segment: Segment, tuning_vectors: Vectors, directory: Path, kind: ApproximateIndexKind
) -> tuple[VectorIndex, VectorIndexParameters, float]:
    """Build the index that a larger corpus would get, over the same papers. Also return the seconds it took."""
    start = perf_counter()
    paper_vectors = np.asarray(segment.papers.vectors)
    vectors = create_vectors_file(directory, *paper_vectors.shape)
    vectors[:] = paper_vectors
    parameters = build_vector_index(vectors, directory, tuning_vectors, 0, kind)
    return VectorIndex(directory, parameters, exact_up_to=0), parameters, perf_counter() - start


async def measure_fit(corpus: Corpus, ideas: Sequence[LabelledIdea]) -> list[Figure]:
    """Measure whether the value behind the fit level is higher for ideas whose field the corpus covers."""
    fits = [await corpus.fit(idea.text, Window.until(idea.cutoff)) for idea in ideas]
    covered = np.array([idea.covered for idea in ideas])
    values = np.array([corpus_fit.value for corpus_fit in fits])
    figures = [Figure("corpus fit, AUROC covered against other fields", f"{_compute_auroc(values, covered):.4f}")]
    for name, is_in_group in (("covered", covered), ("other", ~covered)):
        levels = [corpus_fit.level for corpus_fit, is_member in zip(fits, is_in_group, strict=True) if is_member]
        counts = ", ".join(f"{levels.count(level)} {level}" for level in ("good", "partial", "poor"))
        spread = f"{values[is_in_group].min():.3f} to {values[is_in_group].max():.3f}"
        figures.append(Figure(f"corpus fit, {len(levels)} ideas of {name} fields", f"{counts}; {spread}"))
    return [*figures, Figure("corpus fit, criterion", fits[0].criterion)]


def _compute_auroc(values: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """Return the probability that a positive has a higher value than a negative; ties count half."""
    above = values[positive][:, None] - values[~positive][None, :]
    return float((above > 0).mean() + (above == 0).mean() / 2)
