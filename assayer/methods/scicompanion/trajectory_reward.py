"""What one trajectory of the loop is worth: how near its scores come to known ones, and how its final graph is built.

The paper (section 2.5) names both and leaves open how they are put together and what its "attribute ratio" is. Here it
is three shares, whose mean is the reward for structure: edges that carry a quote found in its paper (informativeness),
what the idea is made of that papers were held against (coverage), and nodes that hang together with the idea
(coherence). None can be raised by words alone: a quote counts only where it stands in its paper.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import NamedTuple, Self

from pydantic import Field, model_validator

from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.scicompanion.base_graph import BY_CORPUS
from assayer.methods.scicompanion.graph import IDEA_NODE, StateGraph
from assayer.models import Absent, Assessment, EvidenceEdge, Frozen, NodeKey

__all__ = [
    "GraphStructure",
    "RewardWeights",
    "TrajectoryReward",
    "graph_structure",
    "score_accuracy",
    "trajectory_reward",
]


class RewardWeights(Frozen):
    """The paper gives none: these are choices."""

    score: float = Field(default=1.0, ge=0)
    structure: float = Field(default=0.25, ge=0)
    """Small: a well-built graph under a wrong score is worth little."""
    enough_quotes: int = Field(default=6, ge=1)
    """Verified quotes from which on a graph is as informative as its share of them; fewer count as out of so many, so
    that a graph of one edge is not perfect."""

    unusable: float | None = None
    """Of a trajectory that came to its end, but whose policy wrote no score that could be used. None: no reward, so
    that nothing is learned from it, and nothing keeps a policy from writing more of the kind."""

    @model_validator(mode="after")
    def _rewards_something(self) -> Self:
        if not self.score + self.structure:
            raise ValueError("score and structure are both 0: nothing would be rewarded")
        return self


class GraphStructure(NamedTuple):
    """Each from 0 to 1. The corpus's own edges earn nothing: they are there whatever a policy does."""

    informativeness: float
    """Proposed edges with a quote that stands in its paper, of all proposed."""
    coverage: float
    """What the idea states, uses and concerns that an edge other than a record joins to a paper, of all of it."""
    coherence: float
    """Nodes from which edges lead to the idea, either way along, of all but the idea."""

    @property
    def mean(self) -> float:
        return sum(self) / len(self)


class TrajectoryReward(Frozen):
    value: float
    """Weighted sum of the two, or what the weights give for an unusable score."""
    accuracy: float | None
    """1 less the root mean square error of the known scores, each in widths of its scale; 1 at best. None without a
    score."""
    structure: float
    """From 0 to 1."""


def trajectory_reward(
    graph: StateGraph,
    assessments: Sequence[Assessment],
    dimensions: Sequence[RubricDimension],
    known: Mapping[str, float],
    weights: RewardWeights,
) -> TrajectoryReward | Absent:
    """`known`: scores by the names of dimensions, one at least; `assessments` in the order of the dimensions. Absent
    where one of them was not scored: such a trajectory has no reward, rather than a low one, unless the weights give it
    one."""
    accuracy = score_accuracy(assessments, dimensions, known)
    structure = graph_structure(graph, weights.enough_quotes).mean
    if isinstance(accuracy, Absent):
        if weights.unusable is None:
            return accuracy
        return TrajectoryReward(value=weights.unusable, accuracy=None, structure=structure)
    return TrajectoryReward(
        value=weights.score * accuracy + weights.structure * structure, accuracy=accuracy, structure=structure
    )


def score_accuracy(
    assessments: Sequence[Assessment], dimensions: Sequence[RubricDimension], known: Mapping[str, float]
) -> float | Absent:
    squares: list[float] = []
    for dimension, given in zip(dimensions, assessments, strict=True):
        if dimension.name not in known:
            continue
        if isinstance(given.score, Absent):
            return Absent(reason=f"{dimension.title} has no score: {given.score.reason}")
        width = dimension.scale.max - dimension.scale.min
        squares.append(((given.score.value - known[dimension.name]) / width) ** 2)
    return 1 - sqrt(sum(squares) / len(squares)) if squares else Absent(reason="no score of it is known.")


def graph_structure(graph: StateGraph, enough_quotes: int) -> GraphStructure:
    said = [one for one in graph.edges.values() if one.basis != "record"]
    proposed = [one for one in said if one.statement != BY_CORPUS]
    quoted = sum(one.basis == "quoted" for one in proposed)
    contents = {key for key, node in graph.nodes.items() if node.kind not in ("idea", "paper")}
    papers = {key for key, node in graph.nodes.items() if node.kind == "paper"}
    own = {one.target for one in proposed if one.source == IDEA_NODE} & contents
    held_against = {end for one in said for end, other in _both_ways(one) if other in papers} & own
    others = len(graph.nodes) - 1
    return GraphStructure(
        informativeness=quoted / max(enough_quotes, len(proposed)),
        coverage=len(held_against) / len(own) if own else 0.0,
        coherence=(len(_joined_to_idea(graph.edges.values())) - 1) / others if others else 0.0,
    )


def _both_ways(edge: EvidenceEdge) -> tuple[tuple[NodeKey, NodeKey], tuple[NodeKey, NodeKey]]:
    return (edge.source, edge.target), (edge.target, edge.source)


def _joined_to_idea(edges: Iterable[EvidenceEdge]) -> set[NodeKey]:
    """The idea among them."""
    neighbours: dict[NodeKey, set[NodeKey]] = {}
    for edge in edges:
        for end, other in _both_ways(edge):
            neighbours.setdefault(end, set()).add(other)
    reached, going = {IDEA_NODE}, [IDEA_NODE]
    while going:
        new = neighbours.get(going.pop(), set()) - reached
        reached |= new
        going += new
    return reached
