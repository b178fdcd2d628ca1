"""A viewpoint graph as tensors."""

import warnings
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assayer.methods.grapheval.arrays import UNKNOWN, GraphArrays
from workers.viewpoint_network.settings import Architecture

__all__ = ["GraphTensors", "asked_viewpoints", "inputs", "on_device", "width"]

_DAYS_A_DECADE = 3652.5


class GraphTensors(NamedTuple):
    fixed: Tensor
    """(n, …): vectors, and whether there is a date and decades since `epoch`, as far as they are read."""
    idea_of: Tensor
    adjacency: Tensor
    """(n, n) in compressed rows; row = target, column = source; weights divided by the row's number of edges, so a
    product with it is the mean over neighbours."""


def on_device(graph: GraphArrays, architecture: Architecture, epoch: int, device: str) -> GraphTensors:
    """`epoch` is the day from which time is counted; the network was trained with it."""
    columns = [graph.vectors] if architecture.reads_vectors else [graph.vectors[:, :0]]
    if architecture.reads_dates:
        dated = graph.dates != UNKNOWN
        decades = np.where(dated, (graph.dates - epoch) / _DAYS_A_DECADE, 0)
        columns.append(np.stack([dated, decades], axis=1).astype(np.float32)[graph.idea_of])
    return GraphTensors(
        fixed=torch.from_numpy(np.concatenate(columns, axis=1)).to(device),
        idea_of=torch.from_numpy(graph.idea_of.astype(np.int64)).to(device),
        adjacency=_adjacency(graph).to(device),
    )


def _adjacency(graph: GraphArrays) -> Tensor:
    nodes = len(graph.vectors)
    degrees = np.bincount(graph.targets, minlength=nodes)
    ends = torch.from_numpy(np.stack([graph.targets, graph.sources]).astype(np.int64))
    values = torch.from_numpy((graph.weights / degrees[graph.targets]).astype(np.float32))
    entries = torch.sparse_coo_tensor(ends, values, (nodes, nodes), check_invariants=True)
    with warnings.catch_warnings():
        # torch calls CSR a beta each time; it is what the layers take without converting it at every step.
        warnings.filterwarnings("ignore", "Sparse", UserWarning)
        return entries.coalesce().to_sparse_csr()


def inputs(tensors: GraphTensors, labels: Tensor, classes: int, architecture: Architecture) -> Tensor:
    """(n, width). `labels` (i,), UNKNOWN for those that the network must not see."""
    if not architecture.reads_labels:
        return tensors.fixed
    seen = labels[tensors.idea_of]
    columns = torch.nn.functional.one_hot(seen.clamp(min=0), classes) * (seen != UNKNOWN).unsqueeze(1)
    return torch.cat([tensors.fixed, columns.to(tensors.fixed.dtype)], dim=1)


def asked_viewpoints(graph: GraphArrays, rows: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Viewpoints of some ideas, and for each the place of its idea in `rows`; grouped by idea.

    Ideas without viewpoints are missing."""
    starts = np.searchsorted(graph.idea_of, rows, side="left")
    ends = np.searchsorted(graph.idea_of, rows, side="right")
    nodes = np.concatenate([np.arange(a, b) for a, b in zip(starts, ends, strict=True)] or [np.empty(0, np.int64)])
    return nodes.astype(np.int64), np.repeat(np.arange(len(rows)), ends - starts).astype(np.int64)


def width(dimensions: int, classes: int, architecture: Architecture) -> int:
    vectors = dimensions * architecture.reads_vectors
    return vectors + 2 * architecture.reads_dates + classes * architecture.reads_labels
