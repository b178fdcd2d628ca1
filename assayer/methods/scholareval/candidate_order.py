"""Decide the order in which papers are considered: fused rankings, round robin, and a reranker if there is one."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from assayer.models import FitLevel, Paper, PaperId
from assayer.ports import Reranker
from assayer.run.concurrency import Failed, catch_failure
from assayer.run.journal import Journal

Item = TypeVar("Item", bound=Hashable)

_RANK_CONSTANT = 60
"""Constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""


def fuse_rankings(rankings: Sequence[Sequence[PaperId]]) -> list[PaperId]:
    """Merge rankings by reciprocal rank fusion; ties are broken by id."""
    weights: dict[PaperId, float] = {}
    for ranking in rankings:
        for rank, paper in enumerate(dict.fromkeys(ranking), start=1):
            weights[paper] = weights.get(paper, 0.0) + 1 / (_RANK_CONSTANT + rank)
    return sorted(weights, key=lambda paper: (-weights[paper], paper))


def keep_near_papers(
    papers: Iterable[PaperId], cosines: Mapping[PaperId, float], fit: FitLevel, min_similarity: float
) -> list[PaperId]:
    """Return the papers that are admissible as prior work, in order.

    A corpus that does not cover the field still returns its nearest papers; they count as prior work only if their
    cosine is at least `min_similarity`. If the corpus covers the field at least in part, the judge decides what is
    relevant."""
    return [paper for paper in papers if fit != "poor" or cosines.get(paper, 0.0) >= min_similarity]


def interleave_rankings(rankings: Sequence[Sequence[Item]], limit: int) -> list[Item]:
    """Merge rankings by taking the first item of each, then the second, and so on, up to `limit` distinct items."""
    max_length = max(map(len, rankings), default=0)
    order = (ranking[rank] for rank in range(max_length) for ranking in rankings if rank < len(ranking))
    return list(dict.fromkeys(order))[:limit]


async def rerank_papers(
    reranker: Reranker | None, query: str, papers: Sequence[Paper], journal: Journal
) -> list[PaperId]:
    """Sort papers by how well their title and abstract answer the query.

    The order stays as it is if there is no reranker, or if the reranker fails; the journal records the failure. Raises
    errors that would affect every other query too."""
    order = [paper.id for paper in papers]
    if reranker is None or not papers:
        return order
    scores = await catch_failure(reranker.score(query, [f"{paper.title}. {paper.abstract}" for paper in papers]))
    if isinstance(scores, Failed):
        journal.record_failure("reranking of papers", scores.error)
        return order
    places = sorted(range(len(papers)), key=lambda place: (-scores[place], place))
    return [order[place] for place in places]
