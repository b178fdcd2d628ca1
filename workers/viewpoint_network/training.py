"""Train an ensemble of viewpoint networks on a graph's labelled ideas."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from assayer.errors import InputError
from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays
from assayer.methods.grapheval.scoring.baselines import find_labelled_rows_of_two_classes
from assayer.methods.grapheval.scoring.calibration import TrainingProvenance
from assayer.methods.grapheval.synthetic_plagiarism import add_plagiarised_ideas
from workers.torch_runtime import choose_device, import_torch_geometric
from workers.viewpoint_network.checkpoint import Checkpoint, CheckpointDescription
from workers.viewpoint_network.settings import TrainingSettings


class EpochProgress(NamedTuple):
    """Progress of training, reported after each epoch."""

    member: int
    members: int
    epoch: int
    epochs: int
    loss: float
    validation_loss: float
    best: float
    """Lowest validation loss so far."""


MIN_IDEAS = 20
_NO_IDEAS = np.empty(0, np.int32)


def train_network(
    graph: GraphArrays,
    settings: TrainingSettings,
    provenance: TrainingProvenance,
    progress: Callable[[EpochProgress], None] = lambda _: None,
) -> Checkpoint:
    """Train an ensemble. Raises InputError if there is too little data, ConfigurationError if the extra `gnn` is not
    installed.

    The same graph and settings yield the same weights on the same machine with the same number of threads."""
    labelled_rows = find_labelled_rows_of_two_classes(graph, _NO_IDEAS)
    if len(labelled_rows) < MIN_IDEAS:
        raise InputError(
            f"Training a network needs at least {MIN_IDEAS} labelled ideas; this graph has {len(labelled_rows)}.",
            "Label propagation needs no training and works with fewer ideas.",
        )
    torch = import_torch_geometric(settings.threads)
    from workers.viewpoint_network.ensemble_member import MemberTrainer

    dated = graph.dates[graph.dates != UNKNOWN]
    epoch = int(np.median(dated)) if len(dated) else 0
    if settings.negatives:
        graph = add_plagiarised_ideas(graph, settings.negatives, settings.seed)
    device = choose_device(settings.device, torch)
    trainers = [MemberTrainer(graph, settings, epoch, device, member, progress) for member in range(settings.members)]
    trained = [trainer.train() for trainer in trainers]
    description = CheckpointDescription(
        classes=graph.classes,
        dimensions=graph.vectors.shape[1],
        epoch=epoch,
        settings=settings,
        members=tuple(member for member, _ in trained),
        provenance=provenance,
    )
    return Checkpoint(description, tuple(weights for _, weights in trained))
