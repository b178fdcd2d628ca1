"""Plan how a graph grows: which ideas are added, and with which edges. The functions are pure and independent of the
store."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError, InputError
from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphEdges, build_undirected_edges
from assayer.methods.grapheval.graph.records import GraphPlan, LabelledIdea, PreparedIdea
from assayer.methods.grapheval.ports import NeighbourIndex
from assayer.models import IdeaId
from assayer.ports import Vectors

_QUERY_BATCH = 2048
"""Number of viewpoints per neighbour query."""

EdgeEnds = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]
"""Sources, targets and cosines of edges; each edge is listed in one direction only."""


class IdeaFingerprint(NamedTuple):
    """Stored data by which a graph recognises an idea: a hash of its words, and its label."""

    digest: str
    label: str | None


class GraphAdditions(NamedTuple):
    """The changes that adding ideas makes to a graph."""

    new: tuple[PreparedIdea, ...]
    labels: tuple[tuple[IdeaId, str], ...]
    """New labels for ideas that are already in the graph."""
    known: int


def plan_additions(
    plan: GraphPlan, known_fingerprints: Mapping[IdeaId, IdeaFingerprint], ideas: Sequence[PreparedIdea]
) -> GraphAdditions:
    """Plan the addition of ideas to a graph. Raises InputError if an idea contradicts the graph or another of the
    ideas."""
    check_for_contradictions(plan, known_fingerprints, [item.idea for item in ideas])
    fingerprints = dict(known_fingerprints)
    new_ideas: list[PreparedIdea] = []
    labels: list[tuple[IdeaId, str]] = []
    known_count = 0
    for item in ideas:
        _check_new_idea(plan, item)
        idea = item.idea
        old_fingerprint = fingerprints.get(idea.id)
        fingerprints[idea.id] = IdeaFingerprint(
            idea.digest, idea.label or (old_fingerprint.label if old_fingerprint else None)
        )
        if old_fingerprint is None:
            new_ideas.append(item)
            continue
        known_count += 1
        if old_fingerprint.label is None and idea.label is not None:
            labels.append((idea.id, idea.label))
    return GraphAdditions(tuple(new_ideas), tuple(labels), known_count)


def check_for_contradictions(
    plan: GraphPlan, known_fingerprints: Mapping[IdeaId, IdeaFingerprint], ideas: Iterable[LabelledIdea]
) -> None:
    """Raise the InputError that `plan_additions` would raise for contradictions, before extraction and embedding incur
    costs."""
    fingerprints = dict(known_fingerprints)
    for idea in ideas:
        if idea.label is not None and idea.label not in plan.classes:
            raise InputError(
                f"Idea {idea.id!r} has the label {idea.label!r}, which this graph does not have.",
                f"The graph's labels are {', '.join(plan.classes)}. To use other labels, build a new graph.",
            )
        if old_fingerprint := fingerprints.get(idea.id):
            _check_contradiction(idea, old_fingerprint)
        fingerprints[idea.id] = IdeaFingerprint(
            idea.digest, idea.label or (old_fingerprint.label if old_fingerprint else None)
        )


def _check_new_idea(plan: GraphPlan, prepared_idea: PreparedIdea) -> None:
    idea = prepared_idea.idea
    if not prepared_idea.viewpoints.viewpoints:
        raise InputError(f"Idea {idea.id!r} contains no statement to compare.", "It needs at least one sentence.")
    if prepared_idea.vectors.shape != (len(prepared_idea.viewpoints.viewpoints), plan.dimensions):
        raise ConfigurationError(
            f"Idea {idea.id!r} has vectors with {prepared_idea.vectors.shape[-1]} dimensions, but those in the graph "
            f"{plan.name!r} have {plan.dimensions} and were made with {plan.embedder}.",
            "Set ASSAYER_EMBEDDER__MODEL to that model, or build a different graph.",
        )


def _check_contradiction(idea: LabelledIdea, fingerprint: IdeaFingerprint) -> None:
    if fingerprint.digest != idea.digest:
        raise InputError(
            f"Two ideas with different texts have the same id {idea.id!r}.",
            "Give each text its own id, including each revised version of an idea.",
        )
    if None not in (fingerprint.label, idea.label) and fingerprint.label != idea.label:
        raise InputError(
            f"Idea {idea.id!r} is labelled both {fingerprint.label!r} and {idea.label!r}.",
            "Give each idea a single label.",
        )


def check_same_plan(present: GraphPlan, requested: GraphPlan) -> None:
    """Raise InputError if the graph was built with other settings than those requested now."""
    if present.embedder != requested.embedder or present.dimensions != requested.dimensions:
        raise InputError(
            f"The graph {present.name!r} was made with the embedding model {present.embedder}, not with "
            f"{requested.embedder}: vectors from different models cannot be compared.",
            "Set ASSAYER_EMBEDDER__MODEL to the graph's model, or build a graph under a different name.",
        )
    differing_fields = [
        field for field in GraphPlan.model_fields if getattr(present, field) != getattr(requested, field)
    ]
    if differing_fields:
        field = differing_fields[0]
        raise InputError(
            f"The graph {present.name!r} has {field} {_format_value(getattr(present, field))}, not "
            f"{_format_value(getattr(requested, field))}.",
            "Add ideas to it with its own settings using `assayer graph add`, or build a graph under a different name.",
        )


def _format_value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def build_missing_graph_error(name: str) -> InputError:
    return InputError(
        f"There is no viewpoint graph {name!r}.",
        "Build one from labelled ideas with `assayer graph build FILE.jsonl --label-field FIELD`.",
    )


def build_edges_of_new_ideas(
    new_ideas: Sequence[PreparedIdea],
    neighbours: NeighbourIndex,
    first_row: int,
    plan: GraphPlan,
    idea_of: NDArray[np.int32],
) -> GraphEdges:
    """Return the new ideas' edges, in both directions. The new viewpoints' vectors are the last rows in `neighbours`,
    from `first_row` on; `idea_of` holds the idea of every row."""
    starts = first_row + np.cumsum([0, *(len(item.vectors) for item in new_ideas)])
    edge_ends = _find_edges_to_other_ideas(new_ideas, first_row, neighbours, plan.inter, idea_of)
    for item, start in zip(new_ideas, starts[:-1], strict=True):
        inner_edges = (
            build_edges_from_relations(item.vectors, item.relations)
            if plan.relations
            else find_edges_by_cosine(item.vectors, plan.intra)
        )
        edge_ends.append((inner_edges[0] + start, inner_edges[1] + start, inner_edges[2]))
    sources, targets, weights = (np.concatenate(parts) for parts in zip(*edge_ends, strict=True))
    return build_undirected_edges(sources, targets, weights.astype(np.float32), idea_of)


def _find_edges_to_other_ideas(
    new_ideas: Sequence[PreparedIdea],
    first_row: int,
    neighbours: NeighbourIndex,
    inter: int,
    idea_of: NDArray[np.int32],
) -> list[EdgeEnds]:
    """Return edges to the nearest viewpoints in other ideas, queried in batches. The index also holds the idea's own
    viewpoints, so more neighbours are requested to allow for them."""
    vectors = np.concatenate([item.vectors for item in new_ideas])
    limit = inter + max(len(item.vectors) for item in new_ideas)
    edge_ends: list[EdgeEnds] = []
    for start in range(0, len(vectors), _QUERY_BATCH):
        batch = np.arange(start, min(start + _QUERY_BATCH, len(vectors))) + first_row
        rows, cosines = neighbours.find_nearest(vectors[batch - first_row], limit)
        foreign = (rows >= 0) & (idea_of[rows] != idea_of[batch][:, None])
        is_kept = foreign & (np.cumsum(foreign, axis=1) <= inter)
        edge_ends.append((np.repeat(batch, is_kept.sum(axis=1)), rows[is_kept], cosines[is_kept]))
    return edge_ends


def find_edges_by_cosine(vectors: Vectors, intra: int) -> EdgeEnds:
    """Return edges within an idea, from each viewpoint to its `intra` nearest ones."""
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -np.inf)
    count = min(intra, max(0, len(cosines) - 1))
    columns = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    sources = np.repeat(np.arange(len(cosines)), count)
    return sources, columns.ravel(), np.take_along_axis(cosines, columns, axis=1).ravel()


def build_edges_from_relations(vectors: Vectors, relations: Sequence[tuple[int, int]]) -> EdgeEnds:
    """Return edges within an idea for the related pairs, weighted by their cosines."""
    ends = np.array(relations, np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1], np.einsum("ij,ij->i", vectors[ends[:, 0]], vectors[ends[:, 1]])


def index_labels(plan: GraphPlan, labels: Iterable[str | None]) -> NDArray[np.int16]:
    """Return each label's index among the plan's classes, or UNKNOWN for a missing label."""
    rows = {name: row for row, name in enumerate(plan.classes)}
    return np.array([UNKNOWN if label is None else rows[label] for label in labels], np.int16)


def derive_initial_version(plan: GraphPlan) -> str:
    return hashlib.sha256(plan.model_dump_json().encode()).hexdigest()[:16]


def derive_next_version(previous_version: str, admission: GraphAdditions) -> str:
    """Return the graph's version after the additions. It is deterministic: adding the same ideas in the same order to
    the same graph gives the same version."""
    entries: Iterable[str] = (
        *(f"{item.idea.id} {item.idea.digest} {item.idea.label}" for item in admission.new),
        *(f"{idea} {label}" for idea, label in admission.labels),
    )
    return hashlib.sha256("\n".join((previous_version, *entries)).encode()).hexdigest()[:16]
