"""Verdicts of pairwise comparisons for tests of strengths."""

import numpy as np

from assayer.ranking.verdicts import Floats, Ints, PairwiseVerdicts


def make_empty_verdicts(ideas: int) -> PairwiseVerdicts:
    return PairwiseVerdicts(ideas, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def append_verdicts(verdicts: PairwiseVerdicts, first: Ints, second: Ints, won: Floats) -> PairwiseVerdicts:
    """Return the verdicts with further ones appended."""
    return PairwiseVerdicts(
        verdicts.ideas,
        np.concatenate([verdicts.first, first]),
        np.concatenate([verdicts.second, second]),
        np.concatenate([verdicts.won, won]),
    )
