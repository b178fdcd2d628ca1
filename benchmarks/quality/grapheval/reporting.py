"""What all parts of the benchmark share: how it is set up, and how numbers are printed."""

from typing import NamedTuple

from assayer.methods.grapheval.scoring.calibration import TrainingProvenance
from assayer.methods.grapheval.scoring.metrics import Estimate

__all__ = ["Setup", "row", "shown"]


class Setup(NamedTuple):
    provenance: TrainingProvenance
    network: bool
    rounds: int
    """Of the bootstrap."""
    seed: int


def shown(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def row(*cells: str) -> str:
    """Of a Markdown table."""
    return f"| {' | '.join(cells)} |"
