"""Reward of a SciCompanion trajectory: its scores against known ones, its graph by three shares."""

import pytest

from assayer.methods.scicompanion.base_graph import BY_CORPUS
from assayer.methods.scicompanion.graph import IDEA_NODE, NewEdge, StateGraph, build_empty_graph
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.trajectory_reward import (
    RewardWeights,
    TrajectoryReward,
    compute_trajectory_reward,
    measure_graph_structure,
    measure_score_accuracy,
)
from assayer.models import Absent, Assessment, EdgeBasis, EdgeKind, NodeKey, PaperId, Score

DIMENSIONS = SciCompanionOptions().load_rubric()


def make_assessments(*values: float | None) -> list[Assessment]:
    return [
        Assessment(
            name="One",
            statement="What is asked?",
            score=Absent(reason="Not judged: refused.")
            if value is None
            else Score(value=value, scale_min=1, scale_max=10, basis="It says why."),
            points=(),
            readings=(),
        )
        for value in values
    ]


def make_edge(source: str, kind: EdgeKind, target: str, basis: EdgeBasis, statement: str) -> NewEdge:
    return NewEdge(NodeKey(source), NodeKey(target), kind, basis, statement)


def make_graph(*edges: NewEdge) -> StateGraph:
    """Return two papers (N1, N2, joined by a citation), a claim (N3) and a method (N4)."""
    graph = build_empty_graph("An idea")
    for number in (1, 2):
        graph = graph.add_paper(PaperId(f"p{number}"), f"Paper {number}", 1).graph
    graph = graph.add_node("claim", "Quotes are wrong", "", 1).graph
    graph = graph.add_node("method", "Quote checking", "", 1).graph
    for edge in (NewEdge(NodeKey("N1"), NodeKey("N2"), "cites", "record"), *edges):
        changed = graph.add_edge(edge, 1)
        assert changed.refused is None
        graph = changed.graph
    return graph


STATES = make_edge(IDEA_NODE, "states", "N3", "stated", "Its claim.")
STATED_USE = make_edge(IDEA_NODE, "uses", "N4", "stated", "Its method.")
SUPPORTS = make_edge("N1", "supports", "N3", "quoted", "It says the same.")
QUOTED_USE = make_edge("N2", "uses", "N4", "quoted", BY_CORPUS)


def test_graph_of_only_recorded_edges_earns_no_structure_reward() -> None:
    assert measure_graph_structure(build_empty_graph("An idea"), 2) == (0, 0, 0)
    assert measure_graph_structure(make_graph(), 2) == (0, 0, 0)


def test_only_verified_model_quotes_count_as_informative() -> None:
    assert measure_graph_structure(make_graph(STATES, SUPPORTS), 2).informativeness == 0.5
    assert measure_graph_structure(make_graph(STATES, SUPPORTS), 6).informativeness == pytest.approx(1 / 6)
    unverified = make_edge("N2", "supports", "N3", "unverified", "So it is said.")
    assert measure_graph_structure(make_graph(STATES, unverified, QUOTED_USE), 2).informativeness == 0


def test_idea_components_are_covered_when_compared_with_a_paper() -> None:
    assert measure_graph_structure(make_graph(STATES, STATED_USE), 2).coverage == 0
    assert measure_graph_structure(make_graph(STATES, STATED_USE, SUPPORTS), 2).coverage == 0.5
    assert measure_graph_structure(make_graph(STATES, STATED_USE, SUPPORTS, QUOTED_USE), 2).coverage == 1


def test_score_accuracy_is_error_relative_to_scale_width() -> None:
    assessments = make_assessments(1, 1, 10, 7)
    assert measure_score_accuracy(assessments, DIMENSIONS, {"overall": 7}) == 1
    assert measure_score_accuracy(assessments, DIMENSIONS, {"overall": 5.2}) == pytest.approx(0.8)
    assert measure_score_accuracy(assessments, DIMENSIONS, {"overall": 7, "impact": 1}) == pytest.approx(1 - 0.5**0.5)


def test_reward_is_weighted_sum_with_separate_parts() -> None:
    reward = compute_trajectory_reward(
        make_graph(STATES, SUPPORTS),
        make_assessments(1, 1, 1, 7),
        DIMENSIONS,
        {"overall": 7},
        RewardWeights(enough_quotes=2),
    )
    assert isinstance(reward, TrajectoryReward)
    assert (reward.accuracy, reward.structure) == (1, 0.75)
    assert reward.value == pytest.approx(1 + 0.25 * 0.75)


def test_missing_target_score_gives_no_reward_instead_of_low_reward() -> None:
    graph, weights = make_graph(STATES, SUPPORTS), RewardWeights()
    reward_without_target = compute_trajectory_reward(
        graph, make_assessments(5, 5, 5, None), DIMENSIONS, {"overall": 7}, weights
    )
    assert reward_without_target == Absent(reason="Overall has no score: Not judged: refused.")
    reward_with_target = compute_trajectory_reward(
        graph, make_assessments(None, 5, 5, 5), DIMENSIONS, {"overall": 7}, weights
    )
    assert isinstance(reward_with_target, TrajectoryReward)
