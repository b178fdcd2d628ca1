"""Builds the index of a segment's vectors, and finds out how widely it has to be searched."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assayer.ports import Vectors
from index.segments.dense import INDEX, DenseParameters
from index.segments.exact import exact
from index.segments.kinds import KINDS, RESCORED, Approximate, Candidates, Kind, build_approximate, kind_for

__all__ = ["TARGET_RECALL", "TUNING", "build_dense"]

TARGET_RECALL = 0.998
"""Recall@10 that decides how many lists are probed, on blends of three of the corpus's own passages: like a
question from another field they lie between the clusters. On such questions it came out as 0.985 and more."""

_WANTED = 10
_TUNED_ON = 300
"""Of those blends, at most."""
_MOST_RESCORED = 64

TUNING = (TARGET_RECALL, _TUNED_ON, _MOST_RESCORED, KINDS)
"""Constants that a built index depends on."""


def build_dense(
    vectors: Vectors, directory: Path, tuning: Vectors, exact_up_to: int, kind: Kind | None = None
) -> DenseParameters:
    """`vectors` must already lie in the directory (see `vectors_file`). `tuning` are passages to ask for. Without a
    kind the size decides."""
    chosen = kind or kind_for(len(vectors), vectors.shape[1], exact_up_to)
    if chosen == "exact":
        return DenseParameters(kind="exact", rows=len(vectors))
    index, training = build_approximate(vectors, directory / INDEX, chosen)
    asked = tuning[np.linspace(0, len(tuning) - 1, min(len(tuning), _TUNED_ON)).astype(int)]
    tuned = _tune(index, vectors, _blend(asked), RESCORED[chosen])
    return DenseParameters(
        kind=chosen,
        rows=len(vectors),
        lists=training.lists,
        trained_on=training.rows,
        iterations=training.iterations,
        seed=training.seed,
        rescored=tuned.rescored,
        probes=tuned.probes,
        recall_at_10=round(tuned.recall, 4),
    )


def _blend(queries: Vectors) -> Vectors:
    """Each query between itself and two others."""
    third = len(queries) // 3
    blended = queries + np.roll(queries, third, axis=0) + np.roll(queries, 2 * third, axis=0)
    normed: Vectors = blended / np.linalg.norm(blended, axis=1, keepdims=True)
    return normed


class _Tuned(NamedTuple):
    rescored: int
    probes: int
    recall: float


def _tune(index: Approximate, vectors: Vectors, queries: Vectors, rescored: int) -> _Tuned:
    """The fewest candidates, by doubling, with which all lists reach the target; then the fewest lists, in steps of a
    quarter more, that do. What no number of candidates reaches is as good as it gets."""
    best = exact(vectors, queries, _WANTED)

    def recall(rescored: int, probes: int) -> float:
        return _recall(best, index.nearest(queries, _WANTED, _WANTED * rescored, probes))

    while rescored < _MOST_RESCORED and recall(rescored, index.lists) < TARGET_RECALL:
        rescored *= 2
    probes, reached = 0, 0.0
    while reached < TARGET_RECALL and probes < index.lists:
        probes = min(index.lists, max(probes + 1, math.ceil(probes * 1.25)))
        reached = recall(rescored, probes)
    return _Tuned(rescored, probes, reached)


def _recall(best: Candidates, found: Candidates) -> float:
    """Share of the best that were found."""
    return float(np.mean([np.isin(one, other).mean() for one, other in zip(best, found, strict=True)]))
