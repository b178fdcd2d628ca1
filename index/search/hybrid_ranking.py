"""One order of papers or passages from their cosines, their BM25 scores and, where a corpus keeps them, their lexical
weights.

A convex combination of the cosine and of BM25 against the best of its ranking, after Bruch, Gai and Ingber, An
Analysis of Fusion Functions for Hybrid Retrieval (TOIS 2023), who find it ahead of reciprocal rank fusion, as we do:
ranks forget by how much a paper is ahead. docs/adr/0012-scores-not-ranks.md. By numbers of papers and passages alone:
the merged candidates of shards are ranked as those of one reader.

Lexical scores are of one model, so they compare across segments, shards, papers and passages, and every candidate has
one: they count against the best of all of them. docs/adr/0041-lexical-weights.md.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from index.segments.bm25_index import Bm25Matches
from index.segments.lexical_index import LexicalMatches
from index.segments.vector_index import VectorMatches

__all__ = [
    "COSINE_WEIGHT",
    "LEXICAL_SHARE",
    "HybridMatches",
    "QueryCandidates",
    "candidate_depth",
    "fuse_scores",
    "rank_candidates",
]


_DEPTH = 50
"""Least number of candidates of each ranking before they are fused."""
COSINE_WEIGHT = 0.6
"""Weight of the cosine: the best on one half of a sample of papers (benchmarks/index/README.md), reported on the other.
From 0.3 to 0.7 the order was better than either ranking alone, too."""
LEXICAL_SHARE = 0.5
"""Of the weight that words have beside the cosine, what lexical weights take where there are any; BM25 keeps the rest.
Not fitted: no weights could be had. `python -m benchmarks.index lexical` measures shares with a model of yours."""


class HybridMatches(NamedTuple):
    """Rankings for one query, each best first."""

    by_vector: VectorMatches
    by_bm25: Bm25Matches
    """By BM25 scores."""
    by_lexical: LexicalMatches | None = None
    """None where the corpus keeps no lexical weights."""


class QueryCandidates(NamedTuple):
    papers: HybridMatches
    passages: HybridMatches | None
    """None where there are no passages, or none were asked for."""
    depth: int
    """Candidates of each ranking."""
    cosines: dict[int, float]
    """Of all candidates of the rankings."""
    lexical: Mapping[int, float] = MappingProxyType({})
    """Lexical scores of all candidates of the rankings; empty where the corpus keeps no lexical weights."""


def candidate_depth(limit: int) -> int:
    """How many candidates of each ranking decide on so many results."""
    return max(_DEPTH, 2 * limit)


def rank_candidates(opinion: QueryCandidates, limit: int) -> list[tuple[int, float]]:
    """Numbers and cosines, best first; equal scores by cosine, then by number."""
    found = [one.by_bm25 for one in (opinion.papers, opinion.passages) if one is not None]
    scores = fuse_scores(opinion.cosines, found, by_weights=opinion.lexical)
    ordered = sorted(scores, key=lambda one: (-scores[one], -opinion.cosines[one], one))
    return [(one, opinion.cosines[one]) for one in ordered[:limit]]


def fuse_scores(
    cosines: Mapping[int, float],
    by_words: Sequence[Bm25Matches],
    meaning: float = COSINE_WEIGHT,
    by_weights: Mapping[int, float] = MappingProxyType({}),
    share: float = LEXICAL_SHARE,
) -> dict[int, float]:
    """Score of every item that has a cosine; the higher the better. BM25 scores of two indexes cannot be compared, so
    each ranking is divided by its best score; an item in neither has a share of 0. `by_weights` are lexical scores;
    where there are none, BM25 has their share."""
    words = (1 - meaning) * (1 - share if by_weights else 1)
    scores = {item: meaning * cosine for item, cosine in cosines.items()}
    for ranking in by_words:
        best = float(ranking.scores[0]) if len(ranking.scores) else 1.0
        for item, score in zip(ranking.documents.tolist(), ranking.scores.tolist(), strict=True):
            scores[item] += words * score / best
    highest = max(by_weights.values(), default=0.0)
    if highest > 0:
        for item, score in by_weights.items():
            scores[item] += (1 - meaning) * share * score / highest
    return scores
