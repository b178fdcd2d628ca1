"""Implementations of `assayer.methods.grapheval.ports.Scorer`: a trained network, and one that is trained for each
request."""

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import GraphArrays
from assayer.methods.grapheval.graph.subgraph import SubgraphExtractor
from assayer.methods.grapheval.scoring.calibration import TrainingProvenance
from workers.torch_runtime import Device, choose_device, import_torch_geometric
from workers.viewpoint_network.checkpoint import Checkpoint
from workers.viewpoint_network.settings import TrainingSettings
from workers.viewpoint_network.training import train_network


class NetworkScorer:
    """Scores ideas with a trained network, using only the part of the graph that can affect their viewpoints. Raises
    ConfigurationError if the graph has a different embedding or different classes."""

    def __init__(self, checkpoint: Checkpoint, embedding: str, device: Device = "auto") -> None:
        """Create a scorer. `embedding` names the embedder used for the graphs to be scored."""
        torch = import_torch_geometric(checkpoint.description.settings.threads)
        checkpoint.check_compatible(embedding, checkpoint.description.classes)
        self._checkpoint = checkpoint
        self._embedding = embedding
        self._device = choose_device(device, torch)
        self._networks = [network.to(self._device) for network in checkpoint.build_networks()]

    @property
    def name(self) -> str:
        made_at = self._checkpoint.description.provenance.made_at
        return f"GraphEval-GNN of {made_at:%Y-%m-%d %H:%M}"

    def score(self, graph: GraphArrays, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return class probabilities (ideas, classes); NaN for an idea without viewpoints."""
        import torch

        from workers.viewpoint_network.network import (
            build_graph_tensors,
            build_network_inputs,
            find_viewpoints_of_ideas,
        )

        description = self._checkpoint.description
        self._checkpoint.check_compatible(self._embedding, graph.classes)
        scores = np.full((len(rows), len(description.classes)), np.nan)
        nodes, owners = find_viewpoints_of_ideas(graph, rows)
        if not len(nodes):
            return scores
        architecture = description.settings.architecture
        extractor = SubgraphExtractor(graph.hide_labels(rows), architecture.layers)
        nearby_nodes = extractor.find_nodes_within(nodes, architecture.layers)
        part = extractor.extract(nearby_nodes)
        tensors = build_graph_tensors(part, architecture, description.epoch, self._device)
        labels = torch.from_numpy(part.labels.astype(np.int64)).to(self._device)
        scored_rows, positions = np.unique(owners, return_inverse=True)
        scored_nodes = torch.from_numpy(np.searchsorted(nearby_nodes, nodes)).to(self._device)
        groups = torch.from_numpy(positions.astype(np.int64)).to(self._device)
        features = build_network_inputs(tensors, labels, len(description.classes), architecture)
        with torch.inference_mode():
            logits = [network(features, tensors.adjacency, scored_nodes, groups) for network in self._networks]
            probabilities = torch.stack([torch.softmax(logit.double(), dim=1) for logit in logits]).mean(dim=0)
        scores[scored_rows] = probabilities.cpu().numpy()
        return scores


class FreshNetwork:
    """Scores ideas with a network that is trained on the other ideas' labels for each request. Meant for benchmarks,
    not for serving."""

    name = "GraphEval-GNN"

    def __init__(self, settings: TrainingSettings, provenance: TrainingProvenance) -> None:
        self._settings = settings
        self._provenance = provenance

    def score(self, graph: GraphArrays, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        checkpoint = train_network(graph.hide_labels(rows), self._settings, self._provenance)
        scorer = NetworkScorer(checkpoint, self._provenance.embedding, self._settings.device)
        return scorer.score(graph, rows)
