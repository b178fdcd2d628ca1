"""Settings for building and training a network. Defaults are the paper's, where it states them."""

from pydantic import Field

from assayer.models import Frozen
from workers.torch_runtime import Device


class Architecture(Frozen):
    """Settings needed to rebuild a network from its checkpoint."""

    hidden: int = Field(default=64, ge=1)
    layers: int = Field(default=2, ge=1, le=4)
    dropout: float = Field(default=0.3, ge=0, lt=1)
    """Dropout rate. Not in the paper, but with only a few hundred ideas the network overfits without it."""
    reads_vectors: bool = True
    reads_labels: bool = True
    """Whether a viewpoint's input includes its idea's label, except for ideas that are being scored. Labels added later
    thus also improve a network trained earlier."""
    reads_dates: bool = True


class TrainingSettings(Frozen):
    architecture: Architecture = Architecture()
    rate: float = Field(default=1e-3, gt=0)
    """Initial learning rate, which decreases linearly to 0 over `epochs`."""
    weight_decay: float = Field(default=1e-3, ge=0)
    batch: int = Field(default=64, ge=1)
    """Number of ideas per batch. Their labels are masked and predicted together."""
    epochs: int = Field(default=1000, ge=1)
    patience: int = Field(default=30, ge=1)
    """Number of epochs without a lower validation loss before training stops."""
    validation: float = Field(default=0.15, gt=0, lt=0.5)
    """Share of the labelled ideas that each member holds out for early stopping."""
    members: int = Field(default=3, ge=1)
    """Number of networks whose probabilities are averaged. Each has its own initial weights and validation set."""
    negatives: int = Field(default=0, ge=0)
    """Number of artificial plagiarised ideas added for training, labelled with the worst class."""
    seed: int = 0
    device: Device = "auto"
    threads: int = Field(default=2, ge=1)
    """Number of CPU threads for torch."""
