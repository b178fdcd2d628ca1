"""A viewpoint graph that lives as long as the process, and exact neighbours: for benchmarks, tests, small graphs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.arrays import Edges, GraphArrays
from assayer.methods.grapheval.growth import (
    Standing,
    admit,
    edges_of,
    first_version,
    label_rows,
    next_version,
    no_graph,
    refuse_other_plan,
)
from assayer.methods.grapheval.ports import Found, Neighbours
from assayer.methods.grapheval.records import Added, GraphContents, GraphPlan, KnownIdea, NewIdea
from assayer.methods.grapheval.viewpoints import Viewpoint
from assayer.ports import Vectors

__all__ = ["ExactNeighbours", "MemoryViewpointGraph"]


class ExactNeighbours:
    """`Neighbours` by a matrix product."""

    def __init__(self) -> None:
        self._parts: list[Vectors] = []

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def add(self, vectors: Vectors) -> None:
        self._parts.append(vectors)

    def clear(self) -> None:
        self._parts.clear()

    def nearest(self, vectors: Vectors, limit: int, allowed: NDArray[np.bool_] | None = None) -> Found:
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        held = self._parts[0] if self._parts else np.empty((0, vectors.shape[1]), np.float32)
        cosines = vectors @ held.T
        if allowed is not None:
            cosines[:, ~allowed] = -np.inf
        padded = np.pad(cosines, ((0, 0), (0, max(0, limit - len(held)))), constant_values=-np.inf)
        rows = np.argsort(-padded, axis=1, kind="stable")[:, :limit]
        best = np.take_along_axis(padded, rows, axis=1).astype(np.float32)
        return Found(np.where(np.isfinite(best), rows, -1), best)


class MemoryViewpointGraph:
    """`ViewpointGraph`; the twin of the one in PostgreSQL."""

    def __init__(self, name: str = "default", neighbours: Neighbours | None = None) -> None:
        self._name = name
        self._neighbours = ExactNeighbours() if neighbours is None else neighbours
        self._plan: GraphPlan | None = None
        self._version = ""
        self._ideas: dict[str, KnownIdea] = {}
        self._sizes: list[int] = []
        self._viewpoints: list[Viewpoint] = []
        self._vectors: list[Vectors] = []
        self._edges: list[Edges] = []

    async def plan(self) -> GraphPlan | None:
        return self._plan

    async def create(self, plan: GraphPlan) -> None:
        if self._plan is not None:
            refuse_other_plan(self._plan, plan)
            return
        self._plan, self._version = plan, first_version(plan)

    async def add(self, ideas: Sequence[NewIdea]) -> Added:
        plan = self._created()
        met = (self._ideas.get(one.idea.id) for one in ideas)
        known = {idea.id: Standing(idea.digest, idea.label) for idea in met if idea is not None}
        admission = admit(plan, known, ideas)
        edges = self._grow(plan, admission.new) if admission.new else 0
        for idea_id, label in admission.labels:
            self._ideas[idea_id] = self._ideas[idea_id].model_copy(update={"label": label})
        if admission.new or admission.labels:
            self._version = next_version(self._version, admission)
        viewpoints = sum(len(one.vectors) for one in admission.new)
        return Added(len(admission.new), viewpoints, edges, admission.known, len(admission.labels))

    def _grow(self, plan: GraphPlan, new: Sequence[NewIdea]) -> int:
        first = len(self._viewpoints)
        for one in new:
            self._ideas[one.idea.id] = one.idea
            self._sizes.append(len(one.vectors))
            self._viewpoints += one.viewpoints.viewpoints
            self._vectors.append(one.vectors)
        self._neighbours.add(np.concatenate([one.vectors for one in new]))
        edges = edges_of(new, self._neighbours, first, plan, self._idea_of())
        self._edges.append(edges)
        return len(edges.sources) // 2

    async def version(self) -> str:
        self._created()
        return self._version

    async def load(self) -> GraphContents:
        plan = self._created()
        ideas = tuple(self._ideas.values())
        empty = Edges(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.int8))
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
            raise no_graph(self._name)
        return self._plan
