"""Invented ideas with viewpoints, for every test of a viewpoint graph."""

import datetime as dt
from typing import Any

import numpy as np

from assayer.methods.grapheval.graph.records import GraphPlan, LabelledIdea, PreparedIdea, Viewpoint, Viewpoints
from assayer.models import IdeaId
from assayer.ports import Vectors

__all__ = ["CLASSES", "DIMENSIONS", "PLAN", "known", "new_idea", "unit_rows"]

CLASSES = ("reject", "accept")
DIMENSIONS = 12
PLAN = GraphPlan(
    name="default",
    embedder="hashed-words-12",
    dimensions=DIMENSIONS,
    maker="splitter v1",
    classes=CLASSES,
    ordered=True,
    intra=2,
    inter=3,
)


def unit_rows(seed: int, count: int, dimensions: int = DIMENSIONS) -> Vectors:
    rows = np.random.default_rng(seed).normal(size=(count, dimensions))
    normed: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return normed


def known(
    number: int, label: str | None = "", day: dt.date | None = dt.date(2020, 1, 1), text: str = ""
) -> LabelledIdea:
    """Every second idea is accepted unless a label is given."""
    return LabelledIdea(
        id=IdeaId(f"idea-{number}"),
        title=f"Idea {number}",
        text=text or f"The text of idea {number} has \x00 odd characters.",
        label=CLASSES[number % 2] if label == "" else label,
        date=day,
        url=f"https://example.org/{number}",
    )


def new_idea(number: int, size: int = 3, idea: LabelledIdea | None = None, **changes: Any) -> PreparedIdea:
    statements = tuple(
        Viewpoint(text=f"Statement {row} of idea {number}.", words=f"words {row}", self_contained=row != 1)
        for row in range(size)
    )
    viewpoints = Viewpoints(viewpoints=statements, maker="splitter v1")
    return PreparedIdea(idea or known(number), viewpoints, unit_rows(number, size))._replace(**changes)
