"""How a graph grows: which ideas may enter it, and which edges they bring. Pure decisions, for every store alike."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError, InputError
from assayer.methods.grapheval.arrays import UNKNOWN, Edges, undirected
from assayer.methods.grapheval.ports import Neighbours
from assayer.methods.grapheval.records import GraphPlan, KnownIdea, NewIdea
from assayer.models import IdeaId
from assayer.ports import Vectors

__all__ = [
    "Admission",
    "Ends",
    "Standing",
    "admit",
    "by_cosine",
    "by_relations",
    "edges_of",
    "first_version",
    "label_rows",
    "next_version",
    "no_graph",
    "refuse_contradictions",
    "refuse_other_plan",
]


_BLOCK = 2048
"""Viewpoints whose neighbours are asked for at once."""

Ends = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]
"""Sources, targets and cosines of edges, each in one direction."""


class Standing(NamedTuple):
    """What a graph remembers of an idea, to recognise it."""

    digest: str
    label: str | None


class Admission(NamedTuple):
    """What adding ideas shall do."""

    new: tuple[NewIdea, ...]
    labels: tuple[tuple[IdeaId, str], ...]
    """Labels that have become known of ideas that are there."""
    known: int


def admit(plan: GraphPlan, known: Mapping[IdeaId, Standing], ideas: Sequence[NewIdea]) -> Admission:
    """Raises InputError for an idea that contradicts the graph, or another of the same ideas."""
    refuse_contradictions(plan, known, [one.idea for one in ideas])
    seen = dict(known)
    new: list[NewIdea] = []
    labels: list[tuple[IdeaId, str]] = []
    met = 0
    for one in ideas:
        _check(plan, one)
        idea = one.idea
        before = seen.get(idea.id)
        seen[idea.id] = Standing(idea.digest, idea.label or (before.label if before else None))
        if before is None:
            new.append(one)
            continue
        met += 1
        if before.label is None and idea.label is not None:
            labels.append((idea.id, idea.label))
    return Admission(tuple(new), tuple(labels), met)


def refuse_contradictions(plan: GraphPlan, known: Mapping[IdeaId, Standing], ideas: Iterable[KnownIdea]) -> None:
    """Raises InputError as `admit` does, before anything was spent on taking ideas apart and embedding them."""
    seen = dict(known)
    for idea in ideas:
        if idea.label is not None and idea.label not in plan.classes:
            raise InputError(
                f"Idea {idea.id!r} has the label {idea.label!r}, which this graph does not know.",
                f"Its labels are {', '.join(plan.classes)}; a graph with others is built from the start.",
            )
        if before := seen.get(idea.id):
            _refuse_contradiction(idea, before)
        seen[idea.id] = Standing(idea.digest, idea.label or (before.label if before else None))


def _check(plan: GraphPlan, new: NewIdea) -> None:
    idea = new.idea
    if not new.viewpoints.viewpoints:
        raise InputError(f"Idea {idea.id!r} holds no statement to compare.", "It needs at least one sentence.")
    if new.vectors.shape != (len(new.viewpoints.viewpoints), plan.dimensions):
        raise ConfigurationError(
            f"Idea {idea.id!r} came with vectors of {new.vectors.shape[-1]} dimensions; the graph {plan.name!r} holds "
            f"{plan.dimensions}, made with {plan.embedder}.",
            "Set ASSAYER_EMBEDDER__MODEL to that model, or build another graph.",
        )


def _refuse_contradiction(idea: KnownIdea, before: Standing) -> None:
    if before.digest != idea.digest:
        raise InputError(
            f"There are two ideas with the id {idea.id!r} and different texts.",
            "Give each its own id; a revised idea is another idea.",
        )
    if None not in (before.label, idea.label) and before.label != idea.label:
        raise InputError(f"Idea {idea.id!r} is labelled {before.label!r} and {idea.label!r}.", "An idea has one label.")


def refuse_other_plan(present: GraphPlan, wanted: GraphPlan) -> None:
    """Raises InputError when a graph was built in another way than is asked for now."""
    if present.embedder != wanted.embedder or present.dimensions != wanted.dimensions:
        raise InputError(
            f"The graph {present.name!r} was made with the embedding model {present.embedder}, not with "
            f"{wanted.embedder}: vectors of two models cannot be compared.",
            "Set ASSAYER_EMBEDDER__MODEL to the graph's model, or build a graph under another name.",
        )
    differing = [field for field in GraphPlan.model_fields if getattr(present, field) != getattr(wanted, field)]
    if differing:
        field = differing[0]
        raise InputError(
            f"The graph {present.name!r} is there with {field} {_said(getattr(present, field))}, not "
            f"{_said(getattr(wanted, field))}.",
            "Add to it as it is with `assayer graph add`, or build a graph under another name.",
        )


def _said(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def no_graph(name: str) -> InputError:
    return InputError(
        f"There is no viewpoint graph {name!r}.",
        "Build one from labelled ideas: assayer graph build FILE.jsonl --label-field FIELD.",
    )


def edges_of(
    new: Sequence[NewIdea], neighbours: Neighbours, first_row: int, plan: GraphPlan, idea_of: NDArray[np.int32]
) -> Edges:
    """Edges of new ideas, whose vectors are `neighbours`' last rows, `first_row` on; `idea_of` tells the idea of
    every row. Each undirected edge stands there in both directions."""
    starts = first_row + np.cumsum([0, *(len(one.vectors) for one in new)])
    found = _outside(new, first_row, neighbours, plan.inter, idea_of)
    for one, start in zip(new, starts[:-1], strict=True):
        inside = by_relations(one.vectors, one.relations) if plan.relations else by_cosine(one.vectors, plan.intra)
        found.append((inside[0] + start, inside[1] + start, inside[2]))
    sources, targets, weights = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return undirected(sources, targets, weights.astype(np.float32), idea_of)


def _outside(
    new: Sequence[NewIdea], first_row: int, neighbours: Neighbours, inter: int, idea_of: NDArray[np.int32]
) -> list[Ends]:
    """The nearest viewpoints of other ideas, for many viewpoints at once. An idea's own stand in the index too, so
    that so many more are asked for."""
    vectors = np.concatenate([one.vectors for one in new])
    most = inter + max(len(one.vectors) for one in new)
    found: list[Ends] = []
    for start in range(0, len(vectors), _BLOCK):
        some = np.arange(start, min(start + _BLOCK, len(vectors))) + first_row
        rows, cosines = neighbours.nearest(vectors[some - first_row], most)
        foreign = (rows >= 0) & (idea_of[rows] != idea_of[some][:, None])
        kept = foreign & (np.cumsum(foreign, axis=1) <= inter)
        found.append((np.repeat(some, kept.sum(axis=1)), rows[kept], cosines[kept]))
    return found


def by_cosine(vectors: Vectors, intra: int) -> Ends:
    """Edges inside an idea: each viewpoint to its `intra` nearest."""
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -np.inf)
    most = min(intra, max(0, len(cosines) - 1))
    columns = np.argsort(-cosines, axis=1, kind="stable")[:, :most]
    sources = np.repeat(np.arange(len(cosines)), most)
    return sources, columns.ravel(), np.take_along_axis(cosines, columns, axis=1).ravel()


def by_relations(vectors: Vectors, relations: Sequence[tuple[int, int]]) -> Ends:
    """Edges inside an idea: the related pairs, with their cosines as weights."""
    ends = np.array(relations, np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1], np.einsum("ij,ij->i", vectors[ends[:, 0]], vectors[ends[:, 1]])


def label_rows(plan: GraphPlan, labels: Iterable[str | None]) -> NDArray[np.int16]:
    """Rows in the plan's classes."""
    rows = {name: row for row, name in enumerate(plan.classes)}
    return np.array([UNKNOWN if label is None else rows[label] for label in labels], np.int16)


def first_version(plan: GraphPlan) -> str:
    return hashlib.sha256(plan.model_dump_json().encode()).hexdigest()[:16]


def next_version(before: str, admission: Admission) -> str:
    """The same ideas added in the same order to the same graph make the same version."""
    said: Iterable[str] = (
        *(f"{one.idea.id} {one.idea.digest} {one.idea.label}" for one in admission.new),
        *(f"{idea} {label}" for idea, label in admission.labels),
    )
    return hashlib.sha256("\n".join((before, *said)).encode()).hexdigest()[:16]
