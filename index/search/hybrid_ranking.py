"""One order of papers or passages from their cosines, their BM25 scores and, where a corpus keeps them, their lexical
weights.

A convex combination of the cosine and of BM25 against the best of its ranking, after Bruch, Gai and Ingber, An
Analysis of Fusion Functions for Hybrid Retrieval (TOIS 2023), who find it ahead of reciprocal rank fusion, as we do:
ranks forget by how much a paper is ahead. docs/adr/0012. By numbers of papers and passages alone:
the merged candidates of shards are ranked as those of one reader.

Lexical scores are of one model, so they compare across segments, shards, papers and passages, and every candidate has
one: they count against the best of all of them. docs/adr/0012.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from index.segments.bm25_index import Bm25Matches
from index.segments.lexical_index import LexicalMatches
from index.segments.vector_index import VectorMatches

_DEPTH = 50
"""Minimum candidates of each ranking before fusion."""
COSINE_WEIGHT = 0.6
"""Weight of the cosine similarity, the best on half of a sample of papers (benchmarks/index/README.md) and reported on
the other half. From 0.3 to 0.7 the order was also better than either ranking alone."""
LEXICAL_SHARE = 0.5
"""Share of the non-cosine weight that lexical weights take if there are any; BM25 keeps the rest. Not fitted, because
no weights were available. The script for fitting is `benchmarks/index/lexical.py` at commit ec3f1495."""


class HybridMatches(NamedTuple):
    """Rankings for one query, each best first."""

    by_vector: VectorMatches
    by_bm25: Bm25Matches
    """Matches by BM25 score."""
    by_lexical: LexicalMatches | None = None
    """Lexical ranking; None if the corpus has no lexical weights."""


class QueryCandidates(NamedTuple):
    papers: HybridMatches
    passages: HybridMatches | None
    """Rankings of passages; None if there are no passages or none were requested."""
    depth: int
    """Number of candidates per ranking."""
    cosines: dict[int, float]
    """Cosine similarities of all candidates of the rankings."""
    lexical: Mapping[int, float] = MappingProxyType({})
    """Lexical scores of all candidates of the rankings; empty if the corpus has no lexical weights."""


def candidate_depth(limit: int) -> int:
    """Return the number of candidates per ranking needed for `limit` results."""
    return max(_DEPTH, 2 * limit)


def rank_candidates(opinion: QueryCandidates, limit: int) -> list[tuple[int, float]]:
    """Return candidate numbers and cosines, best first; equal scores are ordered by cosine, then by number."""
    lists = [item.by_bm25 for item in (opinion.papers, opinion.passages) if item is not None]
    scores = fuse_scores(opinion.cosines, lists, by_weights=opinion.lexical)
    ordered = sorted(scores, key=lambda score: (-scores[score], -opinion.cosines[score], score))
    return [(item, opinion.cosines[item]) for item in ordered[:limit]]


def fuse_scores(
    cosines: Mapping[int, float],
    by_words: Sequence[Bm25Matches],
    meaning: float = COSINE_WEIGHT,
    by_weights: Mapping[int, float] = MappingProxyType({}),
    share: float = LEXICAL_SHARE,
) -> dict[int, float]:
    """Return a score for every item that has a cosine; higher is better. BM25 scores of two indexes are not
    comparable, so each ranking is divided by its best score; an item in neither scores 0 there. `by_weights` are
    lexical scores; without them, BM25 takes their share."""
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
