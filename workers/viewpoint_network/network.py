"""The network of the paper's equations 3 and 4."""

import warnings

import torch
from torch import Tensor, nn

from workers.viewpoint_network.settings import Architecture

with warnings.catch_warnings():
    # torch_geometric compiles some of its functions in a way that torch has deprecated; we do not call these.
    warnings.filterwarnings("ignore", ".*torch.jit", DeprecationWarning)
    from torch_geometric.nn import SimpleConv, global_max_pool, global_mean_pool

__all__ = ["ViewpointNetwork"]


class _Layer(nn.Module):
    """`U · concat(mean over neighbours q of relu(w · W h_q), h)`. Weights are positive, so w may follow the relu."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.send = nn.Linear(width, hidden, bias=False)
        self.join = nn.Linear(hidden + width, hidden)
        self.gather = SimpleConv(aggr="sum")

    def forward(self, nodes: Tensor, adjacency: Tensor) -> Tensor:
        received = self.gather(torch.relu(self.send(nodes)), adjacency)
        joined: Tensor = self.join(torch.cat([received, nodes], dim=1))
        return joined


class ViewpointNetwork(nn.Module):
    def __init__(self, width: int, classes: int, architecture: Architecture) -> None:
        """`width` counts the input features of a viewpoint."""
        super().__init__()
        hidden = architecture.hidden
        widths = [width] + [hidden] * (architecture.layers - 1)
        self.layers = nn.ModuleList(_Layer(one, hidden) for one in widths)
        self.dropout = nn.Dropout(architecture.dropout)
        self.head = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.ReLU(), self.dropout, nn.Linear(hidden, classes))

    def forward(self, nodes: Tensor, adjacency: Tensor, asked: Tensor, owners: Tensor) -> Tensor:
        """Logits (ideas, classes). `adjacency` as in `GraphTensors`; `asked` (k,) are rows of viewpoints, `owners` (k,)
        their ideas, ascending from 0."""
        for layer in self.layers:
            nodes = self.dropout(torch.relu(layer(nodes, adjacency)))
        chosen = nodes[asked]
        pooled = torch.cat([global_mean_pool(chosen, owners), global_max_pool(chosen, owners)], dim=1)
        logits: Tensor = self.head(pooled)
        return logits
