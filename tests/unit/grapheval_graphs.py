"""Small viewpoint graphs for tests."""

import datetime as dt
from collections.abc import Sequence

import numpy as np

from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays
from assayer.methods.grapheval.scoring.calibration import TrainingProvenance
from assayer.models import IdeaId
from benchmarks.quality.grapheval.exact_edges import find_exact_edges

PROVENANCE = TrainingProvenance(
    made_at=dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
    files=(),
    embedding="invented",
    viewpoints_by="a test",
    counts={"bad": 1, "good": 1},
    seed=0,
    split="a test",
)


def make_row_array(*row_numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(row_numbers, np.int32)


def make_separable_graph(
    ideas: int = 40, viewpoints_per_idea: int = 3, noise: float = 0.3, classes: Sequence[str] = ("bad", "good")
) -> GraphArrays:
    """Return ideas of alternating labels; viewpoints of a class lie around its own axis of 8 dimensions."""
    generator = np.random.default_rng(7)
    labels = (np.arange(ideas) % len(classes)).astype(np.int16)
    idea_of = np.repeat(np.arange(ideas), viewpoints_per_idea).astype(np.int32)
    vectors = np.eye(8)[labels[idea_of]] + noise * generator.normal(size=(len(idea_of), 8))
    return _make_graph(vectors, idea_of, labels, tuple(classes))


def make_random_graph(ideas: int = 60, viewpoints_per_idea: int = 6) -> GraphArrays:
    """Return ideas with unrelated viewpoints in 64 dimensions."""
    generator = np.random.default_rng(11)
    idea_of = np.repeat(np.arange(ideas), viewpoints_per_idea).astype(np.int32)
    labels = (np.arange(ideas) % 2).astype(np.int16)
    return _make_graph(generator.normal(size=(len(idea_of), 64)), idea_of, labels, ("bad", "good"))


def _make_graph(
    vectors: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    idea_of: np.ndarray[tuple[int], np.dtype[np.int32]],
    labels: np.ndarray[tuple[int], np.dtype[np.int16]],
    classes: tuple[str, ...],
) -> GraphArrays:
    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return GraphArrays(
        vectors=unit,
        idea_of=idea_of,
        ideas=tuple(IdeaId(f"idea-{number}") for number in range(len(labels))),
        labels=labels,
        dates=np.full(len(labels), UNKNOWN, np.int32),
        classes=classes,
        **find_exact_edges(unit, idea_of)._asdict(),
    )
