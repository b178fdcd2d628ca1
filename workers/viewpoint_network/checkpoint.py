"""Save and load a trained network: weights and their provenance in one safetensors file, a format that cannot contain
code."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, ValidationError

from assayer.errors import ConfigurationError, InputError
from assayer.methods.grapheval.scoring.calibration import TrainingProvenance
from assayer.models import Frozen
from workers.viewpoint_network.settings import TrainingSettings

if TYPE_CHECKING:
    from torch import Tensor

    from workers.viewpoint_network.network import ViewpointNetwork

_METADATA_KEY = "assayer-viewpoint-network"


class MemberRecord(Frozen):
    """Training record of one network in the ensemble."""

    seed: int
    epochs: int
    """Number of epochs until training stopped. The weights are those of the best epoch."""
    best_epoch: int
    validation_loss: float
    validation_ideas: int


class CheckpointDescription(Frozen):
    """A checkpoint's data except its weights."""

    version: int = Field(default=1, ge=1, le=1)
    classes: tuple[str, ...] = Field(min_length=2)
    dimensions: int
    """Dimensions of the viewpoint vectors."""
    epoch: int
    """Day from which time features are counted."""
    settings: TrainingSettings
    members: tuple[MemberRecord, ...]
    provenance: TrainingProvenance


@dataclass(frozen=True)
class Checkpoint:
    description: CheckpointDescription
    weights: tuple["dict[str, Tensor]", ...]
    """State dictionaries, one per ensemble member, on the CPU."""

    def build_networks(self) -> "list[ViewpointNetwork]":
        """Return the networks, ready to score. Raises ConfigurationError if the weights do not fit the description."""
        from workers.viewpoint_network.network import ViewpointNetwork, compute_input_width

        description, networks = self.description, []
        architecture = description.settings.architecture
        for state in self.weights:
            classes = len(description.classes)
            network = ViewpointNetwork(
                compute_input_width(description.dimensions, classes, architecture), classes, architecture
            )
            try:
                network.load_state_dict(state)
            except RuntimeError as error:
                raise ConfigurationError("The checkpoint's weights do not fit its own description.") from error
            networks.append(network.eval())
        return networks

    def check_compatible(self, embedding: str, classes: tuple[str, ...]) -> None:
        """Raise ConfigurationError unless the graph to be scored has the embedding and classes used in training."""
        trained_embedding = self.description.provenance.embedding
        if embedding != trained_embedding:
            raise ConfigurationError(
                f"The network was trained on viewpoints embedded with {trained_embedding!r}, but this graph uses "
                f"{embedding!r}.",
                "Train it again on this graph (`assayer graph train`), or use the embedding it was trained with.",
            )
        if classes != self.description.classes:
            raise ConfigurationError(
                f"The network predicts {', '.join(self.description.classes)}, but this graph's labels are "
                f"{', '.join(classes) or 'none'}.",
                "Train it again on this graph: `assayer graph train`.",
            )


def save_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    from safetensors.torch import save_file

    tensors = {
        f"{member}.{name}": tensor.contiguous()
        for member, state in enumerate(checkpoint.weights)
        for name, tensor in state.items()
    }
    partial = path.with_name(path.name + ".partial")
    save_file(tensors, partial, metadata={_METADATA_KEY: checkpoint.description.model_dump_json()})
    partial.replace(path)


def load_checkpoint(path: Path) -> Checkpoint:
    """Load a checkpoint. Raises InputError if the file is not a checkpoint of this program."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - the file is no mapping
    except (OSError, SafetensorError) as error:
        raise InputError(f"{path} cannot be read as a checkpoint: {error}") from error
    try:
        description = CheckpointDescription.model_validate(json.loads(metadata[_METADATA_KEY]))
    except (KeyError, ValueError, ValidationError) as error:
        raise InputError(
            f"{path} is a safetensors file, but not a viewpoint network of this version.",
            "Create one with `assayer graph train`.",
        ) from error
    states: list[dict[str, Tensor]] = [{} for _ in description.members]
    for key, tensor in tensors.items():
        member, _, name = key.partition(".")
        if not member.isdigit() or int(member) >= len(states):
            raise InputError(f"{path} is damaged: its weights do not match the network described in it.")
        states[int(member)][name] = tensor
    return Checkpoint(description, tuple(states))
