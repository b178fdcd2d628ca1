"""Two opinions in one score: a convex combination of the cosine and of BM25 against the best of its ranking.

After Bruch, Gai and Ingber, An Analysis of Fusion Functions for Hybrid Retrieval (TOIS 2023), who find it ahead of
reciprocal rank fusion, as we do: ranks forget by how much a paper is ahead. docs/adr/0012-scores-not-ranks.md.
"""

from collections.abc import Mapping, Sequence

from index.segments.words import Scored

__all__ = ["MEANING", "fuse"]

MEANING = 0.6
"""Weight of the cosine: the best on one half of a sample of papers (benchmarks/index/README.md), told of the other.
From 0.3 to 0.7 the order was ahead of either opinion alone as well."""


def fuse(cosines: Mapping[int, float], by_words: Sequence[Scored], meaning: float = MEANING) -> dict[int, float]:
    """Score of every item that has a cosine; the higher the better. Scores of two indexes cannot be compared, so each
    ranking counts against its own best; what is in none shares no telling word as far as is known."""
    scores = {item: meaning * cosine for item, cosine in cosines.items()}
    for ranking in by_words:
        best = float(ranking.scores[0]) if len(ranking.scores) else 1.0
        for item, score in zip(ranking.places.tolist(), ranking.scores.tolist(), strict=True):
            scores[item] += (1 - meaning) * score / best
    return scores
