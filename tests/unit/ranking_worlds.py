"""Invented ideas with known strengths, and judges of known accuracy."""

import numpy as np

from assayer.ranking.verdicts import Floats, Ints, PairwiseVerdicts


def no_verdicts(ideas: int) -> PairwiseVerdicts:
    return PairwiseVerdicts(ideas, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def with_verdicts(verdicts: PairwiseVerdicts, first: Ints, second: Ints, won: Floats) -> PairwiseVerdicts:
    """These verdicts and some more."""
    return PairwiseVerdicts(
        verdicts.ideas,
        np.concatenate([verdicts.first, first]),
        np.concatenate([verdicts.second, second]),
        np.concatenate([verdicts.won, won]),
    )
