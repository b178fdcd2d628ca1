"""Trains an ensemble of viewpoint networks on the labelled ideas of a graph."""

from collections.abc import Callable

import numpy as np

from assayer.errors import InputError
from assayer.methods.grapheval.arrays import UNKNOWN, GraphArrays
from assayer.methods.grapheval.baselines import two_classes
from assayer.methods.grapheval.calibration import Provenance
from assayer.methods.grapheval.fabrication import with_negatives
from workers.viewpoint_network.checkpoint import Checkpoint, Description
from workers.viewpoint_network.devices import chosen_device, quiet_torch
from workers.viewpoint_network.progress import Epoch
from workers.viewpoint_network.settings import TrainingSettings

__all__ = ["FEWEST_IDEAS", "train"]

FEWEST_IDEAS = 20
_NOBODY = np.empty(0, np.int32)


def train(
    graph: GraphArrays,
    settings: TrainingSettings,
    provenance: Provenance,
    progress: Callable[[Epoch], None] = lambda _: None,
) -> Checkpoint:
    """Raises InputError when there is too little to learn from, ConfigurationError without the extra `gnn`.

    The same graph and settings give the same weights on the same machine and number of threads.
    """
    known = two_classes(graph, _NOBODY)
    if len(known) < FEWEST_IDEAS:
        raise InputError(
            f"{len(known)} ideas with a label are too few to train a network: {FEWEST_IDEAS} are needed.",
            "Label propagation needs no training and works with fewer.",
        )
    quiet_torch(settings.threads)
    from workers.viewpoint_network.member import MemberRun

    dated = graph.dates[graph.dates != UNKNOWN]
    epoch = int(np.median(dated)) if len(dated) else 0
    if settings.negatives:
        graph = with_negatives(graph, settings.negatives, settings.seed)
    device = chosen_device(settings.device)
    runs = [MemberRun(graph, settings, epoch, device, member, progress) for member in range(settings.members)]
    trained = [run.train() for run in runs]
    description = Description(
        classes=graph.classes,
        dimensions=graph.vectors.shape[1],
        epoch=epoch,
        settings=settings,
        members=tuple(member for member, _ in trained),
        provenance=provenance,
    )
    return Checkpoint(description, tuple(weights for _, weights in trained))
