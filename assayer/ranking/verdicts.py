"""Verdicts of a judge on pairs of ideas, stored as arrays, and the judge's consistency."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PairwiseVerdicts:
    """Verdicts (m of them) over n ideas: rows of the ideas shown first and second, and the result for the first."""

    ideas: int
    first: Ints
    second: Ints
    won: Floats
    """Result for the first idea: 1.0 if it is better, 0.0 if the second is better, 0.5 for a tie."""

    def __len__(self) -> int:
        return len(self.first)

    @property
    def counts(self) -> Ints:
        """Verdicts on each idea."""
        shown = np.concatenate([self.first, self.second])
        return np.bincount(shown, minlength=self.ideas)


_MOST_TRIANGLES = 200_000


class JudgeConsistency(NamedTuple):
    asked_both_ways: int
    contradictions: int
    triangles: int
    cycles: int


def judge_consistency(verdicts: PairwiseVerdicts) -> JudgeConsistency:
    """Return the consistency over pairs asked in both orders and over triangles of compared pairs. Ties form no
    triangles; at most 200,000 triangles are counted."""
    won: dict[tuple[int, int], float] = {}
    for first, second, outcome in _verdict_rows(verdicts):
        won.setdefault((first, second), outcome)
    asked_twice = [(pair, outcome) for pair, outcome in won.items() if pair[0] < pair[1] and pair[::-1] in won]
    contradictions = sum(outcome != 1.0 - won[pair[::-1]] for pair, outcome in asked_twice)
    beaten = _beaten(won)
    triangles = cycles = 0
    for item, other, third in _triangles(beaten):
        triangles += 1
        wins = [other in beaten[item], third in beaten[other], item in beaten[third]]
        cycles += all(wins) or not any(wins)
        if triangles == _MOST_TRIANGLES:
            break
    return JudgeConsistency(len(asked_twice), contradictions, triangles, cycles)


def _verdict_rows(verdicts: PairwiseVerdicts) -> Iterable[tuple[int, int, float]]:
    return zip(verdicts.first.tolist(), verdicts.second.tolist(), verdicts.won.tolist(), strict=True)


def _beaten(won: dict[tuple[int, int], float]) -> dict[int, set[int]]:
    """Return the set of ideas that each idea beat, over both orders combined; a tie counts for neither idea."""
    margin: dict[tuple[int, int], float] = defaultdict(float)
    for (first, second), outcome in won.items():
        sign = 1.0 if first < second else -1.0
        margin[min(first, second), max(first, second)] += sign * (outcome - 0.5)
    beaten: dict[int, set[int]] = defaultdict(set)
    for (item, other), lead in margin.items():
        if lead:
            winner, loser = (item, other) if lead > 0 else (other, item)
            beaten[winner].add(loser)
            beaten[loser]
    return beaten


def _triangles(beaten: dict[int, set[int]]) -> Iterable[tuple[int, int, int]]:
    neighbours: dict[int, set[int]] = {idea: set(losers) for idea, losers in beaten.items()}
    for winner, losers in beaten.items():
        for loser in losers:
            neighbours[loser].add(winner)
    for neighbour in sorted(neighbours):
        later = sorted(other for other in neighbours[neighbour] if other > neighbour)
        for other, third in combinations(later, 2):
            if third in neighbours[other]:
                yield neighbour, other, third
