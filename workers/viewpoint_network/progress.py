"""What training tells while it runs."""

from typing import NamedTuple

__all__ = ["Epoch"]


class Epoch(NamedTuple):
    """Told after each epoch."""

    member: int
    members: int
    epoch: int
    epochs: int
    loss: float
    validation_loss: float
    best: float
    """Lowest validation loss so far."""
