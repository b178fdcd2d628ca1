"""The judge of GraphEval: a graph of labelled ideas with its scorer and calibration, prepared once and asked often."""

import asyncio
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError, InputError
from assayer.literature.own_paper import is_own_paper, shingles
from assayer.methods.grapheval.graph.arrays import UNKNOWN
from assayer.methods.grapheval.graph.growth import EdgeEnds
from assayer.methods.grapheval.graph.records import GraphContents, LabelledIdea, Viewpoint
from assayer.methods.grapheval.graph.subgraph import IdeaSubgraph, LocalScorer, SubgraphExtractor, without_viewpoint
from assayer.methods.grapheval.ports import NearestViewpoints, NeighbourIndex, Scorer
from assayer.methods.grapheval.scoring.baselines import idea_vectors
from assayer.methods.grapheval.scoring.calibration import ProbabilityCalibration
from assayer.methods.grapheval.scoring.choice import titled_text
from assayer.methods.grapheval.scoring.fitted_logistic import FittedLogistic
from assayer.methods.grapheval.scoring.verdict_model import VerdictModel, fit_logistic
from assayer.models import Absent, GraphUsed, Idea, Paper, PaperId, ScorerChoice
from assayer.ports import Vectors

__all__ = ["GraphJudge", "PlacedIdea", "Refit"]


_NEARLY_THE_SAME_COSINE = 0.8
"""Cosine."""
_NOT_CHOSEN = Absent(reason="this scorer was set in the options, or nothing was trained: none was chosen.")
_MOST_REFITS = 8
"""That are kept: one for each set of ideas that may be learned from, such as those before one cutoff."""


class Refit(NamedTuple):
    """The regression as it would be had it never seen the ideas that are not known."""

    fitted: FittedLogistic | None
    """None where what is left has fewer than two outcomes."""


class PlacedIdea(NamedTuple):
    """An idea placed among the viewpoints of a graph."""

    subgraph: IdeaSubgraph
    nearest: NearestViewpoints
    """The neighbours of each of its viewpoints."""
    same_ideas: tuple[LabelledIdea, ...]
    """Ideas of the graph that are this idea, and were left out."""
    known: NDArray[np.bool_]
    """(ideas,) which ideas of the graph may be learned from."""
    text: str
    """Title and text."""
    refit: "Refit | None" = None
    """None: it is made when the idea is scored, where one is needed."""


