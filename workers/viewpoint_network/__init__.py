"""GraphEval-GNN: training, checkpoints and scoring. Importing this package does not import torch."""

from workers.viewpoint_network.checkpoint import Checkpoint, CheckpointDescription, load_checkpoint, save_checkpoint
from workers.viewpoint_network.scorer import FreshNetwork, NetworkScorer
from workers.viewpoint_network.settings import TrainingSettings
from workers.viewpoint_network.training import EpochProgress, train_network

__all__ = [
    "Checkpoint",
    "CheckpointDescription",
    "EpochProgress",
    "FreshNetwork",
    "NetworkScorer",
    "TrainingSettings",
    "load_checkpoint",
    "save_checkpoint",
    "train_network",
]
