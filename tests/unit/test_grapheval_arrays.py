import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import INTER, INTRA, UNKNOWN, GraphArrays
from assayer.methods.grapheval.graph.subgraph import SubgraphExtractor
from assayer.models import IdeaId
from benchmarks.quality.grapheval.exact_edges import find_exact_edges


def make_unit_rows(seed: int, count: int, dimensions: int = 6) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(count, dimensions))
    normed: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return normed


def make_graph(
    vectors: NDArray[np.float32], idea_of: NDArray[np.int32], intra: int = 5, inter: int = 10
) -> GraphArrays:
    ideas = int(idea_of.max()) + 1 if len(idea_of) else 0
    return GraphArrays(
        vectors,
        idea_of,
        tuple(IdeaId(f"idea-{row}") for row in range(ideas)),
        (np.arange(ideas) % 2).astype(np.int16),
        np.full(ideas, UNKNOWN, np.int32),
        ("reject", "accept"),
        *find_exact_edges(vectors, idea_of, intra, inter),
    )


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 5), min_size=0, max_size=6))
def test_each_viewpoint_is_linked_with_its_nearest_neighbours_in_both_directions(seed: int, sizes: list[int]) -> None:
    idea_of = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    vectors = make_unit_rows(seed, len(idea_of))
    edges = find_exact_edges(vectors, idea_of, intra=2, inter=3)
    pairs = set(zip(edges.sources.tolist(), edges.targets.tolist(), strict=True))
    assert len(pairs) == len(edges.sources)
    assert {(target, source) for source, target in pairs} == pairs
    assert all(source != target for source, target in pairs)
    np.testing.assert_allclose(edges.weights, (vectors @ vectors.T)[edges.sources, edges.targets], atol=1e-5)
    assert (edges.weights > 0).all()
    is_same_idea = idea_of[edges.sources] == idea_of[edges.targets]
    np.testing.assert_array_equal(edges.kinds, np.where(is_same_idea, INTRA, INTER))
    cosines = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    for node in range(len(vectors)):
        for is_inside, max_links in ((True, 2), (False, 3)):
            candidates = [o for o in range(len(vectors)) if o != node and (idea_of[o] == idea_of[node]) == is_inside]
            nearest = sorted(candidates, key=lambda neighbour: -cosines[node, neighbour])[:max_links]
            assert all((node, neighbour) in pairs for neighbour in nearest if cosines[node, neighbour] > 1e-6)


def test_adjacency_matrix_sums_over_weighted_neighbours() -> None:
    graph = make_graph(make_unit_rows(3, 6), np.array([0, 0, 1, 1, 2, 2], np.int32))
    values = np.arange(6.0)
    expected = np.zeros(6)
    np.add.at(expected, graph.targets, graph.weights * values[graph.sources])
    np.testing.assert_allclose(graph.build_adjacency().toarray() @ values, expected)


def test_a_subgraph_keeps_vectors_labels_and_the_edges_among_its_viewpoints() -> None:
    graph = make_graph(make_unit_rows(3, 8), np.array([0, 0, 1, 1, 2, 2, 3, 3], np.int32))
    subgraph = SubgraphExtractor(graph, 1).extract(np.array([2, 3, 7]))
    assert subgraph.ideas == ("idea-1", "idea-3")
    assert subgraph.idea_of.tolist() == [0, 0, 1]
    assert subgraph.labels.tolist() == [1, 1]
    np.testing.assert_array_equal(subgraph.vectors, graph.vectors[[2, 3, 7]])
    nodes = {2: 0, 3: 1, 7: 2}
    edge_ends = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    expected = {(nodes[s], nodes[t]) for s, t in edge_ends if s in nodes and t in nodes}
    assert set(zip(subgraph.sources.tolist(), subgraph.targets.tolist(), strict=True)) == expected


@pytest.mark.parametrize("idea_of", [[0, 1, 0], [0, 1, 2], [-1, 0, 1]])
def test_viewpoints_that_are_not_grouped_by_idea_are_refused(idea_of: list[int]) -> None:
    no_rows = np.empty(0, np.int32)
    with pytest.raises(ValueError, match="grouped by idea"):
        GraphArrays(
            make_unit_rows(0, 3),
            np.array(idea_of, np.int32),
            (IdeaId("a"), IdeaId("b")),
            np.array([0, 1], np.int16),
            np.full(2, UNKNOWN, np.int32),
            ("no", "yes"),
            no_rows,
            no_rows,
            np.empty(0, np.float32),
            np.empty(0, np.int8),
        )
