"""Train one network in the ensemble. Imports torch; `training` imports this module only when needed."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays
from workers.viewpoint_network.checkpoint import MemberRecord
from workers.viewpoint_network.network import (
    GraphTensors,
    ViewpointNetwork,
    build_graph_tensors,
    build_network_inputs,
    compute_input_width,
    find_viewpoints_of_ideas,
)
from workers.viewpoint_network.settings import TrainingSettings
from workers.viewpoint_network.training import EpochProgress


class MemberTrainer:
    """Trains one network from random initial weights, and keeps the weights with the lowest validation loss."""

    def __init__(
        self,
        graph: GraphArrays,
        settings: TrainingSettings,
        epoch: int,
        device: str,
        member: int,
        progress: Callable[[EpochProgress], None],
    ) -> None:
        self._graph, self._settings, self._member, self._progress = graph, settings, member, progress
        self._device = device
        self._seed = settings.seed * 1000 + member
        self._random = np.random.default_rng(self._seed)
        self._training_rows, self._validation_rows = _split_rows(graph, settings.validation, self._random)
        architecture, classes = settings.architecture, len(graph.classes)
        with torch.random.fork_rng():
            torch.manual_seed(self._seed)
            self._network: ViewpointNetwork = ViewpointNetwork(
                compute_input_width(graph.vectors.shape[1], classes, architecture), classes, architecture
            ).to(device)
        self._tensors: GraphTensors = build_graph_tensors(graph, architecture, epoch, device)
        self._labels = torch.from_numpy(graph.labels.astype(np.int64)).to(device)
        self._visible_labels = self._labels.clone()
        self._visible_labels[torch.from_numpy(self._validation_rows.astype(np.int64)).to(device)] = UNKNOWN

    def train(self) -> tuple[MemberRecord, dict[str, Tensor]]:
        settings, best_loss, best_epoch, weights = self._settings, float("inf"), 0, self._copy_weights()
        optimiser = torch.optim.Adam(self._network.parameters(), lr=settings.rate, weight_decay=settings.weight_decay)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda epoch: 1 - epoch / settings.epochs)
        epoch = 0
        with torch.random.fork_rng():
            torch.manual_seed(self._seed)
            for epoch in range(1, settings.epochs + 1):
                losses = [self._train_batch(rows, optimiser) for rows in self._draw_batches()]
                schedule.step()
                loss = self._compute_validation_loss()
                if loss < best_loss:
                    best_loss, best_epoch, weights = loss, epoch, self._copy_weights()
                self._progress(
                    EpochProgress(
                        self._member, settings.members, epoch, settings.epochs, float(np.mean(losses)), loss, best_loss
                    )
                )
                if epoch - best_epoch >= settings.patience:
                    break
        member = MemberRecord(
            seed=self._seed,
            epochs=epoch,
            best_epoch=best_epoch,
            validation_loss=best_loss,
            validation_ideas=len(self._validation_rows),
        )
        return member, weights

    def _draw_batches(self) -> Iterator[NDArray[np.int32]]:
        shuffled = self._random.permutation(self._training_rows)
        for start in range(0, len(shuffled), self._settings.batch):
            yield np.sort(shuffled[start : start + self._settings.batch])

    def _train_batch(self, rows: NDArray[np.int32], optimiser: torch.optim.Optimizer) -> float:
        self._network.train()
        optimiser.zero_grad()
        loss = self._compute_loss(rows)
        loss.backward()
        optimiser.step()
        return float(loss.detach())

    def _compute_validation_loss(self) -> float:
        self._network.eval()
        with torch.no_grad():
            return float(self._compute_loss(self._validation_rows))

    def _compute_loss(self, rows: NDArray[np.int32]) -> Tensor:
        """Return a batch's loss, with the labels of its ideas masked in the input."""

        ideas = torch.from_numpy(rows.astype(np.int64)).to(self._device)
        visible_labels = self._visible_labels.clone()
        visible_labels[ideas] = UNKNOWN
        architecture, classes = self._settings.architecture, len(self._graph.classes)
        nodes, owners = (
            torch.from_numpy(viewpoint).to(self._device) for viewpoint in find_viewpoints_of_ideas(self._graph, rows)
        )
        features = build_network_inputs(self._tensors, visible_labels, classes, architecture)
        logits = self._network(features, self._tensors.adjacency, nodes, owners)
        return torch.nn.functional.cross_entropy(logits, self._labels[ideas])

    def _copy_weights(self) -> dict[str, Tensor]:
        return {name: tensor.detach().cpu().clone() for name, tensor in self._network.state_dict().items()}


def _split_rows(
    graph: GraphArrays, share: float, random: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Split the labelled ideas with viewpoints into training and validation rows, with the same share from every
    class."""
    has_viewpoints = np.bincount(graph.idea_of, minlength=len(graph.ideas)) > 0
    training, validation = [], []
    for label in range(len(graph.classes)):
        rows = random.permutation(np.flatnonzero((graph.labels == label) & has_viewpoints))
        validation_count = round(share * len(rows))
        validation.append(rows[:validation_count])
        training.append(rows[validation_count:])
    return np.concatenate(training).astype(np.int32), np.sort(np.concatenate(validation)).astype(np.int32)
