"""Invented ideas with viewpoints, for every test of a viewpoint graph."""

import datetime as dt
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from assayer.methods.grapheval.graph.arrays import GraphArrays
from assayer.methods.grapheval.graph.growth import build_edges_of_new_ideas, index_labels
from assayer.methods.grapheval.graph.records import (
    GraphContents,
    GraphPlan,
    LabelledIdea,
    PreparedIdea,
    Viewpoint,
    Viewpoints,
)
from assayer.models import IdeaId
from assayer.ports import Vectors
from index.viewpoint_neighbours import FaissNeighbours

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


def make_unit_rows(seed: int, count: int, dimensions: int = DIMENSIONS) -> Vectors:
    rows = np.random.default_rng(seed).normal(size=(count, dimensions))
    unit_vectors: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit_vectors


def make_labelled_idea(
    number: int, label: str | None = "", day: dt.date | None = dt.date(2020, 1, 1), text: str = ""
) -> LabelledIdea:
    """Return an idea; every second one is accepted unless a label is given."""
    return LabelledIdea(
        id=IdeaId(f"idea-{number}"),
        title=f"Idea {number}",
        text=text or f"The text of idea {number} has \x00 odd characters.",
        label=CLASSES[number % 2] if label == "" else label,
        date=day,
        url=f"https://example.org/{number}",
    )


def make_prepared_idea(number: int, size: int = 3, idea: LabelledIdea | None = None, **changes: Any) -> PreparedIdea:
    statements = tuple(
        Viewpoint(text=f"Statement {row} of idea {number}.", words=f"words {row}", self_contained=row != 1)
        for row in range(size)
    )
    viewpoints = Viewpoints(viewpoints=statements, maker="splitter v1")
    return PreparedIdea(idea or make_labelled_idea(number), viewpoints, make_unit_rows(number, size))._replace(
        **changes
    )


def make_graph_contents(plan: GraphPlan, *batches: Sequence[PreparedIdea]) -> GraphContents:
    """Return the contents of a graph after adding the batches of ideas one by one, without a database."""
    prepared_ideas = tuple(chain.from_iterable(batches))
    idea_of = np.repeat(np.arange(len(prepared_ideas)), [len(item.vectors) for item in prepared_ideas]).astype(np.int32)
    neighbours, edges = FaissNeighbours(), []
    for batch in batches:
        first = len(neighbours)
        neighbours.add(np.concatenate([item.vectors for item in batch]))
        edges.append(build_edges_of_new_ideas(batch, neighbours, first, plan, idea_of))
    ideas = tuple(item.idea for item in prepared_ideas)
    arrays = GraphArrays(
        np.concatenate([item.vectors for item in prepared_ideas]),
        idea_of,
        tuple(idea.id for idea in ideas),
        index_labels(plan, (idea.label for idea in ideas)),
        np.array([idea.day for idea in ideas], np.int32),
        plan.classes,
        *(np.concatenate(parts) for parts in zip(*edges, strict=True)),
    )
    viewpoints = chain.from_iterable(item.viewpoints.viewpoints for item in prepared_ideas)
    return GraphContents(plan, "in memory", arrays, ideas, tuple(viewpoints))
