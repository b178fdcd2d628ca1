"""The subgraph around an idea: everything that a few rounds of propagation or a two-layer network can reach."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import INTER, INTRA, UNKNOWN, GraphArrays, build_undirected_edges
from assayer.methods.grapheval.graph.growth import EdgeEnds
from assayer.methods.grapheval.ports import NearestViewpoints, Scorer
from assayer.models import IdeaId
from assayer.ports import Vectors

Sparse = sp.csr_array[np.float64, tuple[int, int]]


@dataclass(frozen=True)
class SubgraphExtractor:
    """Extracts subgraphs around viewpoints. Prepare it once and use it for many queries."""

    graph: GraphArrays
    hops: int

    @cached_property
    def _adjacency(self) -> Sparse:
        return self.graph.build_adjacency()

    def find_nodes_within(
        self, nodes: NDArray[np.integer], hops: int, allowed: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """Return the viewpoints at most `hops` edges away from `nodes`, including `nodes` themselves, in ascending
        order. `allowed`, shape (viewpoints,), restricts the search to some viewpoints."""
        is_reached = np.zeros(len(self.graph.vectors), np.bool_)
        is_reached[nodes] = True
        frontier = np.asarray(nodes)
        for _ in range(hops):
            neighbours = np.unique(self._adjacency[frontier].indices)
            frontier = neighbours[~is_reached[neighbours]]
            if allowed is not None:
                frontier = frontier[allowed[frontier]]
            is_reached[frontier] = True
        return np.flatnonzero(is_reached)

    def extract(self, nodes: NDArray[np.int64]) -> GraphArrays:
        """Return the subgraph that consists of the viewpoints in `nodes`, which must be ascending and unique. Ideas
        without any of these viewpoints are left out. The time needed does not grow with the graph."""
        graph = self.graph
        edges = self._adjacency[nodes][:, nodes].tocoo()
        rows, idea_of = np.unique(graph.idea_of[nodes], return_inverse=True)
        sources, targets = edges.coords[1].astype(np.int32), edges.coords[0].astype(np.int32)
        return GraphArrays(
            vectors=graph.vectors[nodes],
            idea_of=idea_of.astype(np.int32),
            ideas=tuple(graph.ideas[row] for row in rows),
            labels=graph.labels[rows],
            dates=graph.dates[rows],
            classes=graph.classes,
            sources=sources,
            targets=targets,
            weights=edges.data.astype(np.float32),
            kinds=np.where(idea_of[sources] == idea_of[targets], INTRA, INTER).astype(np.int8),
        )


@dataclass(frozen=True)
class IdeaSubgraph:
    """A subgraph with an idea inserted as its last one."""

    graph: GraphArrays
    row: int
    """The inserted idea's row."""

    @classmethod
    def extract(
        cls,
        extractor: SubgraphExtractor,
        neighbours: NearestViewpoints,
        vectors: Vectors,
        inner_edges: EdgeEnds,
        day: int,
        allowed: NDArray[np.bool_],
    ) -> "IdeaSubgraph":
        """Extract the subgraph around an idea, and insert the idea. `neighbours` holds the neighbours in the graph of
        each of the idea's `vectors`; `inner_edges` holds the edges within the idea."""
        is_hit = neighbours.rows >= 0
        # The idea's neighbours are already one hop away from it.
        nodes = extractor.find_nodes_within(np.unique(neighbours.rows[is_hit]), extractor.hops - 1, allowed)
        extracted_graph = extractor.extract(nodes)
        first, own_count = len(nodes), len(vectors)
        idea_of = np.append(extracted_graph.idea_of, np.full(own_count, len(extracted_graph.ideas), np.int32))
        added_edges = build_undirected_edges(
            np.concatenate([np.repeat(np.arange(own_count), is_hit.sum(axis=1)) + first, inner_edges[0] + first]),
            np.concatenate([np.searchsorted(nodes, neighbours.rows[is_hit]), inner_edges[1] + first]),
            np.concatenate([neighbours.cosines[is_hit], inner_edges[2]]),
            idea_of,
        )
        graph = GraphArrays(
            vectors=np.concatenate([extracted_graph.vectors, vectors]),
            idea_of=idea_of,
            ideas=(*extracted_graph.ideas, IdeaId("")),
            labels=np.append(extracted_graph.labels, np.int16(UNKNOWN)),
            dates=np.append(extracted_graph.dates, np.int32(day)),
            classes=extracted_graph.classes,
            sources=np.concatenate([extracted_graph.sources, added_edges.sources]),
            targets=np.concatenate([extracted_graph.targets, added_edges.targets]),
            weights=np.concatenate([extracted_graph.weights, added_edges.weights]),
            kinds=np.concatenate([extracted_graph.kinds, added_edges.kinds]),
        )
        return cls(graph, len(extracted_graph.ideas))

    def score(self, scorer: Scorer) -> NDArray[np.float64]:
        """Return the idea's scores, shape (classes,)."""
        scores: NDArray[np.float64] = scorer.score(self.graph, np.array([self.row], np.int32))[0]
        return scores


def remove_viewpoint(subgraph: IdeaSubgraph, place: int) -> IdeaSubgraph:
    """Return the subgraph without one of the idea's viewpoints. The idea must have others."""
    graph = subgraph.graph
    row = int(np.searchsorted(graph.idea_of, subgraph.row)) + place
    kept_edges = (graph.sources != row) & (graph.targets != row)
    sources, targets = graph.sources[kept_edges], graph.targets[kept_edges]
    smaller = replace(
        graph,
        vectors=np.delete(graph.vectors, row, axis=0),
        idea_of=graph.idea_of[:-1],
        sources=sources - (sources > row),
        targets=targets - (targets > row),
        weights=graph.weights[kept_edges],
        kinds=graph.kinds[kept_edges],
    )
    return IdeaSubgraph(smaller, subgraph.row)


@dataclass(frozen=True)
class LocalScorer:
    """Scorer that applies another scorer only to the subgraph around each idea, as is done for ideas outside the graph.
    Calibrations are fitted to its scores."""

    scorer: Scorer
    hops: int

    @property
    def name(self) -> str:
        return f"{self.scorer.name}, {self.hops} hops around the idea"

    def score(self, graph: GraphArrays, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        extractor = SubgraphExtractor(graph.hide_labels(rows), self.hops)
        scores = np.full((len(rows), len(graph.classes)), np.nan)
        for index, row in enumerate(rows):
            own_viewpoints = np.flatnonzero(graph.idea_of == row)
            if len(own_viewpoints):
                extracted_graph = extractor.extract(extractor.find_nodes_within(own_viewpoints, self.hops))
                extracted_row = np.array([extracted_graph.ideas.index(graph.ideas[row])], np.int32)
                scores[index] = self.scorer.score(extracted_graph, extracted_row)[0]
        return scores
