"""Viewpoint graphs in PostgreSQL. The nearest-neighbour index is separate; it is a cache that is filled from the
graph."""

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

import asyncpg
import numpy as np
from numpy.typing import NDArray

from assayer.errors import StorageError
from assayer.methods.grapheval.graph.arrays import GraphArrays, GraphEdges, build_undirected_edges
from assayer.methods.grapheval.graph.growth import (
    GraphAdditions,
    IdeaFingerprint,
    build_edges_of_new_ideas,
    build_missing_graph_error,
    check_same_plan,
    derive_initial_version,
    derive_next_version,
    index_labels,
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
from assayer.methods.grapheval.ports import NeighbourIndex
from assayer.models import IdeaId
from assayer.ports import Vectors
from orchestrator.store.database import Connection, Database, Store
from orchestrator.store.json_columns import from_json_column, storable_text, to_json_column

_ROWS = 20_000
"""Number of rows read or written per statement."""
_GRAPH_SECONDS = 1800.0
"""Timeout in seconds for writing or reading an entire graph; other statements use the timeout from the settings."""

_CREATE = """
    INSERT INTO viewpoint_graphs (name, plan, version) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING
"""
_GRAPH = "SELECT plan, version, ideas, viewpoints FROM viewpoint_graphs WHERE name = $1"
_VIEWPOINTS = """
    SELECT idea, statement, words, self_contained, vector FROM viewpoints
    WHERE graph = $1 AND number >= $2 AND number < $3 ORDER BY number
"""
_VECTORS = "SELECT vector FROM viewpoints WHERE graph = $1 AND number >= $2 AND number < $3 ORDER BY number"
_EDGES = """
    SELECT source, target, weight FROM viewpoint_edges
    WHERE graph = $1 AND target >= $2 AND target < $3 ORDER BY target, source
"""
_GROWN = """
    UPDATE viewpoint_graphs SET version = $2, ideas = $3, viewpoints = $4 WHERE name = $1
"""


class _State(NamedTuple):
    plan: GraphPlan
    version: str
    ideas: int
    viewpoints: int


class _Growth(NamedTuple):
    """Additions to be written. They were computed from a state of the graph that may have changed since."""

    before: _State
    admission: GraphAdditions
    owners: NDArray[np.int64]
    """Each viewpoint's idea number, with shape (viewpoints,)."""
    edges: GraphEdges | None
    """The new ideas' edges, each listed once with source < target; None if no idea is new."""

    @property
    def added(self) -> AdditionSummary:
        new, edges = self.admission.new, 0 if self.edges is None else len(self.edges.sources)
        return AdditionSummary(len(new), len(self.owners), edges, self.admission.known, len(self.admission.labels))


class PgViewpointGraph(Store):
    """A named graph that grows. Writers to the same graph wait for each other. Methods raise InputError if ideas are
    unusable or the graph does not exist, and StorageError if the database fails."""

    def __init__(self, database: Database, name: str, neighbours: NeighbourIndex) -> None:
        """Open a graph. `neighbours` must not be used for any other graph. It may be empty or out of date, because it
        is updated before each query."""
        super().__init__(database)
        self._name = name
        self._neighbours = neighbours

    async def plan(self) -> GraphPlan | None:
        state = await self._database.run(self._state)
        return state.plan if state else None

    async def version(self) -> str:
        state = await self._database.run(self._state)
        if state is None:
            raise build_missing_graph_error(self._name)
        return state.version

    async def create(self, plan: GraphPlan) -> None:
        await self._database.execute(_CREATE, self._name, to_json_column(plan), derive_initial_version(plan))
        present = await self.plan()
        if present is None:
            raise StorageError(f"The graph {self._name!r} was removed while it was being created. Try again.")
        check_same_plan(present, plan)

    async def key(self) -> str:
        """Return a key that identifies this graph and stays the same when ideas are added. A graph created later under
        the same name has a different key."""
        row = await self._database.fetch_one("SELECT created_at FROM viewpoint_graphs WHERE name = $1", self._name)
        if row is None:
            raise build_missing_graph_error(self._name)
        return f"{self._name}-{row['created_at']:%Y%m%d%H%M%S%f}"

    async def remove(self) -> None:
        """Delete the graph with everything in it, if it exists."""
        await self._database.execute("DELETE FROM viewpoint_graphs WHERE name = $1", self._name)
        self._neighbours.clear()

    async def add(self, ideas: Sequence[PreparedIdea]) -> AdditionSummary:
        """Add ideas to the graph. Computing edges takes long in a large graph, so this is done before the graph is
        locked, and repeated if another writer has changed the graph in the meantime."""
        try:
            while True:
                growth = await self._prepare(ideas)
                work = partial(self._write, growth)
                if await self._database.run(work, _GRAPH_SECONDS):
                    return growth.added
                self._neighbours.clear()
        except BaseException:
            # The index may hold rows that were not committed.
            self._neighbours.clear()
            raise

    async def _prepare(self, ideas: Sequence[PreparedIdea]) -> "_Growth":
        async def read_standing(connection: Connection) -> tuple[_State, dict[IdeaId, IdeaFingerprint]]:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                state = await self._state(connection)
                if state is None:
                    raise build_missing_graph_error(self._name)
                return state, await self._known(connection, [idea.idea.id for idea in ideas])

        state, known = await self._database.run(read_standing)
        admission = plan_additions(state.plan, known, ideas)
        if not admission.new:
            return _Growth(state, admission, np.empty(0, np.int64), None)
        await self._catch_up(state.viewpoints)
        sizes = [len(item.vectors) for item in admission.new]
        owners = np.repeat(np.arange(len(sizes)), sizes) + state.ideas
        idea_of = np.concatenate([np.full(state.viewpoints, -1), owners]).astype(np.int32)
        edges = await asyncio.to_thread(self._edges, admission.new, state, idea_of)
        return _Growth(state, admission, owners, _each_edge_once(edges))

    async def _write(self, growth: "_Growth", connection: Connection) -> bool:
        """Write all additions. Return False and write nothing if the graph has changed in the meantime."""
        before, admission = growth.before, growth.admission
        async with connection.transaction():
            if await self._state(connection, locked=True) != before:
                return False
            if growth.edges is not None:
                await self._copy_ideas(connection, admission.new, before.ideas)
                await self._copy_viewpoints(connection, admission.new, growth.owners, before.viewpoints)
                await self._copy_edges(connection, growth.edges)
            for idea, label in admission.labels:
                await connection.execute(
                    "UPDATE viewpoint_ideas SET label = $3 WHERE graph = $1 AND id = $2",
                    self._name,
                    storable_text(idea),
                    label,
                )
            if admission.new or admission.labels:
                version, added = derive_next_version(before.version, admission), growth.added
                sizes = before.ideas + added.ideas, before.viewpoints + added.viewpoints
                await connection.execute(_GROWN, self._name, version, *sizes)
        return True

    def _edges(self, new: Sequence[PreparedIdea], state: _State, idea_of: NDArray[np.int32]) -> GraphEdges:
        self._neighbours.add(np.concatenate([item.vectors for item in new]))
        return build_edges_of_new_ideas(new, self._neighbours, state.viewpoints, state.plan, idea_of)

    async def _catch_up(self, viewpoints: int) -> None:
        """Add missing viewpoints to the index until it has `viewpoints`. If it has more, rebuild it."""
        if len(self._neighbours) > viewpoints:
            self._neighbours.clear()
        for start in range(len(self._neighbours), viewpoints, _ROWS):
            rows = await self._database.fetch(_VECTORS, self._name, start, min(start + _ROWS, viewpoints))
            await asyncio.to_thread(self._neighbours.add, _vectors(rows))

    async def load(self) -> GraphContents:
        """Return the graph's contents, and update the index so that it matches them exactly."""

        async def work(connection: Connection) -> GraphContents:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                return await self._load(connection)

        contents = await self._database.run(work, _GRAPH_SECONDS)
        vectors = contents.arrays.vectors
        if len(self._neighbours) > len(vectors):
            self._neighbours.clear()
        if missing := len(vectors) - len(self._neighbours):
            await asyncio.to_thread(self._neighbours.add, vectors[-missing:])
        return contents

    async def _load(self, connection: Connection) -> GraphContents:
        state = await self._state(connection)
        if state is None:
            raise build_missing_graph_error(self._name)
        ideas = await self._ideas(connection)
        rows = await self._pages(connection, _VIEWPOINTS, state.viewpoints)
        vectors = _vectors(rows).reshape(len(rows), state.plan.dimensions)
        idea_of = np.array([row["idea"] for row in rows], np.int32)
        pairs = await self._pages(connection, _EDGES, state.viewpoints)
        edges = build_undirected_edges(
            np.array([pair["source"] for pair in pairs], np.int32),
            np.array([pair["target"] for pair in pairs], np.int32),
            np.array([pair["weight"] for pair in pairs], np.float32),
            idea_of,
        )
        arrays = GraphArrays(
            vectors,
            idea_of,
            tuple(idea.id for idea in ideas),
            index_labels(state.plan, (idea.label for idea in ideas)),
            np.array([idea.day for idea in ideas], np.int32),
            state.plan.classes,
            *edges,
        )
        viewpoints = tuple(
            Viewpoint(text=row["statement"], words=row["words"], self_contained=row["self_contained"]) for row in rows
        )
        return GraphContents(state.plan, state.version, arrays, tuple(ideas), viewpoints)

    async def _state(self, connection: Connection, locked: bool = False) -> _State | None:
        row = await connection.fetchrow(_GRAPH + (" FOR UPDATE" if locked else ""), self._name)
        if row is None:
            return None
        plan = from_json_column(GraphPlan, row["plan"], f"The plan of graph {self._name!r}")
        return _State(plan, row["version"], row["ideas"], row["viewpoints"])

    async def standing(self, ideas: Sequence[IdeaId]) -> dict[IdeaId, IdeaFingerprint]:
        """Return the stored fingerprints of the ideas that are in the graph."""
        return await self._database.run(lambda connection: self._known(connection, ideas))

    async def _known(self, connection: Connection, ideas: Sequence[IdeaId]) -> dict[IdeaId, IdeaFingerprint]:
        asked = {storable_text(idea): idea for idea in ideas}
        rows = await connection.fetch(
            "SELECT id, digest, label FROM viewpoint_ideas WHERE graph = $1 AND id = ANY($2)", self._name, list(asked)
        )
        return {asked[row["id"]]: IdeaFingerprint(row["digest"], row["label"]) for row in rows}

    async def _ideas(self, connection: Connection) -> list[LabelledIdea]:
        rows = await connection.fetch(
            "SELECT id, record, label FROM viewpoint_ideas WHERE graph = $1 ORDER BY number", self._name
        )
        return [
            from_json_column(LabelledIdea, row["record"], f"Idea {row['id']}").model_copy(
                update={"label": row["label"]}
            )
            for row in rows
        ]

    async def _pages(self, connection: Connection, query: str, viewpoints: int) -> "list[asyncpg.Record]":
        rows: list[asyncpg.Record] = []
        for start in range(0, viewpoints, _ROWS):
            rows += await connection.fetch(query, self._name, start, min(start + _ROWS, viewpoints))
        return rows

    async def _copy_ideas(self, connection: Connection, new: Sequence[PreparedIdea], first: int) -> None:
        rows = (
            (self._name, first + place, storable_text(idea.id), idea.digest, to_json_column(idea), idea.label, maker)
            for place, (idea, maker) in enumerate((item.idea, item.viewpoints.maker) for item in new)
        )
        await _copy(connection, "viewpoint_ideas", "graph number id digest record label maker", rows)

    async def _copy_viewpoints(
        self, connection: Connection, new: Sequence[PreparedIdea], owners: NDArray[np.int64], first: int
    ) -> None:
        viewpoints = [viewpoint for item in new for viewpoint in item.viewpoints.viewpoints]
        texts = [(storable_text(item.text), storable_text(item.words), item.self_contained) for item in viewpoints]
        vectors = (vector.tobytes() for item in new for vector in item.vectors.astype("<f4"))
        rows = (
            (self._name, first + place, int(owner), *text, vector)
            for place, (owner, text, vector) in enumerate(zip(owners, texts, vectors, strict=True))
        )
        await _copy(connection, "viewpoints", "graph number idea statement words self_contained vector", rows)

    async def _copy_edges(self, connection: Connection, edges: GraphEdges) -> None:
        for start in range(0, len(edges.sources), _ROWS):
            some = (part[start : start + _ROWS].tolist() for part in (edges.sources, edges.targets, edges.weights))
            rows = [(self._name, *row) for row in zip(*some, strict=True)]
            await _copy(connection, "viewpoint_edges", "graph source target weight", rows)


async def _copy(connection: Connection, table: str, columns: str, rows: Iterable[tuple[object, ...]]) -> None:
    await connection.copy_records_to_table(table, columns=columns.split(), records=rows, timeout=_GRAPH_SECONDS)


def _each_edge_once(edges: GraphEdges) -> GraphEdges:
    kept = edges.sources < edges.targets
    return GraphEdges(edges.sources[kept], edges.targets[kept], edges.weights[kept], edges.kinds[kept])


def _vectors(rows: "Sequence[asyncpg.Record]") -> Vectors:
    """Return the vectors in the rows, with shape (rows, dimensions)."""
    packed = np.frombuffer(b"".join(row["vector"] for row in rows), "<f4").astype(np.float32)
    vectors: Vectors = packed.reshape(len(rows), -1) if rows else packed.reshape(0, 0)
    return vectors
