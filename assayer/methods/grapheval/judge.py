"""GraphEval's judge: a graph of labelled ideas with its scorer and calibration. Prepare it once and use it for many
ideas."""

import asyncio
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError, InputError
from assayer.literature.own_paper import build_shingles, is_own_paper
from assayer.methods.grapheval.graph.arrays import UNKNOWN
from assayer.methods.grapheval.graph.growth import EdgeEnds
from assayer.methods.grapheval.graph.records import GraphContents, LabelledIdea, Viewpoint
from assayer.methods.grapheval.graph.subgraph import IdeaSubgraph, LocalScorer, SubgraphExtractor, remove_viewpoint
from assayer.methods.grapheval.ports import NearestViewpoints, NeighbourIndex, Scorer
from assayer.methods.grapheval.scoring.baselines import compute_idea_vectors
from assayer.methods.grapheval.scoring.calibration import ProbabilityCalibration
from assayer.methods.grapheval.scoring.choice import build_titled_text
from assayer.methods.grapheval.scoring.fitted_logistic import FeatureKind, FittedLogistic
from assayer.methods.grapheval.scoring.verdict_model import VerdictModel, fit_logistic
from assayer.models import Absent, GraphUsed, Idea, Paper, PaperId, ScorerChoice
from assayer.ports import Vectors

_NEARLY_IDENTICAL_COSINE = 0.8
"""Minimum cosine at which two viewpoints count as nearly identical."""
_NOT_CHOSEN = Absent(reason="no comparison chose the scorer: either it was set for training, or no model was trained.")
_MAX_REFITS = 8
"""Maximum number of cached refits. There is one refit per set of training ideas, such as the ideas before a cutoff."""


class PlacedIdea(NamedTuple):
    """An idea placed among a graph's viewpoints."""

    subgraph: IdeaSubgraph
    nearest: NearestViewpoints
    """The neighbours of each of the idea's viewpoints."""
    same_ideas: tuple[LabelledIdea, ...]
    """Ideas in the graph that are the same as this idea; they are left out."""
    known: NDArray[np.bool_]
    """Mask of the graph's ideas that may be used for training, shape (ideas,)."""
    text: str
    """The idea's title and text."""
    fitted: FittedLogistic | None = None
    """Regression trained only on the ideas in `known`. None if no regression is used, or if these ideas have fewer than
    two outcomes."""


