"""From queries to papers along citations: dense seeds, what they cite, and why each paper was reached."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from assayer.models import Paper, PaperId, Window
from assayer.ports import Literature

__all__ = ["Found", "Step", "StepKind", "WalkOptions", "walk"]

StepKind = Literal["dense", "reference", "citing", "co-cited", "neighbour"]
_PASSED_ON = 0.5
"""Of a paper's score, to all that it cites together."""


@dataclass(frozen=True)
class WalkOptions:
    hops: int = 2
    seeds: int = 30
    """Papers a query from which the walk starts."""
    limit: int = 100


class Step(NamedTuple):
    kind: StepKind
    from_paper: PaperId | None
    """None where words of a query led to the paper."""


class Found(NamedTuple):
    paper: Paper
    score: float
    why: tuple[Step, ...]


async def walk(
    queries: Sequence[str],
    literature: Literature,
    window: Window,
    options: WalkOptions,
    exclude: Collection[PaperId] = (),
) -> list[Found]:
    """Best first, at most `limit`. A paper's score is its cosine with the nearest query, and what the papers that cite
    it pass on. Raises LiteratureError."""
    found: dict[PaperId, Found] = {}
    for hits in await literature.search(queries, options.seeds, window):
        for hit in hits:
            known = found.get(hit.paper.id)
            score = max(hit.similarity, known.score if known else 0.0)
            found[hit.paper.id] = Found(hit.paper, score, (Step("dense", None),))
    frontier = list(found)
    for _ in range(options.hops):
        cited = await literature.references(frontier, options.limit, window) if frontier else {}
        reached = set(found)
        for source, papers in cited.items():
            for paper in papers:
                passed_on = _PASSED_ON * found[source].score / len(papers)
                known = found.get(paper.id, Found(paper, 0.0, ()))
                why = (*known.why, Step("reference", source))
                found[paper.id] = Found(paper, known.score + passed_on, why)
        frontier = [one for one in found if one not in reached]
    best = sorted(found.values(), key=lambda one: -one.score)
    return [one for one in best if one.paper.id not in exclude][: options.limit]
