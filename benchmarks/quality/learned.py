"""Baselines that learn from labelled papers: words, embeddings, and the graph of labelled ideas."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import GraphArrays
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.baselines import IdeaLogistic, TfidfLogistic
from assayer.methods.grapheval.scoring.holdout import held_out_scores, stratified_folds
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation, StrongestEdgesScorer
from assayer.models import IdeaId
from benchmarks.quality.contenders import Contender, Labels
from benchmarks.quality.grapheval.baselines import NearestIdeas
from benchmarks.quality.grapheval.graphs import Embedded
from benchmarks.quality.papers import Grading

__all__ = ["learned_on_points", "scorers", "values_in_groups"]

_FOLDS = 10


def scorers(data: Embedded) -> Sequence[Scorer]:
    """The last one is GraphEval."""

    def whole(_: GraphArrays) -> NDArray[np.float32]:
        return data.whole

    return (
        TfidfLogistic(data.texts),
        IdeaLogistic("embedding + logistic regression", whole),
        NearestIdeas(20, "20 nearest neighbours, embedding", whole),
        StrongestEdgesScorer(LabelPropagation(), 3),
    )


def learned_on_points(
    data: Embedded, rows: NDArray[np.int64], truth: Labels, grading: Grading, repeats: int, seed: int
) -> Iterator[Contender]:
    """Each learns from the points that count, outside the fold of the one that is asked about; `truth` in `grading`."""
    labels = np.full(len(data.papers), -1, np.int16)
    labels[rows] = truth
    graph = replace(data.graph, labels=labels, classes=grading.classes)
    parts = [stratified_folds(graph, _FOLDS, seed + repeat) for repeat in range(repeats)]
    for scorer in scorers(data):
        said = [held_out_scores(scorer, graph, part)[rows] for part in parts]
        two = len(grading.classes) == 2
        yield Contender(scorer.name, said, said if two else (), said if two else ())


def values_in_groups(
    scorer: Scorer, data: Embedded, groups: Mapping[str, set[IdeaId]], seed: int
) -> dict[tuple[str, IdeaId], float]:
    """What a scorer expects of each paper, learned from the papers of other groups: nothing of a paper's own group is
    seen, since each was put together to hold one paper of each category."""
    place = {paper.id: row for row, paper in enumerate(data.papers)}
    names = np.random.default_rng(seed).permutation(sorted(groups))
    values: dict[tuple[str, IdeaId], float] = {}
    for start in range(_FOLDS):
        fold = set(names[start::_FOLDS].tolist())
        hidden = sorted({place[one] for group in fold for one in groups[group]})
        if hidden:
            said = scorer.score(data.graph, np.array(hidden, np.int32)) @ np.arange(len(data.graph.classes))
            found = {data.papers[row].id: float(value) for row, value in zip(hidden, said, strict=True)}
            values |= {(group, paper): found[paper] for group in fold for paper in groups[group]}
    return values
