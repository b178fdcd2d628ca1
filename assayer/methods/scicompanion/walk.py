"""From queries to papers along citations: what a search finds, what that cites, what cites that, and why each paper was
reached.

Without citations it is the search alone: mass that cannot move adds nothing to the cosines.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

from assayer.methods.scicompanion.walk_scoring import (
    CosineRange,
    Mass,
    heaviest,
    moved_on,
    ranking_scores,
    start_mass,
    summed_over_hops,
)
from assayer.models import Paper, PaperId, Window
from assayer.ports import CitationIds, Literature
from assayer.run.structured_concurrency import together

__all__ = ["Found", "Step", "StepKind", "WalkOptions", "walk"]

StepKind = Literal["dense", "reference", "citing", "co-cited", "neighbour"]
_REASONS = 5
"""Kept of a paper; the works that everybody cites would have hundreds."""


@dataclass(frozen=True)
class WalkOptions:
    hops: int = 2
    """0 is the search alone."""
    seeds: int = 100
    """Papers a query from which the walk starts."""
    limit: int = 100
    frontier: int = 100
    """Papers from which each hop goes on: those with the greatest mass."""
    edges: int = 100
    """Of one paper in each direction, at most."""
    compared: int = 500
    """Papers reached along citations whose cosines with the queries are asked for."""


class Step(NamedTuple):
    kind: StepKind
    from_paper: PaperId | None
    """None where words of a query led to the paper."""
    query: str | None = None
    """The query that it is nearest to, where words led there."""


class Found(NamedTuple):
    paper: Paper
    score: float
    why: tuple[Step, ...]


@dataclass
class _Neighbourhood:
    """What has been seen of the citation graph: of most papers the ids alone."""

    literature: Literature
    window: Window
    edges: int
    exclude: frozenset[PaperId]
    papers: dict[PaperId, Paper] = field(default_factory=dict)
    """Whose records were read."""
    refused: set[PaperId] = field(default_factory=set)
    cited: dict[PaperId, Sequence[PaperId]] = field(default_factory=dict)
    citing: dict[PaperId, Sequence[PaperId]] = field(default_factory=dict)
    steps: defaultdict[PaperId, list[Step]] = field(default_factory=lambda: defaultdict(list))

    def admit(self, papers: Iterable[Paper]) -> list[PaperId]:
        admitted = [paper for paper in papers if paper.id not in self.exclude]
        self.papers.update((paper.id, paper) for paper in admitted)
        return [paper.id for paper in admitted]

    async def read(self, papers: Iterable[PaperId]) -> list[PaperId]:
        """Reads the records that were not read, and gives those that may be seen."""
        asked = list(papers)
        unread = [one for one in asked if one not in self.papers and one not in self.refused]
        if unread:
            self.admit((await self.literature.papers(unread, self.window)).values())
            self.refused.update(one for one in unread if one not in self.papers)
        return [one for one in asked if one in self.papers]

    async def explore(self, papers: Collection[PaperId]) -> None:
        """Asks for the citations of the papers that were not asked about."""
        asked = [one for one in papers if one not in self.cited]
        if not asked:
            return
        answers = await self.literature.citations(asked, self.edges, self.window)
        for one in asked:
            cited, citing = answers.get(one, CitationIds((), ()))
            self.cited[one] = [other for other in cited if other not in self.exclude]
            self.citing[one] = [other for other in citing if other not in self.exclude]
            self._explain(one)

    def _explain(self, paper: PaperId) -> None:
        came_from = next((one.from_paper for one in self.steps[paper] if one.kind == "citing"), None)
        for one in self.cited[paper]:
            self._add(one, Step("reference", paper) if came_from is None else Step("co-cited", came_from))
        for one in self.citing[paper]:
            self._add(one, Step("citing", paper))

    def _add(self, paper: PaperId, step: Step) -> None:
        known = self.steps[paper]
        if len(known) < _REASONS and step not in known and step.from_paper != paper:
            known.append(step)


async def walk(
    queries: Sequence[str],
    literature: Literature,
    window: Window,
    options: WalkOptions,
    exclude: Collection[PaperId] = (),
) -> list[Found]:
    """Best first, at most `limit`. What is excluded is no step on the way either. Raises LiteratureError."""
    seen = _Neighbourhood(literature, window, options.edges, frozenset(exclude))
    cosines: list[dict[PaperId, float]] = []
    hits_of_queries = await literature.search(queries, options.seeds + len(seen.exclude), window)
    for query, hits in zip(queries, hits_of_queries, strict=True):
        admitted = set(seen.admit(hit.paper for hit in hits))
        found = [hit for hit in hits if hit.paper.id in admitted][: options.seeds]
        cosines.append({hit.paper.id: hit.similarity for hit in found})
        for hit in found:
            if hit.similarity > max((one.get(hit.paper.id, -1.0) for one in cosines[:-1]), default=-1.0):
                seen.steps[hit.paper.id] = [Step("dense", None, query)]
    mass = await _mass(start_mass(cosines), seen, options)
    near = await _nearness(queries, cosines, heaviest(mass, options.compared), literature)
    return await _best(ranking_scores(near, mass), seen, options.limit)


async def _best(scores: Mass, seen: _Neighbourhood, limit: int) -> list[Found]:
    """Reads no more records than it takes to have so many that may be seen."""
    waiting = iter(heaviest(scores, len(scores)))
    best: list[PaperId] = []
    while len(best) < limit and (some := list(islice(waiting, limit - len(best)))):
        best += await seen.read(some)
    return [Found(seen.papers[one], scores[one], tuple(seen.steps[one])) for one in best]


async def _mass(start: Mass, seen: _Neighbourhood, options: WalkOptions) -> Mass:
    """That came to each paper in all hops."""
    hops: list[Mass] = []
    mass = start
    for _ in range(options.hops):
        nearest = heaviest(mass, options.frontier if hops else len(mass))
        frontier = {one: mass[one] for one in await seen.read(nearest)}
        await seen.explore(frontier)
        mass = moved_on(frontier, seen.cited, seen.citing)
        hops.append(mass)
    return summed_over_hops(hops)


async def _nearness(
    queries: Sequence[str],
    found: Sequence[Mapping[PaperId, float]],
    reached: Collection[PaperId],
    literature: Literature,
) -> dict[PaperId, float]:
    """Of every paper found or reached to the query that it is nearest to. The search told some cosines already."""
    candidates = list(dict.fromkeys([*(one for some in found for one in some), *reached]))

    async def measured(query: str, known: Mapping[PaperId, float]) -> dict[PaperId, float]:
        scale = CosineRange.of(known.values())
        others = await literature.similarity(query, [one for one in candidates if one not in known])
        return {paper: scale.nearness(cosine) for paper, cosine in {**others, **known}.items()}

    each = await together([measured(query, known) for query, known in zip(queries, found, strict=True)])
    measurable = [paper for paper in candidates if any(paper in one for one in each)]
    return {paper: max(one[paper] for one in each if paper in one) for paper in measurable}
