"""Select held-out ideas, and score them with their labels hidden."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.errors import InputError
from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays, Rows
from assayer.methods.grapheval.ports import Scorer


def split_into_folds(graph: GraphArrays, folds: int, seed: int) -> tuple[Rows, ...]:
    """Split the labelled ideas into disjoint parts with nearly equal shares of each label. Raises InputError if there
    are fewer labelled ideas than folds."""
    generator = np.random.default_rng(seed)
    shuffled_rows = generator.permutation(np.flatnonzero(graph.labels != UNKNOWN))
    if len(shuffled_rows) < folds:
        raise InputError(f"{len(shuffled_rows)} labelled ideas cannot be split into {folds} parts.")
    by_label = shuffled_rows[np.argsort(graph.labels[shuffled_rows], kind="stable")]
    return tuple(np.sort(by_label[part::folds]).astype(np.int32) for part in range(folds))


def find_later_ideas(graph: GraphArrays, day: int) -> Rows:
    """Return the labelled ideas dated after `day`, which is counted from 1970-01-01. Raises InputError unless there are
    dated, labelled ideas on both sides."""
    is_labelled = graph.labels != UNKNOWN
    is_later = is_labelled & (graph.dates > day)
    if not is_later.any() or not (is_labelled & (graph.dates != UNKNOWN) & ~is_later).any():
        raise InputError(
            "All labelled, dated ideas are on one side of that day, so none are left for training or for testing.",
            "Choose a day between the dates of the labelled ideas, or hold out random parts instead.",
        )
    return np.flatnonzero(is_later).astype(np.int32)


def score_held_out(scorer: Scorer, graph: GraphArrays, parts: Sequence[Rows]) -> NDArray[np.float64]:
    """Return scores for the ideas in the parts, shape (i, classes). Each part is scored with its own labels hidden;
    ideas in no part get NaN."""
    probabilities = np.full((len(graph.ideas), len(graph.classes)), np.nan)
    for rows in parts:
        probabilities[rows] = scorer.score(graph.hide_labels(rows), rows)
    return probabilities
