"""A graph at hand: all that is needed to compare ideas with it, prepared once and asked often."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError
from assayer.library import is_own_paper, shingles
from assayer.methods.grapheval.arrays import UNKNOWN
from assayer.methods.grapheval.calibration import Calibration
from assayer.methods.grapheval.growth import Ends
from assayer.methods.grapheval.locality import Around, Local, Surroundings
from assayer.methods.grapheval.ports import Found, Neighbours, Scorer
from assayer.methods.grapheval.records import GraphContents, KnownIdea
from assayer.models import Absent, GraphUsed, Idea, Paper, PaperId
from assayer.ports import Vectors

__all__ = ["Judge", "Placed"]


_NEARLY_THE_SAME = 0.8
"""Cosine."""


class Placed(NamedTuple):
    """An idea among the viewpoints of a graph."""

    around: Around
    found: Found
    """The neighbours of each of its viewpoints."""
    own: tuple[KnownIdea, ...]
    """Ideas of the graph that are this idea, and were left out."""


@dataclass(frozen=True)
class Judge:
    contents: GraphContents
    neighbours: Neighbours
    """Of exactly these contents."""
    scorer: Scorer
    hops: int
    calibration: Calibration | Absent

    def __post_init__(self) -> None:
        """Raises ConfigurationError for a calibration of another scorer, graph or embedding."""
        if isinstance(self.calibration, Absent):
            return
        plan, made = self.contents.plan, self.calibration
        name = Local(self.scorer, self.hops).name
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
    def _surroundings(self) -> Surroundings:
        return Surroundings(self.contents.arrays, self.hops)

    @cached_property
    def used(self) -> GraphUsed:
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

    def before(self, cutoff: int | None) -> NDArray[np.bool_]:
        """(ideas,) which of them were known on that day, counted from 1970-01-01; undated ones never are."""
        dates = self.contents.arrays.dates
        known: NDArray[np.bool_] = (
            np.ones(len(dates), np.bool_) if cutoff is None else (dates != UNKNOWN) & (dates <= cutoff)
        )
        return known

    def _is_own(self, idea: Idea, words: set[tuple[str, ...]], row: int, nearest: float) -> bool:
        """A text that was copied has at least one viewpoint that is nearly the same; without that only the title is
        compared, which takes a hundredth of the time."""
        known = self.contents.ideas[row]
        if known.id == idea.id:
            return True
        text = known.text if nearest >= _NEARLY_THE_SAME else ""
        paper = Paper(id=PaperId(known.id), title=known.title, abstract=text, source="viewpoint graph")
        return is_own_paper(idea.title, words, paper)

    def place(self, idea: Idea, vectors: Vectors, inside: Ends, cutoff: int | None, day: int) -> Placed:
        """Finds the neighbours of an idea's viewpoints among what was known at the cutoff, the idea itself apart.

        `cutoff` and `day`, the idea's own date or UNKNOWN, are counted from 1970-01-01."""
        arrays, plan = self.contents.arrays, self.contents.plan
        allowed = self.before(cutoff)
        own: list[KnownIdea] = []
        words = shingles(idea.text)
        while True:
            everything = bool(allowed.all())
            found = self.neighbours.nearest(vectors, plan.inter, None if everything else allowed[arrays.idea_of])
            new = [row for row, nearest in _met(found, arrays.idea_of) if self._is_own(idea, words, row, nearest)]
            if not new:
                break
            own += [self.contents.ideas[row] for row in new]
            allowed[new] = False
        # Cosines of 0 and below make no edge and are no evidence.
        found = Found(np.where(found.cosines > 0, found.rows, -1), found.cosines)
        around = Around.of(self._surroundings, found, vectors, inside, day, allowed[arrays.idea_of])
        return Placed(around, found, tuple(own))


def _met(found: Found, idea_of: NDArray[np.int32]) -> list[tuple[int, float]]:
    """Ideas that have a viewpoint among the neighbours, each with its highest cosine."""
    hit = found.rows >= 0
    nearest: dict[int, float] = {}
    for row, cosine in zip(idea_of[found.rows[hit]].tolist(), found.cosines[hit].tolist(), strict=True):
        nearest[row] = max(cosine, nearest.get(row, -1.0))
    return list(nearest.items())
