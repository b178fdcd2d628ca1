"""A judge's verdicts on pairs of ideas, stored as arrays, and how consistent they are."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class JudgeConsistency(NamedTuple):
    pairs_in_both_orders: int
    contradictions: int
    triangles: int
    cycles: int


@dataclass(frozen=True)
class PairwiseVerdicts:
    """m verdicts over n ideas: the rows of the ideas shown first and second, and the result for the first."""

    ideas: int
    first: Ints
    second: Ints
    won: Floats
    """Result for the first idea: 1.0 if it won, 0.0 if the second won, 0.5 for a tie."""

    def __len__(self) -> int:
        return len(self.first)

    @property
    def counts(self) -> Ints:
        """Number of verdicts per idea."""
        idea_rows = np.concatenate([self.first, self.second])
        return np.bincount(idea_rows, minlength=self.ideas)


def measure_judge_consistency(verdicts: PairwiseVerdicts) -> JudgeConsistency:
    """Measure the judge's consistency, over pairs asked in both orders and over triangles of compared pairs. If a pair
    was asked twice in the same order, only the first verdict counts. Ties form no triangles."""
    pairs, rows = np.unique(np.column_stack([verdicts.first, verdicts.second]), axis=0, return_index=True)
    won = csr_array((verdicts.won[rows] - 0.5, pairs.T), shape=(verdicts.ideas, verdicts.ideas))
    asked_counts = csr_array((np.ones(len(pairs), np.int64), pairs.T), shape=won.shape)
    reversed_won, reversed_asked = won.T.tocsr(), asked_counts.T.tocsr()
    pairs_in_both_orders = asked_counts * reversed_asked
    # Combine both orders; a tie counts for neither idea.
    beats = ((won - reversed_won) > 0).astype(np.int64)
    compared = beats + beats.T
    return JudgeConsistency(
        pairs_in_both_orders=int(pairs_in_both_orders.sum()) // 2,
        contradictions=int(((won + reversed_won) * pairs_in_both_orders).count_nonzero()) // 2,
        triangles=int(((compared @ compared) * compared).sum()) // 6,
        cycles=int(((beats @ beats) * beats.T).sum()) // 3,
    )
