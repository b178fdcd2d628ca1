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
        checkpoint.refuse_other(embedding, checkpoint.description.classes)
        self._checkpoint = checkpoint
        self._embedding = embedding
        self._device = choose_device(device, torch)
        self._networks = [network.to(self._device) for network in checkpoint.networks()]

    @property
    def name(self) -> str:
        made = self._checkpoint.description.provenance.made_at
        return f"GraphEval-GNN of {made:%Y-%m-%d %H:%M}"

    def score(self, graph: GraphArrays, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return class probabilities (ideas, classes); NaN for an idea without viewpoints."""
        import torch

        from workers.viewpoint_network.network import find_viewpoints_of_ideas, graph_tensors, network_inputs

        description = self._checkpoint.description
        self._checkpoint.refuse_other(self._embedding, graph.classes)
        scores = np.full((len(rows), len(description.classes)), np.nan)
        nodes, owners = find_viewpoints_of_ideas(graph, rows)
        if not len(nodes):
            return scores
        architecture = description.settings.architecture
        extractor = SubgraphExtractor(graph.hide_labels(rows), architecture.layers)
        nearby_nodes = extractor.find_nodes_within(nodes, architecture.layers)
        part = extractor.extract(nearby_nodes)
        tensors = graph_tensors(part, architecture, description.epoch, self._device)
        labels = torch.from_numpy(part.labels.astype(np.int64)).to(self._device)
        answered, places = np.unique(owners, return_inverse=True)
        asked = torch.from_numpy(np.searchsorted(nearby_nodes, nodes)).to(self._device)
        groups = torch.from_numpy(places.astype(np.int64)).to(self._device)
        features = network_inputs(tensors, labels, len(description.classes), architecture)
        with torch.inference_mode():
            logits = [network(features, tensors.adjacency, asked, groups) for network in self._networks]
            probabilities = torch.stack([torch.softmax(logit.double(), dim=1) for logit in logits]).mean(dim=0)
        scores[answered] = probabilities.cpu().numpy()
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
