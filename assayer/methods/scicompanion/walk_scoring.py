"""Score how near papers are to a query along citations, and combine this with nearness in meaning into one ranking.

It is based on personalised PageRank (Jeh and Widom, 2003) with only a few steps: mass starts at the papers that a
search found, and moves along citations in both directions. Forwards, mass is not divided among the works that a paper
cites: each paper counts as a full vote for every work that it cites, however long its reference list. Backwards, mass
is divided, because most papers that cite a famous work are about something else."""

import heapq
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from assayer.models import PaperId

Mass = Mapping[PaperId, float]
"""Each paper's mass, scaled so that the greatest is 1; a missing paper has no mass."""

_HOP_DISCOUNT = 0.5
"""Weight of each hop relative to the one before."""
_DAMPING_EXPONENT = 0.5
"""Exponent that dampens the mass; without it, the most cited works would outweigh all others."""


class CosineRange(NamedTuple):
    """The range of the cosines that a search returned for one query. Embedding models spread cosines differently, so
    nearness is measured relative to this range: 0 for the farthest paper found, 1 for the nearest, below 0 for papers
    farther still."""

    farthest: float
    nearest: float

    @classmethod
    def from_cosines(cls, cosines: Collection[float]) -> "CosineRange":
        return cls(min(cosines, default=0.0), max(cosines, default=0.0))

    def compute_nearness(self, cosine: float) -> float:
        span = self.nearest - self.farthest
        return (cosine - self.farthest) / span if span > 0 else 1.0 + cosine - self.nearest


def compute_start_mass(cosines: Sequence[Mapping[PaperId, float]]) -> dict[PaperId, float]:
    """Return the initial mass of papers found by search: their squared nearness, with equal weight for every query."""
    mass: defaultdict[PaperId, float] = defaultdict(float)
    for query_cosines in cosines:
        scale = CosineRange.from_cosines(query_cosines.values())
        for paper, cosine in query_cosines.items():
            mass[paper] += scale.compute_nearness(cosine) ** 2
    return _scale_to_one(mass)


def choose_heaviest(mass: Mass, count: int) -> dict[PaperId, float]:
    """Return the `count` papers with the greatest mass; ties are broken by id."""
    return dict(heapq.nsmallest(count, mass.items(), key=lambda item: (-item[1], item[0])))


def move_mass(
    mass: Mass, cited: Mapping[PaperId, Collection[PaperId]], citing: Mapping[PaperId, Collection[PaperId]]
) -> dict[PaperId, float]:
    """Move the mass one step along citations in both directions: to cited papers and to citing papers."""
    moved_mass: defaultdict[PaperId, float] = defaultdict(float)
    for paper, paper_mass in mass.items():
        for item in cited.get(paper, ()):
            moved_mass[item] += paper_mass
        backwards = citing.get(paper, ())
        for backward in backwards:
            moved_mass[backward] += paper_mass / sqrt(len(backwards))
    return _scale_to_one(moved_mass)


def sum_over_hops(hops: Sequence[Mass]) -> dict[PaperId, float]:
    """Sum the mass over hops; the first hop counts most."""
    total: defaultdict[PaperId, float] = defaultdict(float)
    for number, mass in enumerate(hops):
        for paper, paper_mass in mass.items():
            total[paper] += _HOP_DISCOUNT**number * paper_mass
    return _scale_to_one(total)


def compute_ranking_scores(nearness: Mapping[PaperId, float], mass: Mass) -> dict[PaperId, float]:
    """Return the ranking score, at most 2, of every paper whose nearness is known: its nearness plus its dampened mass
    relative to the greatest."""
    return {paper: near + mass.get(paper, 0.0) ** _DAMPING_EXPONENT for paper, near in nearness.items()}


def _scale_to_one(mass: Mass) -> dict[PaperId, float]:
    max_mass = max(mass.values(), default=0.0)
    return {paper: paper_mass / max_mass for paper, paper_mass in mass.items()} if max_mass > 0 else {}
