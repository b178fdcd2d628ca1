"""Walk from queries to papers along citations. The result holds the papers that a search finds, and papers reached from
them along citations in both directions, each with how it was reached.

Without citations, the result is that of the search alone: mass that cannot move adds nothing to the cosines."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

from assayer.literature.admitted import AdmittedLiterature
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.walk_scoring import (
    CosineRange,
    Mass,
    choose_heaviest,
    compute_ranking_scores,
    compute_start_mass,
    move_mass,
    sum_over_hops,
)
from assayer.models import Paper, PaperId
from assayer.ports import CitationIds
from assayer.run.concurrency import gather_all

StepKind = Literal["dense", "reference", "citing", "co-cited"]
_MAX_REASONS = 5
"""Maximum number of reasons kept per paper; the most cited works would otherwise have hundreds."""
_FRONTIER_SIZE = 100
"""Number of papers, those with the greatest mass, from which each hop continues."""
_MAX_CITATIONS = 100
"""Maximum number of citations per paper in each direction."""
_MAX_COMPARED = 500
"""Maximum number of papers reached along citations whose cosine similarity to the queries is requested."""


class Step(NamedTuple):
    kind: StepKind
    from_paper: PaperId | None
    """The paper from which the walk reached this one; None if a query found it."""
    query: str | None = None
    """The query nearest to the paper, if a query found it."""


class Found(NamedTuple):
    paper: Paper
    score: float
    why: tuple[Step, ...]


@dataclass
class _Neighbourhood:
    """The explored part of the citation graph; for most papers only the ids are known."""

    literature: AdmittedLiterature
    exclude: frozenset[PaperId]
    papers: dict[PaperId, Paper] = field(default_factory=dict)
    """Papers whose records were fetched and admitted."""
    refused: set[PaperId] = field(default_factory=set)
    cited: dict[PaperId, Sequence[PaperId]] = field(default_factory=dict)
    citing: dict[PaperId, Sequence[PaperId]] = field(default_factory=dict)
    steps: defaultdict[PaperId, list[Step]] = field(default_factory=lambda: defaultdict(list))

    def admit(self, papers: Iterable[Paper]) -> list[PaperId]:
        admitted_papers = [paper for paper in papers if paper.id not in self.exclude]
        self.papers.update((paper.id, paper) for paper in admitted_papers)
        return [paper.id for paper in admitted_papers]

    async def read(self, papers: Iterable[PaperId]) -> list[PaperId]:
        """Fetch the records that are still missing, and return those of the papers that the walk may use."""
        paper_ids = list(papers)
        unread = [item for item in paper_ids if item not in self.papers and item not in self.refused]
        if unread:
            self.admit(await self.literature.papers(unread))
            self.refused.update(item for item in unread if item not in self.papers)
        return [item for item in paper_ids if item in self.papers]

    async def explore(self, papers: Collection[PaperId]) -> None:
        """Fetch the citations of those papers for which they are still missing."""
        new_papers = [paper for paper in papers if paper not in self.cited]
        if not new_papers:
            return
        answers = await self.literature.citations(new_papers, _MAX_CITATIONS)
        for item in new_papers:
            cited, citing = answers.get(item, CitationIds((), ()))
            self.cited[item] = [citation for citation in cited if citation not in self.exclude]
            self.citing[item] = [citation for citation in citing if citation not in self.exclude]
            self._record_steps(item)

    def _record_steps(self, paper: PaperId) -> None:
        origin = next((step.from_paper for step in self.steps[paper] if step.kind == "citing"), None)
        for item in self.cited[paper]:
            self._add_step(item, Step("reference", paper) if origin is None else Step("co-cited", origin))
        for item in self.citing[paper]:
            self._add_step(item, Step("citing", paper))

    def _add_step(self, paper: PaperId, step: Step) -> None:
        known_steps = self.steps[paper]
        if len(known_steps) < _MAX_REASONS and step not in known_steps and step.from_paper != paper:
            known_steps.append(step)


async def walk_citations(
    queries: Sequence[str],
    literature: AdmittedLiterature,
    options: SciCompanionOptions,
    exclude: Collection[PaperId] = (),
) -> list[Found]:
    """Walk from the queries, and return up to `options.found` papers, best first. Excluded papers are not passed
    through either. Raises LiteratureError if the source fails."""
    neighbourhood = _Neighbourhood(literature, frozenset(exclude))
    cosines: list[dict[PaperId, float]] = []
    hits_of_queries = await literature.search(queries, options.seeds + len(neighbourhood.exclude))
    for query, hits in zip(queries, hits_of_queries, strict=True):
        admitted_ids = set(neighbourhood.admit(hit.paper for hit in hits))
        seed_hits = [hit for hit in hits if hit.paper.id in admitted_ids][: options.seeds]
        cosines.append({hit.paper.id: hit.similarity for hit in seed_hits})
        for hit in seed_hits:
            if hit.similarity > max((cosine.get(hit.paper.id, -1.0) for cosine in cosines[:-1]), default=-1.0):
                neighbourhood.steps[hit.paper.id] = [Step("dense", None, query)]
    mass = await _spread_mass(compute_start_mass(cosines), neighbourhood, options.hops)
    nearness = await _measure_nearness(queries, cosines, choose_heaviest(mass, _MAX_COMPARED), literature)
    return await _fetch_best(compute_ranking_scores(nearness, mass), neighbourhood, options.found)


async def _fetch_best(scores: Mass, neighbourhood: _Neighbourhood, limit: int) -> list[Found]:
    """Return the best papers, fetching only as many records as it takes to get `limit` admitted papers."""
    candidates = iter(choose_heaviest(scores, len(scores)))
    best: list[PaperId] = []
    while len(best) < limit and (batch := list(islice(candidates, limit - len(best)))):
        best += await neighbourhood.read(batch)
    return [Found(neighbourhood.papers[item], scores[item], tuple(neighbourhood.steps[item])) for item in best]


async def _spread_mass(start: Mass, neighbourhood: _Neighbourhood, steps: int) -> Mass:
    """Return the mass that reached each paper, summed over all hops."""
    hops: list[Mass] = []
    mass = start
    for _ in range(steps):
        heaviest = choose_heaviest(mass, _FRONTIER_SIZE if hops else len(mass))
        frontier = {item: mass[item] for item in await neighbourhood.read(heaviest)}
        await neighbourhood.explore(frontier)
        mass = move_mass(frontier, neighbourhood.cited, neighbourhood.citing)
        hops.append(mass)
    return sum_over_hops(hops)


async def _measure_nearness(
    queries: Sequence[str],
    cosines_by_query: Sequence[Mapping[PaperId, float]],
    reached_papers: Collection[PaperId],
    literature: AdmittedLiterature,
) -> dict[PaperId, float]:
    """Return, for each found or reached paper, its nearness to the query closest to it. Cosines that the search already
    returned are reused."""
    candidates = list(dict.fromkeys([*(paper for cosines in cosines_by_query for paper in cosines), *reached_papers]))

    async def measure_query(query: str, known_cosines: Mapping[PaperId, float]) -> dict[PaperId, float]:
        scale = CosineRange.from_cosines(known_cosines.values())
        other_cosines = await literature.similarity(
            query, [candidate for candidate in candidates if candidate not in known_cosines]
        )
        return {paper: scale.compute_nearness(cosine) for paper, cosine in {**other_cosines, **known_cosines}.items()}

    nearness_by_query = await gather_all(
        [measure_query(query, known_cosines) for query, known_cosines in zip(queries, cosines_by_query, strict=True)]
    )
    measured_papers = [paper for paper in candidates if any(paper in nearness for nearness in nearness_by_query)]
    return {
        paper: max(nearness[paper] for nearness in nearness_by_query if paper in nearness) for paper in measured_papers
    }
