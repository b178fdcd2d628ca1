"""Apply a different cut to a ranking: which ideas are clearly in, clearly out, or need a human decision, and how many
good ideas the cut would lose."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from assayer_client.rankings import Band

_SAMPLES = 400
_SEED = 0


class StrengthIntervals(NamedTuple):
    """Input for applying a cut: a ranking's ideas as columns, best first."""

    strengths: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    chances: Sequence[float | None]
    """Chances of being among the best `cut` ideas, as stated in the ranking."""
    cut: int | None
    confidence: float


class MovedCut(NamedTuple):
    cut: int
    chances: NDArray[np.float64]
    """Probability that each idea is truly among the best `cut`, assuming that the judge model holds; best first."""
    bands: tuple[Band, ...]
    approximate: bool
    """Whether the chances were drawn from each idea's own interval, as if ideas were independent, rather than jointly
    from all comparisons."""

    @property
    def lost_by_order(self) -> float:
        """Expected number of the true top `cut` ideas that are missed by selecting the top `cut` of this ranking."""
        return float(self.chances[self.cut :].sum())

    @property
    def lost_by_bands(self) -> float:
        """Expected number of the true top `cut` ideas that are missed even if people read every idea in the human band
        and overlook no good one."""
        return float(self.chances[self.list_indexes_in_band("out")].sum())

    def list_indexes_in_band(self, band: Band) -> list[int]:
        """Return the positions, counted from 0, of the ideas in a band."""
        return [index for index, item in enumerate(self.bands) if item == band]


def apply_cut(ranked: StrengthIntervals, cut: int) -> MovedCut:
    """Apply a cut to a ranking; takes less than a second for 10,000 ideas. If it is the ranking's own cut, the chances
    stated there are used."""
    stated_chances = [chance for chance in ranked.chances if chance is not None]
    approximate = cut != ranked.cut or len(stated_chances) < len(ranked.chances)
    chances = _draw_chances(ranked, cut) if approximate else np.array(stated_chances, dtype=np.float64)
    return MovedCut(cut, chances, tuple(choose_band(item, ranked.confidence) for item in chances.tolist()), approximate)


def _draw_chances(ranked: StrengthIntervals, cut: int) -> NDArray[np.float64]:
    """Estimate the chances by drawing normally distributed strengths, with spreads derived from the intervals."""
    mean = np.array(ranked.strengths)
    spread = (np.array(ranked.highs) - np.array(ranked.lows)) / (2 * ndtri((1 + ranked.confidence) / 2))
    random = np.random.default_rng(_SEED)
    selected_counts = np.zeros(len(mean))
    for _ in range(_SAMPLES):
        drawn_strengths = mean + spread * random.standard_normal(len(mean))
        selected_counts[np.argpartition(-drawn_strengths, min(cut, len(mean)) - 1)[:cut]] += 1
    chances: NDArray[np.float64] = selected_counts / _SAMPLES
    return chances


def choose_band(chance: float, confidence: float) -> Band:
    """Return the band for a chance of being among the best. `confidence` or more is in; 1 − `confidence` or less is
    out; anything between needs a human decision. Values are compared to nine digits, because 1 - 0.9 is slightly less
    than 0.1."""
    if round(chance, 9) >= round(confidence, 9):
        return "in"
    return "out" if round(chance, 9) <= round(1 - confidence, 9) else "human"