@dataclass(frozen=True)
class GraphJudge:
    contents: GraphContents
    neighbours: NeighbourIndex
    """Of exactly these contents."""
    scorer: Scorer
    hops: int
    calibration: ProbabilityCalibration | Absent
    model: VerdictModel | None = None
    """What was chosen and fitted; where its regression is the scorer, `scorer` is not asked."""
    _refits: dict[bytes, Refit] = field(default_factory=dict, compare=False)
    _being_refitted: dict[bytes, asyncio.Task[Refit]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        """Raises ConfigurationError for a calibration of another scorer, graph or embedding."""
        if isinstance(self.calibration, Absent):
            return
        plan, made = self.contents.plan, self.calibration
        for what, of_calibration, here in (
            ("scorer", made.scorer, self.scorer_name),
            ("embedding model", made.provenance.embedding, plan.embedder),
            ("outcomes", ", ".join(made.classes), ", ".join(plan.classes)),
            ("viewpoints", made.provenance.viewpoints_by, plan.maker),
        ):
            if of_calibration != here:
                raise ConfigurationError(
                    f"The calibration {made.name!r} was fitted for another {what}: {of_calibration}; now it is {here}.",
                    "Fit it again: assayer graph train.",
                )

    @property
    def scorer_name(self) -> str:
        """As calibrations name it."""
        if self.model is not None and self.model.fitted is not None:
            return self.model.choice.chosen
        return LocalScorer(self.scorer, self.hops).name

    @property
    def choice(self) -> ScorerChoice | Absent:
        return _NOT_CHOSEN if self.model is None else self.model.choice

    def score(self, placed: PlacedIdea, without: tuple[int, Viewpoint] | None = None) -> NDArray[np.float64]:
        """(classes,) before calibration, NaN where nothing can be said; `without` leaves out one of the idea's
        viewpoints, of which it must have others."""
        around = placed.subgraph if without is None else without_viewpoint(placed.subgraph, without[0])
        if self.model is None or self.model.fitted is None:
            return around.score(self.scorer)
        fitted = (placed.refit or self._refit(placed.known, self.model.fitted)).fitted
        if fitted is None:
            return np.full(len(self.contents.plan.classes), np.nan)
        if fitted.kind == "mean viewpoint":
            told = fitted.of_vectors(idea_vectors(around.graph)[[around.row]])
        else:
            text = placed.text
            if without is not None:
                text = " ".join(text.split()).replace(without[1].words, " ", 1)
            told = fitted.of_texts([text])
        scores: NDArray[np.float64] = told[0]
        return scores

    async def prepared(self, placed: PlacedIdea) -> PlacedIdea:
        """With the regression that `score` needs of it, made in a thread: it takes seconds, in which other evaluations
        would stand still. Those who need the same one at the same time wait for one."""
        if self.model is None or self.model.fitted is None:
            return placed
        everything, key = self.model.fitted, placed.known.tobytes()
        found = self._kept(placed.known, everything)
        if found is None:
            task = self._being_refitted.get(key)
            if task is None:
                task = asyncio.create_task(self._refit_in_thread(key, placed.known, everything))
                self._being_refitted[key] = task
                task.add_done_callback(lambda _: self._being_refitted.pop(key))
            found = await asyncio.shield(task)  # one who is cancelled takes it from nobody else
        return placed._replace(refit=found)

    async def _refit_in_thread(self, key: bytes, known: NDArray[np.bool_], everything: FittedLogistic) -> Refit:
        return self._keep(key, await asyncio.to_thread(self._made, known, everything))

    def _refit(self, known: NDArray[np.bool_], everything: FittedLogistic) -> Refit:
        return self._kept(known, everything) or self._keep(known.tobytes(), self._made(known, everything))

    def _kept(self, known: NDArray[np.bool_], everything: FittedLogistic) -> Refit | None:
        if known[self.contents.arrays.labels != UNKNOWN].all():
            return Refit(everything)
        return self._refits.get(known.tobytes())

    def _keep(self, key: bytes, refit: Refit) -> Refit:
        while key not in self._refits and len(self._refits) >= _MOST_REFITS:
            self._refits.pop(next(iter(self._refits)))
        self._refits[key] = refit
        return refit

    def _made(self, known: NDArray[np.bool_], everything: FittedLogistic) -> Refit:
        """Without the ideas that are not known: those after a cutoff, and the asked idea itself."""
        hidden = np.flatnonzero(~known).astype(np.int32)
        texts = {idea.id: titled_text(idea.title, idea.text) for idea in self.contents.ideas}
        try:
            return Refit(fit_logistic(everything.kind, self.contents.arrays, texts, hidden))
        except InputError:
            return Refit(None)

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

    def place(
        self, idea: Idea, vectors: Vectors, inside: EdgeEnds, cutoff: int | None, day: int, text: str | None = None
    ) -> PlacedIdea:
        """Finds the neighbours of an idea's viewpoints among what was known at the cutoff, the idea itself apart.

        `cutoff` and `day`, the idea's own date or UNKNOWN, are counted from 1970-01-01; `text` is what is read of the
        idea, by default all."""
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
        read = titled_text(idea.title, idea.text if text is None else text)
        return PlacedIdea(subgraph, found, tuple(same_ideas), allowed, read)


def _nearest_ideas(found: NearestViewpoints, idea_of: NDArray[np.int32]) -> list[tuple[int, float]]:
    """Ideas that have a viewpoint among the neighbours, each with its highest cosine."""
    hit = found.rows >= 0
    nearest: dict[int, float] = {}
    for row, cosine in zip(idea_of[found.rows[hit]].tolist(), found.cosines[hit].tolist(), strict=True):
        nearest[row] = max(cosine, nearest.get(row, -1.0))
    return list(nearest.items())
