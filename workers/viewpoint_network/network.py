"""Graph network from the paper's equations 3 and 4, and its input tensors. Imports torch."""

import warnings
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays
from workers.viewpoint_network.settings import Architecture

with warnings.catch_warnings():
    # torch_geometric compiles some functions, which are not used here, in a way that torch has deprecated.
    warnings.filterwarnings("ignore", ".*torch.jit", DeprecationWarning)
    from torch_geometric.nn import SimpleConv, global_max_pool, global_mean_pool


class _Layer(nn.Module):  # type: ignore[misc]  # mypy does not read the types of torch
    """Layer that computes `U · concat(mean over neighbours q of relu(w · W h_q), h)`. The edge weight w is positive, so
    it can be applied after the relu."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.send = nn.Linear(width, hidden, bias=False)
        self.join = nn.Linear(hidden + width, hidden)
        self.gather = SimpleConv(aggr="sum")

    def forward(self, nodes: Tensor, adjacency: Tensor) -> Tensor:
        received = self.gather(torch.relu(self.send(nodes)), adjacency)
        joined: Tensor = self.join(torch.cat([received, nodes], dim=1))
        return joined


class ViewpointNetwork(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, classes: int, architecture: Architecture) -> None:
        """Create the network. `width` is the number of input features per viewpoint."""
        super().__init__()
        hidden = architecture.hidden
        widths = [width] + [hidden] * (architecture.layers - 1)
        self.layers = nn.ModuleList(_Layer(item, hidden) for item in widths)
        self.dropout = nn.Dropout(architecture.dropout)
        self.head = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.ReLU(), self.dropout, nn.Linear(hidden, classes))

    def forward(self, nodes: Tensor, adjacency: Tensor, scored_nodes: Tensor, owners: Tensor) -> Tensor:
        """Return logits (ideas, classes). `adjacency` is as in `GraphTensors`; `scored_nodes` (k,) are viewpoint rows;
        `owners` (k,) are their ideas, ascending from 0."""
        for layer in self.layers:
            nodes = self.dropout(torch.relu(layer(nodes, adjacency)))
        scored_states = nodes[scored_nodes]
        pooled = torch.cat([global_mean_pool(scored_states, owners), global_max_pool(scored_states, owners)], dim=1)
        logits: Tensor = self.head(pooled)
        return logits


_DAYS_PER_DECADE = 3652.5


class GraphTensors(NamedTuple):
    fixed: Tensor
    """Input features (n, …) that the architecture uses: vectors, whether a date is known, and decades since `epoch`."""
    idea_of: Tensor
    adjacency: Tensor
    """Adjacency matrix (n, n) in compressed rows: row = target, column = source. Weights are divided by the row's
    number of edges, so that multiplication yields the mean over neighbours."""


def build_graph_tensors(graph: GraphArrays, architecture: Architecture, epoch: int, device: str) -> GraphTensors:
    """Build a graph's tensors. `epoch` is the day from which time is counted, as in the network's training."""
    columns = [graph.vectors] if architecture.reads_vectors else [graph.vectors[:, :0]]
    if architecture.reads_dates:
        dated = graph.dates != UNKNOWN
        decades = np.where(dated, (graph.dates - epoch) / _DAYS_PER_DECADE, 0)
        columns.append(np.stack([dated, decades], axis=1).astype(np.float32)[graph.idea_of])
    return GraphTensors(
        fixed=torch.from_numpy(np.concatenate(columns, axis=1)).to(device),
        idea_of=torch.from_numpy(graph.idea_of.astype(np.int64)).to(device),
        adjacency=_build_adjacency(graph).to(device),
    )


def _build_adjacency(graph: GraphArrays) -> Tensor:
    nodes = len(graph.vectors)
    degrees = np.bincount(graph.targets, minlength=nodes)
    ends = torch.from_numpy(np.stack([graph.targets, graph.sources]).astype(np.int64))
    values = torch.from_numpy((graph.weights / degrees[graph.targets]).astype(np.float32))
    entries = torch.sparse_coo_tensor(ends, values, (nodes, nodes), check_invariants=True)
    with warnings.catch_warnings():
        # torch warns on each use that CSR is in beta. Layers would convert another format at every step.
        warnings.filterwarnings("ignore", "Sparse", UserWarning)
        return entries.coalesce().to_sparse_csr()


def build_network_inputs(tensors: GraphTensors, labels: Tensor, classes: int, architecture: Architecture) -> Tensor:
    """Return the input features (n, width). `labels` (i,) must be UNKNOWN for ideas whose labels are to be
    predicted."""
    if not architecture.reads_labels:
        return tensors.fixed
    viewpoint_labels = labels[tensors.idea_of]
    columns = torch.nn.functional.one_hot(viewpoint_labels.clamp(min=0), classes) * (
        viewpoint_labels != UNKNOWN
    ).unsqueeze(1)
    return torch.cat([tensors.fixed, columns.to(tensors.fixed.dtype)], dim=1)


def find_viewpoints_of_ideas(
    graph: GraphArrays, rows: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the viewpoints of the ideas in `rows`, grouped by idea, and, for each viewpoint, its idea's position in
    `rows`. Ideas without viewpoints are skipped."""
    starts = np.searchsorted(graph.idea_of, rows, side="left")
    ends = np.searchsorted(graph.idea_of, rows, side="right")
    nodes = np.concatenate(
        [np.arange(start, end) for start, end in zip(starts, ends, strict=True)] or [np.empty(0, np.int64)]
    )
    return nodes.astype(np.int64), np.repeat(np.arange(len(rows)), ends - starts).astype(np.int64)


def compute_input_width(dimensions: int, classes: int, architecture: Architecture) -> int:
    vectors = dimensions * architecture.reads_vectors
    return vectors + 2 * architecture.reads_dates + classes * architecture.reads_labels
