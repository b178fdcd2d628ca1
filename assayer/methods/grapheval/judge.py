"""The judge of GraphEval: a graph of labelled ideas with its scorer and calibration, prepared once and asked often."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError
from assayer.literature.own_paper import is_own_paper, shingles
from assayer.methods.grapheval.graph.arrays import UNKNOWN
from assayer.methods.grapheval.graph.growth import EdgeEnds
from assayer.methods.grapheval.graph.records import GraphContents, LabelledIdea
from assayer.methods.grapheval.graph.subgraph import IdeaSubgraph, LocalScorer, SubgraphExtractor
from assayer.methods.grapheval.ports import NearestViewpoints, NeighbourIndex, Scorer
from assayer.methods.grapheval.scoring.calibration import ProbabilityCalibration
from assayer.models import Absent, GraphUsed, Idea, Paper, PaperId
from assayer.ports import Vectors

__all__ = ["GraphJudge", "PlacedIdea"]


_NEARLY_THE_SAME_COSINE = 0.8
"""Cosine."""


class PlacedIdea(NamedTuple):
    """An idea placed among the viewpoints of a graph."""

    subgraph: IdeaSubgraph
    nearest: NearestViewpoints
    """The neighbours of each of its viewpoints."""
    same_ideas: tuple[LabelledIdea, ...]
    """Ideas of the graph that are this idea, and were left out."""


@dataclass(frozen=True)
class GraphJudge:
    contents: GraphContents
    neighbours: NeighbourIndex
    """Of exactly these contents."""
    scorer: Scorer
    hops: int
    calibration: ProbabilityCalibration | Absent

    def __post_init__(self) -> None:
        """Raises ConfigurationError for a calibration of another scorer, graph or embedding."""
        if isinstance(self.calibration, Absent):
            return
        plan, made = self.contents.plan, self.calibration
        name = LocalScorer(self.scorer, self.hops).name
        for what, of_calibration, here in (
            ("scorer", made.scorer, name),
            ("embedding model", made.provenance.embedding, plan.embedder),
            ("outcomes", ", ".join(made.classes), ", ".join(plan.classes)),
            ("viewpoints", made.provenance.viewpoints_by, plan.maker),
        ):
            if of_calibration != here:
                raise ConfigurationError(
                    f"The calibration {made.name!r} was fitted for another {what}: {of_calibration}; now it is {here}.",
                    "Fit it again: assayer graph train.",
                )

    @cached_property
    def _subgraphs(self) -> SubgraphExtractor:
        return SubgraphExtractor(self.contents.arrays, self.hops)

    @cached_property
    def graph_used(self) -> GraphUsed:
        plan, arrays = self.contents.plan, self.contents.arrays
        return GraphUsed(
            name=plan.name,
            version=self.contents.version,
            ideas=len(arrays.ideas),
            labelled=int(np.count_nonzero(arrays.labels != UNKNOWN)),
            viewpoints=len(arrays.vectors),
            embedding_model=plan.embedder,
            maker=plan.maker,
            outcomes=plan.classes,
            ordered=plan.ordered,
        )

    def known_by(self, cutoff: int | None) -> NDArray[np.bool_]:
        """(ideas,) which of them were known on that day, counted from 1970-01-01; undated ones never are."""
        dates = self.contents.arrays.dates
        known: NDArray[np.bool_] = (
            np.ones(len(dates), np.bool_) if cutoff is None else (dates != UNKNOWN) & (dates <= cutoff)
        )
        return known

    def _is_same_idea(self, idea: Idea, words: set[tuple[str, ...]], row: int, nearest: float) -> bool:
        """A text that was copied has at least one viewpoint that is nearly the same; without that only the title is
        compared, which takes a hundredth of the time."""
        known = self.contents.ideas[row]
        if known.id == idea.id:
            return True
        text = known.text if nearest >= _NEARLY_THE_SAME_COSINE else ""
        paper = Paper(id=PaperId(known.id), title=known.title, abstract=text, source="viewpoint graph")
        return is_own_paper(idea.own_words.title, words, paper)

    def place(self, idea: Idea, vectors: Vectors, inside: EdgeEnds, cutoff: int | None, day: int) -> PlacedIdea:
        """Finds the neighbours of an idea's viewpoints among what was known at the cutoff, the idea itself apart.

        `cutoff` and `day`, the idea's own date or UNKNOWN, are counted from 1970-01-01."""
        arrays, plan = self.contents.arrays, self.contents.plan
        allowed = self.known_by(cutoff)
        same_ideas: list[LabelledIdea] = []
        words = shingles(idea.own_words.text)
        while True:
            all_allowed = bool(allowed.all())
            found = self.neighbours.nearest(vectors, plan.inter, None if all_allowed else allowed[arrays.idea_of])
            new = [
                row
                for row, nearest in _nearest_ideas(found, arrays.idea_of)
                if self._is_same_idea(idea, words, row, nearest)
            ]
            if not new:
                break
            same_ideas += [self.contents.ideas[row] for row in new]
            allowed[new] = False
        # Cosines of 0 and below make no edge and are no evidence.
        found = NearestViewpoints(np.where(found.cosines > 0, found.rows, -1), found.cosines)
        subgraph = IdeaSubgraph.of(self._subgraphs, found, vectors, inside, day, allowed[arrays.idea_of])
        return PlacedIdea(subgraph, found, tuple(same_ideas))


def _nearest_ideas(found: NearestViewpoints, idea_of: NDArray[np.int32]) -> list[tuple[int, float]]:
    """Ideas that have a viewpoint among the neighbours, each with its highest cosine."""
    hit = found.rows >= 0
    nearest: dict[int, float] = {}
    for row, cosine in zip(idea_of[found.rows[hit]].tolist(), found.cosines[hit].tolist(), strict=True):
        nearest[row] = max(cosine, nearest.get(row, -1.0))
    return list(nearest.items())
