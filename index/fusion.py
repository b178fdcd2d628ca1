"""Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""

from collections import defaultdict
from collections.abc import Iterable

__all__ = ["fuse"]

_K = 60
"""The paper's constant: how slowly the weight of a rank falls."""


def fuse(rankings: Iterable[Iterable[int]]) -> dict[int, float]:
    """Score of every item that stands in any ranking; the higher the better."""
    scores: dict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] += 1 / (_K + rank)
    return dict(scores)
