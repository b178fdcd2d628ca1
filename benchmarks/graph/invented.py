"""Viewpoints as many as wanted: vectors that lie as close together as those of real abstracts do."""

import datetime as dt
from collections.abc import Iterator

import numpy as np

from assayer.methods.grapheval.graph.records import GraphPlan, LabelledIdea, PreparedIdea, Viewpoint, Viewpoints
from assayer.methods.grapheval.viewpoints.splitter import SPLITTER
from assayer.models import Idea, IdeaId, Section
from assayer.ports import Vectors

__all__ = ["DIMENSIONS", "SIZE", "asked", "ideas", "plan", "vectors"]

DIMENSIONS = 384
SIZE = 9
"""Viewpoints an idea, as in the paper."""
_LABELS = ("Reject", "Workshop", "Poster", "Oral")
_PER_CENTRE = 10
_NOISE = 0.9
"""Length of the noise beside a centre of length 1: the nearest cosine comes out near 0.6, as between real abstracts."""


def plan(name: str) -> GraphPlan:
    return GraphPlan(
        name=name,
        embedder="invented",
        dimensions=DIMENSIONS,
        maker=SPLITTER,
        classes=_LABELS,
        ordered=True,
    )


def vectors(count: int, seed: int, among: int) -> Vectors:
    """Around the centres that `among` viewpoints have."""
    centres = _unit(np.random.default_rng(0).standard_normal((max(20, among // _PER_CENTRE), DIMENSIONS), np.float32))
    draw = np.random.default_rng(seed)
    noise = _unit(draw.standard_normal((count, DIMENSIONS), np.float32)) * _NOISE
    return _unit(centres[draw.integers(0, len(centres), count)] + noise)


def _unit(rows: Vectors) -> Vectors:
    normed: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return normed


def ideas(first: int, rows: Vectors) -> Iterator[PreparedIdea]:
    """One for every SIZE rows, numbered on from `first`."""
    for number, start in enumerate(range(0, len(rows), SIZE), start=first):
        part = rows[start : start + SIZE]
        told = tuple(Viewpoint(text=f"Statement {row} of idea {number}.", words="words") for row in range(len(part)))
        known = LabelledIdea(
            id=IdeaId(f"idea-{number}"),
            title=f"Idea number {number} of many that were invented",
            text=" ".join(f"word{(number * 31 + word) % 9973}" for word in range(170)),
            label=_LABELS[min(3, number % 7 // 2)],
            date=dt.date(2017, 1, 1) + dt.timedelta(days=number % 1000),
        )
        yield PreparedIdea(known, Viewpoints(viewpoints=told, maker=SPLITTER), part)


def asked() -> Idea:
    """The idea that is evaluated; what it says comes with its vectors."""
    text = " ".join(f"term{word}" for word in range(170))
    section = Section(title="Overview", text=text)
    return Idea(id=IdeaId("asked"), title="An idea of nobody", text=text, sections=(section,), source="invented")
