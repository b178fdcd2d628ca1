"""Baselines that learn from labelled papers: words, embeddings, and the graph of labelled ideas."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import GraphArrays
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.baselines import IdeaLogistic, TfidfLogistic
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation
from assayer.models import IdeaId
from benchmarks.quality.grapheval.baselines import NearestIdeas
from benchmarks.quality.grapheval.graphs import EmbeddedPapers

_FOLDS = 10


def list_scorers(data: EmbeddedPapers) -> Sequence[Scorer]:
    """Return the scorers; the last one is GraphEval."""

    def get_text_vectors(_: GraphArrays) -> NDArray[np.float32]:
        return data.text_vectors

    return (
        TfidfLogistic(data.texts),
        IdeaLogistic("embedding + logistic regression", get_text_vectors),
        NearestIdeas(20, "20 nearest neighbours, embedding", get_text_vectors),
        LabelPropagation(strongest=3),
    )


def score_groups(
    scorer: Scorer, data: EmbeddedPapers, groups: Mapping[str, set[IdeaId]], seed: int
) -> dict[tuple[str, IdeaId], float]:
    """Return the expected value that a scorer assigns to each paper, learned from other groups.

    A paper's own group is hidden, since each group was assembled from one paper of each category."""
    rows_by_paper = {paper.id: row for row, paper in enumerate(data.papers)}
    names = np.random.default_rng(seed).permutation(sorted(groups))
    values: dict[tuple[str, IdeaId], float] = {}
    for start in range(_FOLDS):
        fold = set(names[start::_FOLDS].tolist())
        hidden_rows = sorted({rows_by_paper[paper] for group in fold for paper in groups[group]})
        if hidden_rows:
            predictions = scorer.score(data.graph, np.array(hidden_rows, np.int32)) @ np.arange(len(data.graph.classes))
            value_by_paper = {
                data.papers[row].id: float(value) for row, value in zip(hidden_rows, predictions, strict=True)
            }
            values |= {(group, paper): value_by_paper[paper] for group in fold for paper in groups[group]}
    return values
