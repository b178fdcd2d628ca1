"""The viewpoint graph in PostgreSQL, with FAISS."""

import asyncio
import datetime as dt
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import SecretStr

from assayer.errors import ConfigurationError, InputError
from assayer.methods.grapheval.graph.arrays import UNKNOWN
from assayer.methods.grapheval.graph.records import Viewpoints
from assayer.methods.grapheval.ports import NearestViewpoints, NeighbourIndex
from assayer.ports import Vectors
from benchmarks.quality.grapheval.exact_edges import find_exact_edges
from index.viewpoint_neighbours import FaissNeighbours
from orchestrator.store import Database, DatabaseSettings
from orchestrator.store.viewpoint_graph import PgViewpointGraph
from tests.grapheval_graphs import (
    CLASSES,
    PLAN,
    make_graph_contents,
    make_labelled_idea,
    make_prepared_idea,
    make_unit_rows,
)


@pytest.fixture
def graph(database: Database) -> PgViewpointGraph:
    return PgViewpointGraph(database, "default", FaissNeighbours())


async def test_loaded_graph_contains_added_ideas_and_nearest_neighbour_edges(graph: PgViewpointGraph) -> None:
    await graph.create(PLAN)
    ideas = [make_prepared_idea(number, size=1 + number % 4) for number in range(12)]
    added = await graph.add(ideas)
    contents = await graph.load()
    assert contents.plan == PLAN == await graph.read_plan()
    assert [idea.id for idea in contents.ideas] == [idea.idea.id for idea in ideas] == list(contents.arrays.ideas)
    assert [idea.url for idea in contents.ideas] == [idea.idea.url for idea in ideas]
    expected = [viewpoint for idea in ideas for viewpoint in idea.viewpoints.viewpoints]
    assert list(contents.viewpoints) == expected
    vectors = np.concatenate([idea.vectors for idea in ideas])
    np.testing.assert_array_equal(contents.arrays.vectors, vectors)
    np.testing.assert_array_equal(contents.arrays.labels, [number % 2 for number in range(12)])
    assert contents.arrays.classes == CLASSES
    edges = find_exact_edges(vectors, contents.arrays.idea_of, PLAN.intra, PLAN.inter)
    arrays = contents.arrays
    stored_edges = dict(
        zip(zip(arrays.sources.tolist(), arrays.targets.tolist(), strict=True), arrays.weights, strict=True)
    )
    expected_edges = dict(
        zip(zip(edges.sources.tolist(), edges.targets.tolist(), strict=True), edges.weights, strict=True)
    )
    assert stored_edges.keys() == expected_edges.keys()
    assert all(np.isclose(stored_edges[pair], expected_edges[pair], atol=1e-6) for pair in expected_edges)
    assert (added.ideas, added.viewpoints, 2 * added.edges) == (12, len(vectors), len(edges.sources))


async def test_new_idea_is_linked_to_nearest_existing_viewpoints(graph: PgViewpointGraph) -> None:
    await graph.create(PLAN)
    await graph.add([make_prepared_idea(number) for number in range(5)])
    before = (await graph.load()).arrays
    await graph.add([make_prepared_idea(5)])
    after = (await graph.load()).arrays
    assert len(after.vectors) == len(before.vectors) + 3
    other_vectors = after.vectors[:15]
    for node in range(15, 18):
        reached = set(after.sources[(after.targets == node) & (after.sources < 15)].tolist())
        cosines = other_vectors @ after.vectors[node]
        nearest = [int(row) for row in np.argsort(-cosines)[: PLAN.inter] if cosines[row] > 0]
        assert reached == set(nearest)
    old = (after.sources < 15) & (after.targets < 15)
    assert np.count_nonzero(old) == len(before.sources)


async def test_adding_known_ideas_again_changes_nothing(graph: PgViewpointGraph) -> None:
    await graph.create(PLAN)
    ideas = [make_prepared_idea(number) for number in range(4)]
    await graph.add(ideas)
    before = await graph.load()
    again = await graph.add([*ideas, ideas[0]])
    after = await graph.load()
    assert (again.ideas, again.edges, again.known) == (0, 0, 5)
    assert after.version == before.version
    assert len(after.viewpoints) == len(before.viewpoints)


