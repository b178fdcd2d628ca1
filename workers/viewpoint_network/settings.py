"""How a network is built and trained; the defaults are the paper's where it names them."""

from pydantic import Field

from assayer.models import Frozen
from workers.torch_runtime import Device

__all__ = ["Architecture", "TrainingSettings"]


class Architecture(Frozen):
    """What a checkpoint needs to be built again."""

    hidden: int = Field(default=64, ge=1)
    layers: int = Field(default=2, ge=1, le=4)
    dropout: float = Field(default=0.3, ge=0, lt=1)
    """Not in the paper; with some hundred ideas it learns them by heart without it."""
    reads_vectors: bool = True
    reads_labels: bool = True
    """Viewpoints carry the label of their idea as input, unless it is being asked. So a graph that grows informs
    a network that was trained before."""
    reads_dates: bool = True


class TrainingSettings(Frozen):
    architecture: Architecture = Architecture()
    rate: float = Field(default=1e-3, gt=0)
    """Falls to 0 in a straight line over `epochs`."""
    weight_decay: float = Field(default=1e-3, ge=0)
    batch: int = Field(default=64, ge=1)
    """Ideas whose labels are masked and asked at once."""
    epochs: int = Field(default=1000, ge=1)
    patience: int = Field(default=30, ge=1)
    """Epochs without a lower validation loss before training stops."""
    validation: float = Field(default=0.15, gt=0, lt=0.5)
    """Share of the labelled ideas that each member is stopped by and does not learn from."""
    members: int = Field(default=3, ge=1)
    """Networks whose probabilities are averaged, each with its own start and its own validation part."""
    negatives: int = Field(default=0, ge=0)
    """Plagiarised ideas made up for training, labelled with the worst class."""
    seed: int = 0
    device: Device = "auto"
    threads: int = Field(default=2, ge=1)
    """CPU threads of torch."""
