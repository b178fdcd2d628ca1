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
from orchestrator.store.json_columns import from_json_column, replace_nul, to_json_column

_ROWS_PER_STATEMENT = 20_000
"""Number of rows read or written per statement."""
_GRAPH_SECONDS = 1800.0
"""Timeout in seconds for writing or reading an entire graph; other statements use the timeout from the settings."""

_INSERT_GRAPH = """
    INSERT INTO viewpoint_graphs (name, plan, version) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING
"""
_SELECT_GRAPH = "SELECT plan, version, ideas, viewpoints FROM viewpoint_graphs WHERE name = $1"
_SELECT_VIEWPOINTS = """
    SELECT idea, statement, words, self_contained, vector FROM viewpoints
    WHERE graph = $1 AND number >= $2 AND number < $3 ORDER BY number
"""
_SELECT_VECTORS = "SELECT vector FROM viewpoints WHERE graph = $1 AND number >= $2 AND number < $3 ORDER BY number"
_SELECT_EDGES = """
    SELECT source, target, weight FROM viewpoint_edges
    WHERE graph = $1 AND target >= $2 AND target < $3 ORDER BY target, source
"""
_UPDATE_GRAPH = """
    UPDATE viewpoint_graphs SET version = $2, ideas = $3, viewpoints = $4 WHERE name = $1
"""


class _GraphState(NamedTuple):
    plan: GraphPlan
    version: str
    ideas: int
    viewpoints: int


class _Growth(NamedTuple):
    """Additions to be written. They were computed from a state of the graph that may have changed since."""

    state: _GraphState
    additions: GraphAdditions
    owners: NDArray[np.int64]
    """Each viewpoint's idea number, with shape (viewpoints,)."""
    edges: GraphEdges | None
    """The new ideas' edges, each listed once with source < target; None if no idea is new."""

    @property
    def summary(self) -> AdditionSummary:
        ideas, edges = self.additions.new, 0 if self.edges is None else len(self.edges.sources)
        return AdditionSummary(len(ideas), len(self.owners), edges, self.additions.known, len(self.additions.labels))


