"""GraphEval-GNN: training, checkpoints and the scorer. Importing this package does not import torch."""

from workers.viewpoint_network.checkpoint import Checkpoint, Description, load, save
from workers.viewpoint_network.progress import Epoch
from workers.viewpoint_network.scorer import FreshNetwork, NetworkScorer
from workers.viewpoint_network.settings import TrainingSettings
from workers.viewpoint_network.training import train

__all__ = [
    "Checkpoint",
    "Description",
    "Epoch",
    "FreshNetwork",
    "NetworkScorer",
    "TrainingSettings",
    "load",
    "save",
    "train",
]
