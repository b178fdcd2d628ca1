"""Label propagation against the paper's equation, written out loop by loop."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation, propagate
from assayer.models import IdeaId
from benchmarks.quality.grapheval.exact_edges import find_exact_edges


def make_graph(seed: int, sizes: list[int], labels: list[int], classes: int = 3, inter: int = 3) -> GraphArrays:
    rows = np.random.default_rng(seed).normal(size=(sum(sizes), 4))
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    idea_of = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    return GraphArrays(
        vectors,
        idea_of,
        tuple(IdeaId(str(row)) for row in range(len(sizes))),
        np.array(labels, np.int16),
        np.full(len(sizes), UNKNOWN, np.int32),
        tuple("abcdef"[:classes]),
        *find_exact_edges(vectors, idea_of, intra=2, inter=inter),
    )


@st.composite
def draw_graph(draw: st.DrawFn) -> GraphArrays:
    ideas = draw(st.integers(1, 6))
    sizes = draw(st.lists(st.integers(1, 4), min_size=ideas, max_size=ideas))
    labels = draw(st.lists(st.integers(UNKNOWN, 2), min_size=ideas, max_size=ideas))
    return make_graph(draw(st.integers(0, 2**32 - 1)), sizes, labels, inter=draw(st.integers(0, 3)))


def propagate_by_definition(graph: GraphArrays, rounds: int) -> list[NDArray[np.float64]]:
    """Return the states before and after each round, computed on dense lists."""
    nodes, classes = len(graph.vectors), len(graph.classes)
    weight = [[0.0] * nodes for _ in range(nodes)]
    for source, target, cosine in zip(graph.sources, graph.targets, graph.weights, strict=True):
        weight[target][source] = float(cosine)
    for row in weight:
        total = sum(row)
        for column in range(nodes):
            row[column] = row[column] / total if total else 0.0
    labels = [int(graph.labels[idea]) for idea in graph.idea_of]
    states = [[[1.0 if label == number else 0.0 for number in range(classes)] for label in labels]]
    for _ in range(rounds):
        before, after = states[-1], []
        for i in range(nodes):
            sums = [before[i][c] + sum(weight[i][j] * before[j][c] for j in range(nodes)) for c in range(classes)]
            z = sum(sums)
            after.append([item / z for item in sums] if z else sums)
        states.append(after)
    return [np.array(state) for state in states]


def find_leading_classes(state: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a mask of the most probable classes of each viewpoint, up to rounding."""
    nearly: NDArray[np.bool_] = (state >= state.max(axis=1, keepdims=True) - 1e-9) & (state > 0)
    return nearly


@given(draw_graph(), st.integers(1, 7))
def test_propagation_follows_paper_equation_until_labels_stabilise(graph: GraphArrays, rounds: int) -> None:
    states = propagate_by_definition(graph, rounds)
    propagated = propagate(graph, rounds)
    stops = []
    for round_number in range(1, rounds + 1):
        before, after = find_leading_classes(states[round_number - 1]), find_leading_classes(states[round_number])
        if round_number == rounds or ((before & after).any(axis=1) | ~(before | after).any(axis=1)).all():
            stops.append(round_number)
        if np.array_equal(before, after) and (before.sum(axis=1) <= 1).all():
            break
    assert any(np.allclose(propagated, states[round_number], rtol=0, atol=1e-9) for round_number in stops)


@given(draw_graph())
def test_own_label_of_scored_idea_does_not_affect_its_score(graph: GraphArrays) -> None:
    rows = np.array([0], np.int32)
    scores = [
        LabelPropagation().score(GraphArrays(**{**vars(graph), "labels": labels}), rows)
        for labels in (np.r_[np.int16(item), graph.labels[1:]].astype(np.int16) for item in (UNKNOWN, 0, 1, 2))
    ]
    for score in scores[1:]:
        np.testing.assert_array_equal(score, scores[0])


def make_two_sided_graph() -> GraphArrays:
    """Return a viewpoint between one of class a, three times as near, and one of class b."""
    return GraphArrays(
        np.eye(3, dtype=np.float32),
        np.arange(3, dtype=np.int32),
        (IdeaId("asked"), IdeaId("a"), IdeaId("b")),
        np.array([UNKNOWN, 0, 1], np.int16),
        np.full(3, UNKNOWN, np.int32),
        ("a", "b"),
        np.array([1, 2, 0, 0], np.int32),
        np.array([0, 0, 1, 2], np.int32),
        np.array([0.6, 0.2, 0.6, 0.2], np.float32),
        np.ones(4, np.int8),
    )


def test_neighbour_labels_are_weighted_by_cosine_similarity() -> None:
    (score,) = LabelPropagation(rounds=1).score(make_two_sided_graph(), np.array([0], np.int32))
    np.testing.assert_allclose(score, [0.75, 0.25], atol=1e-6)


def test_idea_unreachable_from_labels_has_no_score() -> None:
    graph = make_graph(1, [2, 2], [UNKNOWN, UNKNOWN])
    scores: NDArray[np.float64] = LabelPropagation().score(graph, np.array([0, 1], np.int32))
    assert np.isnan(scores).all()