class PgViewpointGraph(Store):
    """A named graph that grows. Writers to the same graph wait for each other. Methods raise InputError if ideas are
    unusable or the graph does not exist, and StorageError if the database fails."""

    def __init__(self, database: Database, name: str, neighbours: NeighbourIndex) -> None:
        """Open a graph. `neighbours` must not be used for any other graph. It may be empty or out of date, because it
        is updated before each query."""
        super().__init__(database)
        self._name = name
        self._neighbours = neighbours

    async def read_plan(self) -> GraphPlan | None:
        state = await self._database.run(self._read_state)
        return state.plan if state else None

    async def create(self, plan: GraphPlan) -> None:
        await self._database.execute(_INSERT_GRAPH, self._name, to_json_column(plan), derive_initial_version(plan))
        present = await self.read_plan()
        if present is None:
            raise StorageError(f"The graph {self._name!r} was removed while it was being created. Try again.")
        check_same_plan(present, plan)

    async def read_key(self) -> str:
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
                growth = await self._plan_growth(ideas)
                if await self._database.run(partial(self._write_growth, growth), _GRAPH_SECONDS):
                    return growth.summary
                self._neighbours.clear()
        except BaseException:
            # The index may hold rows that were not committed.
            self._neighbours.clear()
            raise

    async def _plan_growth(self, ideas: Sequence[PreparedIdea]) -> "_Growth":
        async def read_state(connection: Connection) -> tuple[_GraphState, dict[IdeaId, IdeaFingerprint]]:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                state = await self._read_state(connection)
                if state is None:
                    raise build_missing_graph_error(self._name)
                return state, await self._select_fingerprints(connection, [idea.idea.id for idea in ideas])

        state, fingerprints = await self._database.run(read_state)
        additions = plan_additions(state.plan, fingerprints, ideas)
        if not additions.new:
            return _Growth(state, additions, np.empty(0, np.int64), None)
        await self._update_index(state.viewpoints)
        sizes = [len(item.vectors) for item in additions.new]
        owners = np.repeat(np.arange(len(sizes)), sizes) + state.ideas
        idea_of = np.concatenate([np.full(state.viewpoints, -1), owners]).astype(np.int32)
        edges = await asyncio.to_thread(self._compute_edges, additions.new, state, idea_of)
        return _Growth(state, additions, owners, _keep_each_edge_once(edges))

    async def _write_growth(self, growth: "_Growth", connection: Connection) -> bool:
        """Write all additions. Return False and write nothing if the graph has changed in the meantime."""
        state, additions = growth.state, growth.additions
        async with connection.transaction():
            if await self._read_state(connection, locked=True) != state:
                return False
            if growth.edges is not None:
                await self._copy_ideas(connection, additions.new, state.ideas)
                await self._copy_viewpoints(connection, additions.new, growth.owners, state.viewpoints)
                await self._copy_edges(connection, growth.edges)
            for idea, label in additions.labels:
                await connection.execute(
                    "UPDATE viewpoint_ideas SET label = $3 WHERE graph = $1 AND id = $2",
                    self._name,
                    replace_nul(idea),
                    label,
                )
            if additions.new or additions.labels:
                version, summary = derive_next_version(state.version, additions), growth.summary
                sizes = state.ideas + summary.ideas, state.viewpoints + summary.viewpoints
                await connection.execute(_UPDATE_GRAPH, self._name, version, *sizes)
        return True

    def _compute_edges(
        self, new_ideas: Sequence[PreparedIdea], state: _GraphState, idea_of: NDArray[np.int32]
    ) -> GraphEdges:
        self._neighbours.add(np.concatenate([item.vectors for item in new_ideas]))
        return build_edges_of_new_ideas(new_ideas, self._neighbours, state.viewpoints, state.plan, idea_of)

    async def _update_index(self, viewpoints: int) -> None:
        """Add missing viewpoints to the index until it has `viewpoints`. If it has more, rebuild it."""
        if len(self._neighbours) > viewpoints:
            self._neighbours.clear()
        for start in range(len(self._neighbours), viewpoints, _ROWS_PER_STATEMENT):
            rows = await self._database.fetch(
                _SELECT_VECTORS, self._name, start, min(start + _ROWS_PER_STATEMENT, viewpoints)
            )
            await asyncio.to_thread(self._neighbours.add, _parse_vectors(rows))

    async def load(self) -> GraphContents:
        """Return the graph's contents, and update the index so that it matches them exactly."""

        async def read_contents(connection: Connection) -> GraphContents:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                return await self._read_contents(connection)

        contents = await self._database.run(read_contents, _GRAPH_SECONDS)
        vectors = contents.arrays.vectors
        if len(self._neighbours) > len(vectors):
            self._neighbours.clear()
        if missing := len(vectors) - len(self._neighbours):
            await asyncio.to_thread(self._neighbours.add, vectors[-missing:])
        return contents

    async def _read_contents(self, connection: Connection) -> GraphContents:
        state = await self._read_state(connection)
        if state is None:
            raise build_missing_graph_error(self._name)
        ideas = await self._read_ideas(connection)
        rows = await self._read_in_pages(connection, _SELECT_VIEWPOINTS, state.viewpoints)
        vectors = _parse_vectors(rows).reshape(len(rows), state.plan.dimensions)
        idea_of = np.array([row["idea"] for row in rows], np.int32)
        pairs = await self._read_in_pages(connection, _SELECT_EDGES, state.viewpoints)
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

    async def _read_state(self, connection: Connection, locked: bool = False) -> _GraphState | None:
        row = await connection.fetchrow(_SELECT_GRAPH + (" FOR UPDATE" if locked else ""), self._name)
        if row is None:
            return None
        plan = from_json_column(GraphPlan, row["plan"], f"The plan of graph {self._name!r}")
        return _GraphState(plan, row["version"], row["ideas"], row["viewpoints"])

    async def read_fingerprints(self, ideas: Sequence[IdeaId]) -> dict[IdeaId, IdeaFingerprint]:
        """Return the stored fingerprints of the ideas that are in the graph."""
        return await self._database.run(lambda connection: self._select_fingerprints(connection, ideas))

    async def _select_fingerprints(
        self, connection: Connection, ideas: Sequence[IdeaId]
    ) -> dict[IdeaId, IdeaFingerprint]:
        idea_by_stored_id = {replace_nul(idea): idea for idea in ideas}
        rows = await connection.fetch(
            "SELECT id, digest, label FROM viewpoint_ideas WHERE graph = $1 AND id = ANY($2)",
            self._name,
            list(idea_by_stored_id),
        )
        return {idea_by_stored_id[row["id"]]: IdeaFingerprint(row["digest"], row["label"]) for row in rows}

    async def _read_ideas(self, connection: Connection) -> list[LabelledIdea]:
        rows = await connection.fetch(
            "SELECT id, record, label FROM viewpoint_ideas WHERE graph = $1 ORDER BY number", self._name
        )
        return [
            from_json_column(LabelledIdea, row["record"], f"Idea {row['id']}").model_copy(
                update={"label": row["label"]}
            )
            for row in rows
        ]

    async def _read_in_pages(self, connection: Connection, query: str, viewpoints: int) -> "list[asyncpg.Record]":
        rows: list[asyncpg.Record] = []
        for start in range(0, viewpoints, _ROWS_PER_STATEMENT):
            rows += await connection.fetch(query, self._name, start, min(start + _ROWS_PER_STATEMENT, viewpoints))
        return rows

    async def _copy_ideas(self, connection: Connection, new_ideas: Sequence[PreparedIdea], first: int) -> None:
        rows = (
            (self._name, first + place, replace_nul(idea.id), idea.digest, to_json_column(idea), idea.label, maker)
            for place, (idea, maker) in enumerate((item.idea, item.viewpoints.maker) for item in new_ideas)
        )
        await _copy(connection, "viewpoint_ideas", "graph number id digest record label maker", rows)

    async def _copy_viewpoints(
        self, connection: Connection, new_ideas: Sequence[PreparedIdea], owners: NDArray[np.int64], first: int
    ) -> None:
        viewpoints = [viewpoint for item in new_ideas for viewpoint in item.viewpoints.viewpoints]
        texts = [(replace_nul(item.text), replace_nul(item.words), item.self_contained) for item in viewpoints]
        vectors = (vector.tobytes() for item in new_ideas for vector in item.vectors.astype("<f4"))
        rows = (
            (self._name, first + place, int(owner), *text, vector)
            for place, (owner, text, vector) in enumerate(zip(owners, texts, vectors, strict=True))
        )
        await _copy(connection, "viewpoints", "graph number idea statement words self_contained vector", rows)

    async def _copy_edges(self, connection: Connection, edges: GraphEdges) -> None:
        for start in range(0, len(edges.sources), _ROWS_PER_STATEMENT):
            columns = (
                part[start : start + _ROWS_PER_STATEMENT].tolist()
                for part in (edges.sources, edges.targets, edges.weights)
            )
            rows = [(self._name, *row) for row in zip(*columns, strict=True)]
            await _copy(connection, "viewpoint_edges", "graph source target weight", rows)


async def _copy(connection: Connection, table: str, columns: str, rows: Iterable[tuple[object, ...]]) -> None:
    await connection.copy_records_to_table(table, columns=columns.split(), records=rows, timeout=_GRAPH_SECONDS)


def _keep_each_edge_once(edges: GraphEdges) -> GraphEdges:
    is_kept = edges.sources < edges.targets
    return GraphEdges(edges.sources[is_kept], edges.targets[is_kept], edges.weights[is_kept], edges.kinds[is_kept])


def _parse_vectors(rows: "Sequence[asyncpg.Record]") -> Vectors:
    """Return the vectors in the rows, with shape (rows, dimensions)."""
    packed = np.frombuffer(b"".join(row["vector"] for row in rows), "<f4").astype(np.float32)
    vectors: Vectors = packed.reshape(len(rows), -1) if rows else packed.reshape(0, 0)
    return vectors
