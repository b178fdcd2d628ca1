"""How near papers lie to a query along citations, and how that and nearness in meaning make one order.

After personalised PageRank (Jeh and Widom, 2003) with a few steps only: mass starts at the papers that a search found
and moves along citations, forwards and backwards. It is not shared out among what a paper cites: that many of the
papers found cite a work is a vote for it, however long their lists are. Backwards it is: most of what cites a famous
work is about something else.
"""

import heapq
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from assayer.models import PaperId

__all__ = ["CosineRange", "Mass", "heaviest", "moved_on", "ranking_scores", "start_mass", "summed_over_hops"]

Mass = Mapping[PaperId, float]
"""Of papers; the heaviest has 1, and a paper that is not in it none."""

_LATER_HOP = 0.5
"""Weight of a hop, of that before it."""
_EVENED = 0.5
"""Exponent of the mass: without it the works that everybody cites outweigh all others."""


class CosineRange(NamedTuple):
    """The cosines of what a search found for one query. Models differ in how far theirs lie apart, so that nearness is
    measured between these: 0 for the farthest of the papers found, 1 for the nearest, less than 0 beyond."""

    farthest: float
    nearest: float

    @classmethod
    def of(cls, cosines: Collection[float]) -> "CosineRange":
        return cls(min(cosines, default=0.0), max(cosines, default=0.0))

    def nearness(self, cosine: float) -> float:
        span = self.nearest - self.farthest
        return (cosine - self.farthest) / span if span > 0 else 1.0 + cosine - self.nearest


def start_mass(cosines: Sequence[Mapping[PaperId, float]]) -> dict[PaperId, float]:
    """From the papers that a search found for each query: the squares of their nearness, every query counting alike."""
    mass: defaultdict[PaperId, float] = defaultdict(float)
    for found in cosines:
        scale = CosineRange.of(found.values())
        for paper, cosine in found.items():
            mass[paper] += scale.nearness(cosine) ** 2
    return _heaviest_is_one(mass)


def heaviest(mass: Mass, count: int) -> dict[PaperId, float]:
    """The papers with most of it; of equal ones the first by id."""
    return dict(heapq.nsmallest(count, mass.items(), key=lambda one: (-one[1], one[0])))


def moved_on(
    mass: Mass, cited: Mapping[PaperId, Collection[PaperId]], citing: Mapping[PaperId, Collection[PaperId]]
) -> dict[PaperId, float]:
    """One step along citations: to what each paper cites, and to what cites it."""
    moved: defaultdict[PaperId, float] = defaultdict(float)
    for paper, own in mass.items():
        for one in cited.get(paper, ()):
            moved[one] += own
        backwards = citing.get(paper, ())
        for one in backwards:
            moved[one] += own / sqrt(len(backwards))
    return _heaviest_is_one(moved)


def summed_over_hops(hops: Sequence[Mass]) -> dict[PaperId, float]:
    """The first hop counts most."""
    total: defaultdict[PaperId, float] = defaultdict(float)
    for number, mass in enumerate(hops):
        for paper, own in mass.items():
            total[paper] += _LATER_HOP**number * own
    return _heaviest_is_one(total)


def ranking_scores(nearness: Mapping[PaperId, float], mass: Mass) -> dict[PaperId, float]:
    """At most 2, of every paper whose nearness is known: that, and the evened share of the greatest mass."""
    return {paper: near + mass.get(paper, 0.0) ** _EVENED for paper, near in nearness.items()}


def _heaviest_is_one(mass: Mass) -> dict[PaperId, float]:
    most = max(mass.values(), default=0.0)
    return {paper: own / most for paper, own in mass.items()} if most > 0 else {}
