"""Generate synthetic plagiarism from a graph by the paper's three methods, to train and measure detection."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from assayer.errors import InputError
from assayer.methods.grapheval.graph.arrays import INTER, INTRA, UNKNOWN, GraphArrays
from assayer.models import IdeaId

PlagiarismKind = Literal["copy", "random swaps", "neighbour swaps"]
PLAGIARISM_KINDS: tuple[PlagiarismKind, ...] = ("copy", "random swaps", "neighbour swaps")

_INTRA_NEAREST, _INTER_NEAREST = 5, 10
_SWAPPED_SHARE = 1 / 3
"""Share of viewpoints that the two kinds with swaps replace."""


class PlagiarisedIdea(NamedTuple):
    source: int
    """The row of the idea that was plagiarised."""
    nodes: NDArray[np.int64]
    """The rows of the viewpoints, in order; all are taken from other ideas."""


def plagiarise(graph: GraphArrays, trick: PlagiarismKind, count: int, seed: int) -> tuple[PlagiarisedIdea, ...]:
    """Return plagiarised versions of `count` different ideas whose label is not the worst class. The kinds with swaps
    replace a third of the viewpoints, at least one; a copy replaces none. Raises InputError if the graph has too few
    suitable ideas."""
    sizes = np.bincount(graph.idea_of, minlength=len(graph.ideas))
    positive_rows = np.flatnonzero(graph.labels > 0)
    usable_rows = positive_rows[sizes[positive_rows] >= 2]
    if len(usable_rows) < count or len(graph.ideas) < 2:
        raise InputError(f"Only {len(usable_rows)} ideas can be plagiarised, but {count} were requested.")
    generator = np.random.default_rng([seed, PLAGIARISM_KINDS.index(trick)])
    source_rows = generator.choice(usable_rows, count, replace=False)
    return tuple(_plagiarise_idea(graph, trick, int(source), generator) for source in source_rows)


def _plagiarise_idea(
    graph: GraphArrays, trick: PlagiarismKind, source: int, generator: np.random.Generator
) -> PlagiarisedIdea:
    nodes = np.flatnonzero(graph.idea_of == source)
    if trick == "copy":
        return PlagiarisedIdea(source, nodes)
    places = generator.choice(len(nodes), max(1, round(_SWAPPED_SHARE * len(nodes))), replace=False)
    other_viewpoints = np.flatnonzero(graph.idea_of != source)
    if trick == "random swaps":
        nodes[places] = generator.choice(other_viewpoints, len(places), replace=False)
    elif trick == "neighbour swaps":
        cosines = graph.vectors[nodes[places]] @ graph.vectors[other_viewpoints].T
        nodes[places] = other_viewpoints[cosines.argmax(axis=1)]
    else:
        assert_never(trick)
    return PlagiarisedIdea(source, nodes)


def add_plagiarised_ideas(graph: GraphArrays, count: int, seed: int) -> GraphArrays:
    """Return the graph with `count` plagiarised ideas appended. They have equal parts of each kind, are labelled as the
    worst class and dated after their sources. Edges lead only into the new ideas, so honest ideas are not affected."""
    parts = [
        count // len(PLAGIARISM_KINDS) + (place < count % len(PLAGIARISM_KINDS))
        for place in range(len(PLAGIARISM_KINDS))
    ]
    copies = [
        item
        for trick, part in zip(PLAGIARISM_KINDS, parts, strict=True)
        for item in plagiarise(graph, trick, part, seed)
    ]
    if not copies:
        return graph
    generator = np.random.default_rng([seed, len(PLAGIARISM_KINDS)])
    nodes = np.concatenate([item.nodes for item in copies])
    owners = np.repeat(np.arange(len(copies)), [len(item.nodes) for item in copies])
    sources, targets, weights, kinds = _copy_edges(graph, nodes, owners)
    return replace(
        graph,
        vectors=np.concatenate([graph.vectors, graph.vectors[nodes]]),
        idea_of=np.concatenate([graph.idea_of, (len(graph.ideas) + owners).astype(np.int32)]),
        ideas=graph.ideas + tuple(IdeaId(f"plagiarised-{number}") for number in range(len(copies))),
        labels=np.concatenate([graph.labels, np.zeros(len(copies), np.int16)]),
        dates=np.concatenate([graph.dates, _draw_later_dates(graph, copies, generator)]),
        sources=np.concatenate([graph.sources, sources]),
        targets=np.concatenate([graph.targets, targets]),
        weights=np.concatenate([graph.weights, weights]),
        kinds=np.concatenate([graph.kinds, kinds]),
    )


def _draw_later_dates(
    graph: GraphArrays, copies: Sequence[PlagiarisedIdea], generator: np.random.Generator
) -> NDArray[np.int32]:
    """Return dates within two years after each plagiarised idea's latest source idea, or UNKNOWN if no source is
    dated."""
    latest = np.array([graph.dates[graph.idea_of[item.nodes]].max() for item in copies])
    return np.where(latest == UNKNOWN, UNKNOWN, latest + generator.integers(1, 730, len(copies))).astype(np.int32)


def _copy_edges(
    graph: GraphArrays, nodes: NDArray[np.int64], owners: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32], NDArray[np.int8]]:
    """Return the edges into each new viewpoint from its nearest viewpoints in the graph, and the edges within each new
    idea."""
    first = len(graph.vectors)
    edge_groups: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32], int]] = []
    for owner in range(int(owners[-1]) + 1):
        own_rows = np.flatnonzero(owners == owner)
        vectors = graph.vectors[nodes[own_rows]]
        outer_cosines, inner_cosines = vectors @ graph.vectors.T, vectors @ vectors.T
        np.fill_diagonal(inner_cosines, -1)
        for cosines, limit, offset, kind in (
            (outer_cosines, _INTER_NEAREST, 0, INTER),
            (inner_cosines, _INTRA_NEAREST, first + own_rows[0], INTRA),
        ):
            nearest_columns = np.argsort(-cosines, axis=1, kind="stable")[:, :limit]
            values = np.take_along_axis(cosines, nearest_columns, axis=1)
            targets = np.broadcast_to((first + own_rows)[:, None], nearest_columns.shape)
            is_kept = values > 0
            edge_groups.append((nearest_columns[is_kept] + offset, targets[is_kept], values[is_kept], kind))
    sources, ends, weights = (np.concatenate(column) for column in list(zip(*edge_groups, strict=True))[:3])
    kinds = np.concatenate([np.full(len(item[0]), item[3], np.int8) for item in edge_groups])
    return sources.astype(np.int32), ends.astype(np.int32), weights.astype(np.float32), kinds