@dataclass(frozen=True)
class GraphJudge:
    contents: GraphContents
    neighbours: NeighbourIndex
    """Neighbour index of exactly these contents."""
    scorer: Scorer
    hops: int
    calibration: ProbabilityCalibration | Absent
    model: VerdictModel | None = None
    """The scorer that was chosen and fitted. If it is a regression, `scorer` is not used."""
    _refits: dict[bytes, asyncio.Task[FittedLogistic | None]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        """Check the calibration. Raises ConfigurationError if it belongs to another scorer, graph or embedding
        model."""
        if isinstance(self.calibration, Absent):
            return
        plan, calibration = self.contents.plan, self.calibration
        for setting, fitted_for, current in (
            ("scorer", calibration.scorer, self.scorer_name),
            ("embedding model", calibration.provenance.embedding, plan.embedder),
            ("outcomes", ", ".join(calibration.classes), ", ".join(plan.classes)),
            ("viewpoints", calibration.provenance.viewpoints_by, plan.maker),
        ):
            if fitted_for != current:
                raise ConfigurationError(
                    f"The calibration {calibration.name!r} does not match the {setting}: it was fitted for "
                    f"{fitted_for}, but the current value is {current}.",
                    "Fit it again with `assayer graph train`.",
                )

    @property
    def scorer_name(self) -> str:
        """The scorer's name, as recorded in calibrations."""
        if self.model is not None and self.model.fitted is not None:
            return self.model.choice.scorer
        return LocalScorer(self.scorer, self.hops).name

    @property
    def choice(self) -> ScorerChoice | Absent:
        return _NOT_CHOSEN if self.model is None else self.model.choice

    def score(
        self, placed_idea: PlacedIdea, removed_viewpoint: tuple[int, Viewpoint] | None = None
    ) -> NDArray[np.float64]:
        """Return the scores before calibration, shape (classes,), or NaN if no score is possible. `removed_viewpoint`
        leaves out one of the idea's viewpoints; the idea must have others."""
        subgraph = (
            placed_idea.subgraph
            if removed_viewpoint is None
            else remove_viewpoint(placed_idea.subgraph, removed_viewpoint[0])
        )
        if self.model is None or self.model.fitted is None:
            return subgraph.score(self.scorer)
        fitted_model = placed_idea.fitted
        if fitted_model is None:
            return np.full(len(self.contents.plan.classes), np.nan)
        if fitted_model.kind == "mean viewpoint":
            rows = fitted_model.score_vectors(compute_idea_vectors(subgraph.graph)[[subgraph.row]])
        else:
            text = placed_idea.text
            if removed_viewpoint is not None:
                text = " ".join(text.split()).replace(removed_viewpoint[1].words, " ", 1)
            rows = fitted_model.score_texts([text])
        scores: NDArray[np.float64] = rows[0]
        return scores

    async def prepare(self, placed_idea: PlacedIdea) -> PlacedIdea:
        """Return the idea with the regression that `score` needs. Fitting takes seconds, so it runs in a thread and
        does not block other evaluations. Concurrent requests for the same regression share one fit."""
        fitted_on_all = self.model.fitted if self.model else None
        if fitted_on_all is None or placed_idea.known[self.contents.arrays.labels != UNKNOWN].all():
            return placed_idea._replace(fitted=fitted_on_all)
        key = placed_idea.known.tobytes()
        if key not in self._refits:
            while len(self._refits) >= _MAX_REFITS:
                self._refits.pop(next(iter(self._refits)))
            self._refits[key] = asyncio.create_task(
                asyncio.to_thread(self._refit, placed_idea.known, fitted_on_all.kind)
            )
        # Other callers may be waiting for the same fit, so cancelling this call must not cancel it.
        return placed_idea._replace(fitted=await asyncio.shield(self._refits[key]))

    def _refit(self, is_known: NDArray[np.bool_], kind: FeatureKind) -> FittedLogistic | None:
        """Fit a regression to the ideas in `is_known` only, or return None if these have fewer than two outcomes."""
        hidden_rows = np.flatnonzero(~is_known).astype(np.int32)
        texts = {idea.id: build_titled_text(idea.title, idea.text) for idea in self.contents.ideas}
        try:
            return fit_logistic(kind, self.contents.arrays, texts, hidden_rows)
        except InputError:
            return None

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
            extractor=plan.maker,
            outcomes=plan.classes,
            ordered=plan.ordered,
        )

    def find_known_ideas(self, cutoff: int) -> NDArray[np.bool_]:
        """Return a mask, shape (ideas,), for the ideas known on the cutoff day. `cutoff` is in days since 1970-01-01.
        If it is UNKNOWN, all ideas are known; otherwise undated ideas are not."""
        dates = self.contents.arrays.dates
        is_known: NDArray[np.bool_] = (dates != UNKNOWN) & (dates <= cutoff)
        return is_known | (cutoff == UNKNOWN)

    def _is_same_idea(self, idea: Idea, words: set[tuple[str, ...]], row: int, cosine: float) -> bool:
        """Return whether a row in the graph is the evaluated idea. A copied text has at least one nearly identical
        viewpoint. If no viewpoint is, only the titles are compared; this takes a hundredth of the time."""
        graph_idea = self.contents.ideas[row]
        if graph_idea.id == idea.id:
            return True
        text = graph_idea.text if cosine >= _NEARLY_IDENTICAL_COSINE else ""
        paper = Paper(id=PaperId(graph_idea.id), title=graph_idea.title, abstract=text, source="viewpoint graph")
        return is_own_paper(idea.own_words.title, words, paper)

    def place(
        self, idea: Idea, vectors: Vectors, inner_edges: EdgeEnds, cutoff: int, text: str | None = None
    ) -> PlacedIdea:
        """Find the neighbours of an idea's viewpoints among the ideas known on the cutoff day, leaving out the idea
        itself.

        `cutoff` is in days since 1970-01-01, or UNKNOWN. The idea is assumed to have been written on that day, the
        latest possible one. `text` is the part of the idea that is read; by default, all of it."""
        arrays, plan = self.contents.arrays, self.contents.plan
        is_allowed = self.find_known_ideas(cutoff)
        same_ideas: list[LabelledIdea] = []
        words = build_shingles(idea.own_words.text)
        while True:
            are_all_allowed = bool(is_allowed.all())
            neighbours = self.neighbours.find_nearest(
                vectors, plan.inter, None if are_all_allowed else is_allowed[arrays.idea_of]
            )
            new_rows = [
                row
                for row, cosine in _find_nearest_ideas(neighbours, arrays.idea_of)
                if self._is_same_idea(idea, words, row, cosine)
            ]
            if not new_rows:
                break
            same_ideas += [self.contents.ideas[row] for row in new_rows]
            is_allowed[new_rows] = False
        # A cosine of 0 or less makes no edge and does not count as evidence.
        neighbours = NearestViewpoints(np.where(neighbours.cosines > 0, neighbours.rows, -1), neighbours.cosines)
        subgraph = IdeaSubgraph.extract(
            self._subgraphs, neighbours, vectors, inner_edges, cutoff, is_allowed[arrays.idea_of]
        )
        read = build_titled_text(idea.title, idea.text if text is None else text)
        return PlacedIdea(subgraph, neighbours, tuple(same_ideas), is_allowed, read)


def _find_nearest_ideas(neighbours: NearestViewpoints, idea_of: NDArray[np.int32]) -> list[tuple[int, float]]:
    """Return the ideas that have a viewpoint among the neighbours, each with its highest cosine."""
    is_hit = neighbours.rows >= 0
    cosine_by_row: dict[int, float] = {}
    for row, cosine in zip(idea_of[neighbours.rows[is_hit]].tolist(), neighbours.cosines[is_hit].tolist(), strict=True):
        cosine_by_row[row] = max(cosine, cosine_by_row.get(row, -1.0))
    return list(cosine_by_row.items())
