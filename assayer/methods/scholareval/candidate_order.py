"""In which order found papers are worth a look: rankings fused, taken in turn, and by a reranker where there is one."""

from collections.abc import Sequence

from assayer.models import Paper, PaperId
from assayer.ports import Reranker

__all__ = ["fused", "in_turn", "reranked"]

_RANK_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""


def fused(rankings: Sequence[Sequence[PaperId]]) -> list[PaperId]:
    """One order of several, by reciprocal ranks; ties by id."""
    weights: dict[PaperId, float] = {}
    for ranking in rankings:
        for rank, paper in enumerate(dict.fromkeys(ranking), start=1):
            weights[paper] = weights.get(paper, 0.0) + 1 / (_RANK_CONSTANT + rank)
    return sorted(weights, key=lambda paper: (-weights[paper], paper))


def in_turn(rankings: Sequence[Sequence[PaperId]], most: int) -> list[PaperId]:
    """The first of each ranking, then the second of each …: at most so many different ones."""
    longest = max(map(len, rankings), default=0)
    order = (ranking[rank] for rank in range(longest) for ranking in rankings if rank < len(ranking))
    return list(dict.fromkeys(order))[:most]


async def reranked(reranker: Reranker | None, query: str, papers: Sequence[Paper]) -> list[PaperId]:
    """By how well title and abstract answer the query; without a reranker as given."""
    if reranker is None or not papers:
        return [paper.id for paper in papers]
    scores = await reranker.score(query, [f"{paper.title}. {paper.abstract}" for paper in papers])
    order = sorted(range(len(papers)), key=lambda place: (-scores[place], place))
    return [papers[place].id for place in order]
