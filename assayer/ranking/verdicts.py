"""What a judge said of pairs of ideas, as arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Ints", "Verdicts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Verdicts:
    """m verdicts over n ideas: rows of the idea shown first and second, and what the first one won."""

    ideas: int
    first: Ints
    second: Ints
    won: Floats
    """1.0 the first is better, 0.0 the second, 0.5 a tie."""

    def __len__(self) -> int:
        return len(self.first)

    @staticmethod
    def none(ideas: int) -> "Verdicts":
        return Verdicts(ideas, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))

    def plus(self, first: Ints, second: Ints, won: Floats) -> "Verdicts":
        return Verdicts(
            self.ideas,
            np.concatenate([self.first, first]),
            np.concatenate([self.second, second]),
            np.concatenate([self.won, won]),
        )

    @property
    def counts(self) -> Ints:
        """Verdicts on each idea."""
        both = np.concatenate([self.first, self.second])
        return np.bincount(both, minlength=self.ideas)