async def test_adding_a_missing_label_updates_idea_and_graph_version(graph: PgViewpointGraph) -> None:
    await graph.create(PLAN)
    await graph.add([make_prepared_idea(1, idea=make_labelled_idea(1, label=None)), make_prepared_idea(2)])
    before = await graph.load()
    assert before.arrays.labels.tolist() == [UNKNOWN, 0]
    added = await graph.add([make_prepared_idea(1, idea=make_labelled_idea(1, label="accept"))])
    after = await graph.load()
    assert added.labelled == 1
    assert after.arrays.labels.tolist() == [1, 0]
    assert after.version != before.version


async def test_dates_are_stored_as_days_and_missing_dates_as_unknown(graph: PgViewpointGraph) -> None:
    await graph.create(PLAN)
    ideas = [make_labelled_idea(1, day=dt.date(1970, 1, 3)), make_labelled_idea(2, day=None)]
    await graph.add([make_prepared_idea(number, idea=idea) for number, idea in enumerate(ideas)])
    contents = await graph.load()
    assert contents.arrays.dates.tolist() == [2, UNKNOWN]
    assert [idea.date for idea in contents.ideas] == [dt.date(1970, 1, 3), None]


async def test_known_id_with_different_text_is_rejected_with_its_whole_batch(graph: PgViewpointGraph) -> None:
    await graph.create(PLAN)
    await graph.add([make_prepared_idea(1)])
    version = (await graph.load()).version
    with pytest.raises(InputError, match="have the same id 'idea-1'"):
        await graph.add(
            [make_prepared_idea(2), make_prepared_idea(1, idea=make_labelled_idea(1, text="Another text."))]
        )
    with pytest.raises(InputError, match="have the same id 'idea-3'"):
        await graph.add(
            [make_prepared_idea(3), make_prepared_idea(3, idea=make_labelled_idea(3, text="Another text."))]
        )
    contents = await graph.load()
    assert (contents.version, len(contents.ideas)) == (version, 1)


async def test_contradicting_and_unknown_labels_are_refused(graph: PgViewpointGraph) -> None:
    await graph.create(PLAN)
    await graph.add([make_prepared_idea(1)])
    with pytest.raises(InputError, match="is labelled both 'accept' and 'reject'"):
        await graph.add([make_prepared_idea(1, idea=make_labelled_idea(1, label="reject"))])
    with pytest.raises(InputError, match="'maybe', which this graph does not have"):
        await graph.add([make_prepared_idea(2, idea=make_labelled_idea(2, label="maybe"))])


async def test_vectors_of_another_model_and_ideas_without_viewpoints_are_refused(graph: PgViewpointGraph) -> None:
    await graph.create(PLAN)
    with pytest.raises(ConfigurationError, match="8 dimensions"):
        await graph.add([make_prepared_idea(1, vectors=make_unit_rows(1, 3, 8))])
    no_viewpoints = Viewpoints(viewpoints=(), maker="splitter v1")
    with pytest.raises(InputError, match="no statement to compare"):
        await graph.add([make_prepared_idea(1, viewpoints=no_viewpoints, vectors=make_unit_rows(1, 0))])


async def test_existing_graph_rejects_different_plan_and_accepts_identical_plan(graph: PgViewpointGraph) -> None:
    await graph.create(PLAN)
    await graph.create(PLAN)
    with pytest.raises(InputError, match="made with the embedding model hashed-words-12, not with bge"):
        await graph.create(PLAN.model_copy(update={"embedder": "bge"}))
    with pytest.raises(InputError, match="has inter 3, not 9"):
        await graph.create(PLAN.model_copy(update={"inter": 9}))


async def test_missing_graph_error_names_build_command(graph: PgViewpointGraph) -> None:
    assert await graph.read_plan() is None
    with pytest.raises(InputError, match="assayer graph build"):
        await graph.load()
    with pytest.raises(InputError, match="assayer graph build"):
        await graph.add([make_prepared_idea(1)])


async def test_relations_replace_cosine_edges_within_an_idea(graph: PgViewpointGraph) -> None:
    await graph.create(PLAN.model_copy(update={"relations": True}))
    vectors = np.abs(make_unit_rows(1, 3))
    await graph.add([make_prepared_idea(1, vectors=vectors, relations=((2, 0),))])
    arrays = (await graph.load()).arrays
    assert sorted(zip(arrays.sources.tolist(), arrays.targets.tolist(), strict=True)) == [(0, 2), (2, 0)]


