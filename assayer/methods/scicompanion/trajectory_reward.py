"""Compute the reward for one trajectory of the exploration loop, from how close its scores are to known scores and how
its final graph is structured.

The paper (section 2.5) names both, but does not define how they are combined or what its "attribute ratio" is. Here the
reward for structure is the mean of three shares: of edges whose quote was found in the quoted paper (informativeness);
of the idea's components that were compared with papers (coverage); and of nodes that are connected to the idea
(coherence). Writing more does not raise informativeness: a quote counts only if it occurs in its paper."""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import NamedTuple, Self

from pydantic import Field, model_validator

from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.scicompanion.base_graph import BY_CORPUS
from assayer.methods.scicompanion.graph import IDEA_NODE, StateGraph
from assayer.models import Absent, Assessment, EvidenceEdge, Frozen, NodeKey


class RewardWeights(Frozen):
    """Weights for the trajectory reward. The paper states none, so the defaults are ours."""

    score: float = Field(default=1.0, ge=0)
    structure: float = Field(default=0.25, ge=0)
    """Weight for the graph's structure. It is small, because a well-built graph with a wrong score is worth little."""
    enough_quotes: int = Field(default=6, ge=1)
    """Minimum denominator for the share of verified quotes, used if there are fewer proposed edges. Otherwise a graph
    with a single quoted edge would be perfect."""

    unusable: float | None = None
    """Reward for a finished trajectory whose policy produced no usable score. None means no reward: the policy learns
    nothing from the trajectory, and is not discouraged from producing more like it."""

    @model_validator(mode="after")
    def _rewards_something(self) -> Self:
        if not self.score + self.structure:
            raise ValueError("score and structure must not both be 0: every reward would be 0")
        return self


class GraphStructure(NamedTuple):
    """Measures of a graph's structure, each from 0 to 1. Proposed edges are all edges except those from records and
    from the corpus graph. The excepted edges exist regardless of the policy."""

    informativeness: float
    """Share of the proposed edges whose quote occurs in its paper."""
    coverage: float
    """Share of the claims, methods and concepts proposed for the idea that are linked to a paper by an edge that does
    not come from a record."""
    coherence: float
    """Share of the nodes, not counting the idea, that are connected to the idea by edges of any kind in either
    direction."""

    @property
    def mean(self) -> float:
        return sum(self) / len(self)


class TrajectoryReward(Frozen):
    value: float
    """Weighted sum of accuracy and structure, or `RewardWeights.unusable` for an unusable score."""
    accuracy: float | None
    """Accuracy: 1 minus the root mean square error against the known scores, where each error is divided by its scale's
    width. 1 is best; None if there is no score."""
    structure: float
    """The graph's structure, from 0 to 1."""


def compute_trajectory_reward(
    graph: StateGraph,
    assessments: Sequence[Assessment],
    dimensions: Sequence[RubricDimension],
    known_scores: Mapping[str, float],
    weights: RewardWeights,
) -> TrajectoryReward | Absent:
    """Return a trajectory's reward. Absent if a dimension was not scored and the weights define no reward for that
    case: a missing score is not a low score. `known_scores` holds at least one score by dimension name; `assessments`
    is in the order of the dimensions."""
    accuracy = measure_score_accuracy(assessments, dimensions, known_scores)
    structure = measure_graph_structure(graph, weights.enough_quotes).mean
    if isinstance(accuracy, Absent):
        if weights.unusable is None:
            return accuracy
        return TrajectoryReward(value=weights.unusable, accuracy=None, structure=structure)
    return TrajectoryReward(
        value=weights.score * accuracy + weights.structure * structure, accuracy=accuracy, structure=structure
    )


def measure_score_accuracy(
    assessments: Sequence[Assessment], dimensions: Sequence[RubricDimension], known_scores: Mapping[str, float]
) -> float | Absent:
    squares: list[float] = []
    for dimension, assessment in zip(dimensions, assessments, strict=True):
        if dimension.name not in known_scores:
            continue
        if isinstance(assessment.score, Absent):
            return Absent(reason=f"{dimension.title} has no score: {assessment.score.reason}")
        width = dimension.scale.max - dimension.scale.min
        squares.append(((assessment.score.value - known_scores[dimension.name]) / width) ** 2)
    return 1 - sqrt(sum(squares) / len(squares)) if squares else Absent(reason="no reference score is known for it.")


def measure_graph_structure(graph: StateGraph, enough_quotes: int) -> GraphStructure:
    stated_edges = [edge for edge in graph.edges.values() if edge.basis != "record"]
    proposed_edges = [item for item in stated_edges if item.statement != BY_CORPUS]
    quoted_count = sum(item.basis == "quoted" for item in proposed_edges)
    contents = {key for key, node in graph.nodes.items() if node.kind not in ("idea", "paper")}
    papers = {key for key, node in graph.nodes.items() if node.kind == "paper"}
    own_nodes = {item.target for item in proposed_edges if item.source == IDEA_NODE} & contents
    compared_nodes = {
        end for item in stated_edges for end, other in _list_both_directions(item) if other in papers
    } & own_nodes
    other_count = len(graph.nodes) - 1
    return GraphStructure(
        informativeness=quoted_count / max(enough_quotes, len(proposed_edges)),
        coverage=len(compared_nodes) / len(own_nodes) if own_nodes else 0.0,
        coherence=(len(_find_connected_nodes(graph.edges.values())) - 1) / other_count if other_count else 0.0,
    )


def _list_both_directions(edge: EvidenceEdge) -> tuple[tuple[NodeKey, NodeKey], tuple[NodeKey, NodeKey]]:
    return (edge.source, edge.target), (edge.target, edge.source)


def _find_connected_nodes(edges: Iterable[EvidenceEdge]) -> set[NodeKey]:
    """Return the nodes connected to the idea, including the idea itself."""
    neighbours: dict[NodeKey, set[NodeKey]] = {}
    for edge in edges:
        for end, other in _list_both_directions(edge):
            neighbours.setdefault(end, set()).add(other)
    reached_nodes, frontier = {IDEA_NODE}, [IDEA_NODE]
    while frontier:
        new_nodes = neighbours.get(frontier.pop(), set()) - reached_nodes
        reached_nodes |= new_nodes
        frontier += new_nodes
    return reached_nodes
