"""Viewpoint graph held in memory, with an exact neighbour index."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import GraphArrays, GraphEdges
from assayer.methods.grapheval.graph.growth import (
    IdeaFingerprint,
    check_same_plan,
    edges_of_new_ideas,
    initial_version,
    label_rows,
    missing_graph_error,
    next_version,
    plan_additions,
)
from assayer.methods.grapheval.graph.records import (
    AdditionSummary,
    GraphContents,
    GraphPlan,
    LabelledIdea,
    PreparedIdea,
    Viewpoint,
)
from assayer.methods.grapheval.ports import NearestViewpoints, NeighbourIndex
from assayer.ports import Vectors


class ExactNeighbourIndex:
    """Exact `NeighbourIndex` that computes a matrix product."""

    def __init__(self) -> None:
        self._parts: list[Vectors] = []

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def add(self, vectors: Vectors) -> None:
        self._parts.append(vectors)

    def clear(self) -> None:
        self._parts.clear()

    def nearest(self, vectors: Vectors, limit: int, allowed: NDArray[np.bool_] | None = None) -> NearestViewpoints:
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        held = self._parts[0] if self._parts else np.empty((0, vectors.shape[1]), np.float32)
        cosines = vectors @ held.T
        if allowed is not None:
            cosines[:, ~allowed] = -np.inf
        padded = np.pad(cosines, ((0, 0), (0, max(0, limit - len(held)))), constant_values=-np.inf)
        rows = np.argsort(-padded, axis=1, kind="stable")[:, :limit]
        best = np.take_along_axis(padded, rows, axis=1).astype(np.float32)
        return NearestViewpoints(np.where(np.isfinite(best), rows, -1), best)


class InMemoryViewpointGraph:
    """Implementation of `ViewpointGraph` in memory; another implementation uses PostgreSQL."""

    def __init__(self, name: str = "default", neighbours: NeighbourIndex | None = None) -> None:
        self._name = name
        self._neighbours = ExactNeighbourIndex() if neighbours is None else neighbours
        self._plan: GraphPlan | None = None
        self._version = ""
        self._ideas: dict[str, LabelledIdea] = {}
        self._sizes: list[int] = []
        self._viewpoints: list[Viewpoint] = []
        self._vectors: list[Vectors] = []
        self._edges: list[GraphEdges] = []

    async def plan(self) -> GraphPlan | None:
        return self._plan

    async def create(self, plan: GraphPlan) -> None:
        if self._plan is not None:
            check_same_plan(self._plan, plan)
            return
        self._plan, self._version = plan, initial_version(plan)

    async def add(self, ideas: Sequence[PreparedIdea]) -> AdditionSummary:
        plan = self._created()
        met = (self._ideas.get(item.idea.id) for item in ideas)
        known = {idea.id: IdeaFingerprint(idea.digest, idea.label) for idea in met if idea is not None}
        admission = plan_additions(plan, known, ideas)
        edges = self._grow(plan, admission.new) if admission.new else 0
        for idea_id, label in admission.labels:
            self._ideas[idea_id] = self._ideas[idea_id].model_copy(update={"label": label})
        if admission.new or admission.labels:
            self._version = next_version(self._version, admission)
        viewpoints = sum(len(item.vectors) for item in admission.new)
        return AdditionSummary(len(admission.new), viewpoints, edges, admission.known, len(admission.labels))

    def _grow(self, plan: GraphPlan, new: Sequence[PreparedIdea]) -> int:
        first = len(self._viewpoints)
        for item in new:
            self._ideas[item.idea.id] = item.idea
            self._sizes.append(len(item.vectors))
            self._viewpoints += item.viewpoints.viewpoints
            self._vectors.append(item.vectors)
        self._neighbours.add(np.concatenate([item.vectors for item in new]))
        edges = edges_of_new_ideas(new, self._neighbours, first, plan, self._idea_of())
        self._edges.append(edges)
        return len(edges.sources) // 2

    async def version(self) -> str:
        self._created()
        return self._version

    async def load(self) -> GraphContents:
        plan = self._created()
        ideas = tuple(self._ideas.values())
        empty = GraphEdges(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.int8))
        arrays = GraphArrays(
            np.concatenate([np.empty((0, plan.dimensions), np.float32), *self._vectors]),
            self._idea_of(),
            tuple(idea.id for idea in ideas),
            label_rows(plan, (idea.label for idea in ideas)),
            np.array([idea.day for idea in ideas], np.int32),
            plan.classes,
            *(np.concatenate(parts) for parts in zip(empty, *self._edges, strict=True)),
        )
        return GraphContents(plan, self._version, arrays, ideas, tuple(self._viewpoints))

    def _idea_of(self) -> NDArray[np.int32]:
        return np.repeat(np.arange(len(self._sizes)), self._sizes).astype(np.int32)

    def _created(self) -> GraphPlan:
        if self._plan is None:
            raise missing_graph_error(self._name)
        return self._plan