async def test_graph_instances_see_ideas_added_by_each_other(database: Database, tmp_path: Path) -> None:
    first = PgViewpointGraph(database, "default", FaissNeighbours())
    second = PgViewpointGraph(database, "default", FaissNeighbours())
    await first.create(PLAN)
    await first.add([make_prepared_idea(number) for number in range(4)])
    await second.add([make_prepared_idea(4)])
    await first.add([make_prepared_idea(5)])
    third = PgViewpointGraph(database, "default", FaissNeighbours())
    await third.add([make_prepared_idea(6)])
    one_by_one = make_graph_contents(
        PLAN, [make_prepared_idea(number) for number in range(4)], *([make_prepared_idea(n)] for n in (4, 5, 6))
    )
    expected, arrays = one_by_one.arrays, (await first.load()).arrays
    pairs = [set(zip(item.sources.tolist(), item.targets.tolist(), strict=True)) for item in (expected, arrays)]
    assert pairs[0] == pairs[1]


async def test_graphs_in_the_same_database_are_isolated(database: Database) -> None:
    first = PgViewpointGraph(database, "default", FaissNeighbours())
    other_graph = PgViewpointGraph(database, "other", FaissNeighbours())
    await first.create(PLAN)
    await other_graph.create(PLAN.model_copy(update={"name": "other"}))
    await first.add([make_prepared_idea(1)])
    await other_graph.add([make_prepared_idea(2), make_prepared_idea(3)])
    assert [len((await item.load()).ideas) for item in (first, other_graph)] == [1, 2]


async def test_index_with_extra_rows_is_rebuilt_from_graph(database: Database) -> None:
    neighbours: NeighbourIndex = FaissNeighbours()
    neighbours.add(make_unit_rows(99, 40))
    graph = PgViewpointGraph(database, "default", neighbours)
    await graph.create(PLAN)
    await graph.add([make_prepared_idea(number) for number in range(4)])
    assert len(neighbours) == 12
    arrays = (await graph.load()).arrays
    assert arrays.sources.max() < 12


async def test_removed_graph_name_can_be_reused(database: Database) -> None:
    graph = PgViewpointGraph(database, "default", FaissNeighbours())
    await graph.create(PLAN)
    await graph.add([make_prepared_idea(1)])
    key = await graph.read_key()
    await graph.remove()
    assert await graph.read_plan() is None
    await graph.create(PLAN.model_copy(update={"inter": 9}))
    assert await graph.read_key() != key
    assert len((await graph.load()).ideas) == 0


async def test_concurrent_writers_produce_a_consistent_graph(database: Database) -> None:
    first, second = FaissNeighbours(), FaissNeighbours()
    one, other = (PgViewpointGraph(database, "default", neighbours) for neighbours in (first, second))
    await one.create(PLAN)
    await asyncio.gather(
        one.add([make_prepared_idea(number) for number in range(6)]),
        other.add([make_prepared_idea(number) for number in range(6, 12)]),
    )
    loaded = [await graph.load() for graph in (one, other)]
    for contents in loaded:
        assert sorted(contents.arrays.ideas) == sorted(make_prepared_idea(number).idea.id for number in range(12))
        assert contents.version == loaded[0].version
        np.testing.assert_array_equal(contents.arrays.idea_of, np.repeat(np.arange(12), 3))
    for graph in (one, other):
        known = [await graph.add([make_prepared_idea(number)]) for number in range(12)]
        assert [added.known for added in known] == [1] * 12
    queries = make_unit_rows(9, 4)
    neighbour_rows = [neighbours.find_nearest(queries, 5).rows.tolist() for neighbours in (first, second)]
    assert neighbour_rows[0] == neighbour_rows[1]


async def test_database_connection_is_released_during_edge_search(database: Database, database_url: str) -> None:
    loop = asyncio.get_running_loop()
    async with Database(DatabaseSettings(url=SecretStr(database_url), max_connections=1)) as single:

        class Asking(FaissNeighbours):
            def find_nearest(
                self, vectors: Vectors, limit: int, allowed: NDArray[np.bool_] | None = None
            ) -> NearestViewpoints:
                asyncio.run_coroutine_threadsafe(single.fetch("SELECT 1"), loop).result(timeout=30)
                return super().find_nearest(vectors, limit, allowed)

        graph = PgViewpointGraph(single, "default", Asking())
        await graph.create(PLAN)
        added = await graph.add([make_prepared_idea(number) for number in range(4)])
    assert added.ideas == 4
