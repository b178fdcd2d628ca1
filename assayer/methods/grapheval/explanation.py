"""Explain a verdict by the viewpoints with the largest effect on it, and their nearest neighbours."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import UNKNOWN
from assayer.methods.grapheval.graph.records import Viewpoint
from assayer.methods.grapheval.judge import GraphJudge, PlacedIdea
from assayer.models import NeighbourViewpoint, ViewpointEvidence

_TRIED_PER_SHOWN = 2
"""Number of viewpoints that are tested by removal for each viewpoint shown."""


def explain_verdict(
    viewpoints: Sequence[Viewpoint],
    placed_idea: PlacedIdea,
    scores: NDArray[np.float64],
    judge: GraphJudge,
    limit: int,
    max_neighbours: int,
) -> tuple[ViewpointEvidence, ...]:
    """Return the `limit` viewpoints whose removal would change the scores most, each with its `max_neighbours` nearest
    neighbours. Only the most promising viewpoints are tested."""
    tried_places = _choose_promising_viewpoints(placed_idea, judge)[: _TRIED_PER_SHOWN * limit]
    effects = {place: _compute_effect(place, viewpoints, placed_idea, scores, judge) for place in tried_places}
    strongest = sorted(tried_places, key=lambda place: -np.abs(effects[place]).max(initial=0.0))[:limit]
    return tuple(
        _build_evidence(place, viewpoints[place], effects[place], placed_idea, judge, max_neighbours)
        for place in strongest
    )


def _choose_promising_viewpoints(placed_idea: PlacedIdea, judge: GraphJudge) -> list[int]:
    """Return the positions of the viewpoints that have labelled neighbours. Those with the most unusual labels and the
    nearest neighbours come first."""
    labels, idea_of = judge.contents.arrays.labels, judge.contents.arrays.idea_of
    known_labels = labels[labels != UNKNOWN]
    usual = np.bincount(known_labels, minlength=len(judge.contents.plan.classes)) / max(1, len(known_labels))
    weight: dict[int, float] = {}
    for index, (rows, cosines) in enumerate(zip(placed_idea.nearest.rows, placed_idea.nearest.cosines, strict=True)):
        is_labelled_neighbour = (rows >= 0) & (labels[idea_of[rows]] != UNKNOWN)
        if is_labelled_neighbour.any():
            mixture = np.bincount(
                labels[idea_of[rows[is_labelled_neighbour]]],
                weights=cosines[is_labelled_neighbour],
                minlength=len(usual),
            )
            weight[index] = float(np.abs(mixture - usual * mixture.sum()).sum())
    return sorted(weight, key=lambda index: -weight[index])


def _compute_effect(
    place: int, viewpoints: Sequence[Viewpoint], placed_idea: PlacedIdea, scores: NDArray[np.float64], judge: GraphJudge
) -> NDArray[np.float64]:
    """Return how much the viewpoint adds to each class's score, shape (classes,). Zeros if it is the idea's only
    viewpoint or the idea has no score."""
    if len(viewpoints) == 1:
        return np.zeros_like(scores)
    scores_without = judge.score(placed_idea, (place, viewpoints[place]))
    return np.nan_to_num(scores - scores_without)


def _build_evidence(
    place: int,
    viewpoint: Viewpoint,
    effect: NDArray[np.float64],
    placed_idea: PlacedIdea,
    judge: GraphJudge,
    max_neighbours: int,
) -> ViewpointEvidence:
    influence = round(float(effect.max(initial=0.0)), 4)
    return ViewpointEvidence(
        text=viewpoint.text,
        words=viewpoint.words,
        self_contained=viewpoint.self_contained,
        leaning=judge.contents.plan.classes[int(effect.argmax())] if influence > 0 else None,
        influence=influence,
        neighbours=tuple(_list_neighbours(place, placed_idea, judge))[:max_neighbours],
    )


def _list_neighbours(place: int, placed_idea: PlacedIdea, judge: GraphJudge) -> list[NeighbourViewpoint]:
    contents = judge.contents
    rows, cosines = placed_idea.nearest.rows[place], placed_idea.nearest.cosines[place]
    neighbours = []
    for row, cosine in zip(rows[rows >= 0].tolist(), cosines[rows >= 0].tolist(), strict=True):
        idea = contents.ideas[contents.arrays.idea_of[row]]
        neighbours.append(
            NeighbourViewpoint(
                text=contents.viewpoints[row].text,
                idea=idea.id,
                title=idea.title,
                url=idea.url,
                date=idea.date,
                label=idea.label,
                similarity=round(min(1.0, cosine), 4),
            )
        )
    return neighbours
