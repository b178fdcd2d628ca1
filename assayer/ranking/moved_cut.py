"""A ranking cut anew: who is clearly in, needs a human decision, is clearly out, and what the cut would lose."""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from assayer.models import Frozen
from assayer.models.ranking import Band, RankedIdea, Ranking

__all__ = ["CutIdea", "MovedCut", "at_cut"]

_DRAWS = 400
_SEED = 0


class CutIdea(Frozen):
    idea: RankedIdea
    chance_in: float
    """Of being truly among the best `cut`, if the model of the judge holds."""
    band: Band


class MovedCut(Frozen):
    cut: int
    ideas: tuple[CutIdea, ...]
    """Best first."""
    approximate: bool
    """Whether chances were drawn from each idea's own interval, as if they were independent, and not from all of the
    comparisons together."""

    @property
    def lost_by_order(self) -> float:
        """How many of the truly best `cut` are expected beyond it, where the first `cut` are taken as they stand."""
        return sum(one.chance_in for one in self.ideas[self.cut :])

    @property
    def lost_by_bands(self) -> float:
        """The same, where people read everything between the certain ones and miss nothing in it."""
        return sum(one.chance_in for one in self.ideas if one.band == "out")

    def of_band(self, band: Band) -> tuple[CutIdea, ...]:
        return tuple(one for one in self.ideas if one.band == band)


def at_cut(ranking: Ranking, cut: int) -> MovedCut:
    """Takes under a second for 10,000 ideas. At the ranking's own cut the chances are those that it states."""
    stated = [idea.chance_in for idea in ranking.ideas if idea.chance_in is not None]
    approximate = cut != ranking.cut or len(stated) < len(ranking.ideas)
    chances = _drawn(ranking.ideas, cut, ranking.confidence) if approximate else stated
    ideas = tuple(
        CutIdea(idea=idea, chance_in=chance, band=_band(chance, ranking.confidence))
        for idea, chance in zip(ranking.ideas, chances, strict=True)
    )
    return MovedCut(cut=cut, ideas=ideas, approximate=approximate)


def _drawn(ideas: Sequence[RankedIdea], cut: int, confidence: float) -> list[float]:
    """Strengths are normal, as wide as their intervals say."""
    mean = np.array([idea.strength for idea in ideas])
    width = np.array([idea.strengths.high - idea.strengths.low for idea in ideas])
    spread = width / (2 * ndtri((1 + confidence) / 2))
    random = np.random.default_rng(_SEED)
    among = np.zeros(len(ideas))
    for _ in range(_DRAWS):
        drawn = mean + spread * random.standard_normal(len(ideas))
        among[np.argpartition(-drawn, min(cut, len(ideas)) - 1)[:cut]] += 1
    return [float(one) for one in among / _DRAWS]


def _band(chance: float, confidence: float) -> Band:
    if chance >= confidence:
        return "in"
    return "out" if chance <= 1 - confidence else "human"
