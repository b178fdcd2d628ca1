"""Fuse cosines, BM25 scores and, if the corpus stores lexical weights, lexical scores into one ranking of papers and
passages.

The score is a convex combination of the cosine and the BM25 score, which is divided by the best score in its ranking
(Bruch, Gai and Ingber, An Analysis of Fusion Functions for Hybrid Retrieval, TOIS 2023). Like the authors, we found
this better than reciprocal rank fusion, which ignores by how much a paper is ahead. Lexical scores are comparable
across segments, shards, papers and passages, so they are divided by the best of all candidates. See docs/adr/0012.

Candidates are identified only by number, so that candidates merged from shards are ranked like those of one reader."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from index.segments.bm25_index import Bm25Matches
from index.segments.lexical_index import LexicalMatches
from index.segments.vector_index import VectorMatches

_DEPTH = 50
"""Minimum number of candidates from each ranking before fusion."""
COSINE_WEIGHT = 0.6
"""Weight of the cosine. It was chosen on one half of a sample of papers and evaluated on the other half
(benchmarks/index/README.md). With any weight from 0.3 to 0.7, fusion was better than either ranking alone."""
LEXICAL_SHARE = 0.5
"""Share of the remaining weight that lexical scores get; BM25 gets the rest. It is not fitted, because
no lexical weights were available. `benchmarks/index/lexical.py` at commit ec3f1495 can fit it."""


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
    """Cosine similarities of all candidates in the rankings, keyed by candidate."""
    lexical: Mapping[int, float] = MappingProxyType({})
    """Lexical scores of all candidates in the rankings, keyed by candidate; empty if the corpus has no lexical
    weights."""


def compute_candidate_depth(limit: int) -> int:
    """Return how many candidates each ranking must contribute for `limit` results."""
    return max(_DEPTH, 2 * limit)


def rank_candidates(candidates: QueryCandidates, limit: int) -> list[tuple[int, float]]:
    """Return the best `limit` candidates as (number, cosine) pairs, best first. Ties are broken by cosine, then by
    number."""
    lists = [matches.by_bm25 for matches in (candidates.papers, candidates.passages) if matches is not None]
    scores = fuse_scores(candidates.cosines, lists, by_weights=candidates.lexical)
    ranking = sorted(scores, key=lambda score: (-scores[score], -candidates.cosines[score], score))
    return [(number, candidates.cosines[number]) for number in ranking[:limit]]


def fuse_scores(
    cosines: Mapping[int, float],
    by_words: Sequence[Bm25Matches],
    cosine_weight: float = COSINE_WEIGHT,
    by_weights: Mapping[int, float] = MappingProxyType({}),
    share: float = LEXICAL_SHARE,
) -> dict[int, float]:
    """Return a score for every item that has a cosine; higher is better. BM25 scores from different indexes are not
    comparable, so each ranking's scores are divided by its best; items in no ranking get 0. `by_weights` contains
    lexical scores; if there are none, their share goes to BM25."""
    words = (1 - cosine_weight) * (1 - share if by_weights else 1)
    scores = {number: cosine_weight * cosine for number, cosine in cosines.items()}
    for ranking in by_words:
        best = float(ranking.scores[0]) if len(ranking.scores) else 1.0
        for item, score in zip(ranking.documents.tolist(), ranking.scores.tolist(), strict=True):
            scores[item] += words * score / best
    highest = max(by_weights.values(), default=0.0)
    if highest > 0:
        for item, score in by_weights.items():
            scores[item] += (1 - cosine_weight) * share * score / highest
    return scores
