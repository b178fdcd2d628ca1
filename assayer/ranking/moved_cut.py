"""A ranking cut anew: who is clearly in, needs a human decision, is clearly out, and what the cut would lose."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from assayer.models.ranking import Band, Ranking

__all__ = ["MovedCut", "StrengthIntervals", "at_cut", "band_of", "strengths_of"]

_DRAWS = 400
_SEED = 0


class StrengthIntervals(NamedTuple):
    """What a cut is computed from: the ideas of a ranking in columns, best first."""

    strengths: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    chances: Sequence[float | None]
    """Of being among the best `cut`, as the ranking states them."""
    cut: int | None
    confidence: float


class MovedCut(NamedTuple):
    cut: int
    chances: NDArray[np.float64]
    """Of each to be truly among the best `cut`, if the model of the judge holds; best first."""
    bands: tuple[Band, ...]
    approximate: bool
    """Whether chances were drawn from each idea's own interval, as if they were independent, and not from all of the
    comparisons together."""

    @property
    def lost_by_order(self) -> float:
        """How many of the truly best `cut` are expected beyond it, where the first `cut` are taken as they stand."""
        return float(self.chances[self.cut :].sum())

    @property
    def lost_by_bands(self) -> float:
        """The same, where people read everything between the certain ones and miss nothing in it."""
        return float(self.chances[self.of_band("out")].sum())

    def of_band(self, band: Band) -> list[int]:
        """Places of its ideas, from 0."""
        return [place for place, one in enumerate(self.bands) if one == band]


def strengths_of(ranking: Ranking) -> StrengthIntervals:
    ideas = ranking.ideas
    return StrengthIntervals(
        [one.strength for one in ideas],
        [one.strengths.low for one in ideas],
        [one.strengths.high for one in ideas],
        [one.chance_in for one in ideas],
        ranking.cut,
        ranking.confidence,
    )


def at_cut(ranked: StrengthIntervals, cut: int) -> MovedCut:
    """Takes under a second for 10,000 ideas. At the ranking's own cut the chances are those that it states."""
    stated = [one for one in ranked.chances if one is not None]
    approximate = cut != ranked.cut or len(stated) < len(ranked.chances)
    chances = _drawn(ranked, cut) if approximate else np.array(stated, dtype=np.float64)
    return MovedCut(cut, chances, tuple(band_of(one, ranked.confidence) for one in chances.tolist()), approximate)


def _drawn(ranked: StrengthIntervals, cut: int) -> NDArray[np.float64]:
    """Strengths are normal, as wide as their intervals say."""
    mean = np.array(ranked.strengths)
    spread = (np.array(ranked.highs) - np.array(ranked.lows)) / (2 * ndtri((1 + ranked.confidence) / 2))
    random = np.random.default_rng(_SEED)
    among = np.zeros(len(mean))
    for _ in range(_DRAWS):
        drawn = mean + spread * random.standard_normal(len(mean))
        among[np.argpartition(-drawn, min(cut, len(mean)) - 1)[:cut]] += 1
    chances: NDArray[np.float64] = among / _DRAWS
    return chances


def band_of(chance: float, confidence: float) -> Band:
    """By the chance to be among the best alone: `confidence` or more is in, what is left of 1 or less is out. To nine
    digits, since 1 - 0.9 is a little less than 0.1."""
    if round(chance, 9) >= round(confidence, 9):
        return "in"
    return "out" if round(chance, 9) <= round(1 - confidence, 9) else "human"
