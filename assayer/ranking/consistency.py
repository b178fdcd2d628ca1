"""How consistent a judge's verdicts are among themselves."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

from assayer.ranking.verdicts import Verdicts

__all__ = ["Consistency", "consistency"]

_MOST_TRIANGLES = 200_000


class Consistency(NamedTuple):
    asked_both_ways: int
    contradictions: int
    triangles: int
    cycles: int


def consistency(verdicts: Verdicts) -> Consistency:
    """Pairs asked in both orders and triangles of the compared pairs; ties close none. At most 200,000 triangles."""
    won: dict[tuple[int, int], float] = {}
    for first, second, outcome in _rows(verdicts):
        won.setdefault((first, second), outcome)
    both = [(pair, outcome) for pair, outcome in won.items() if pair[0] < pair[1] and pair[::-1] in won]
    contradictions = sum(outcome != 1.0 - won[pair[::-1]] for pair, outcome in both)
    beaten = _beaten(won)
    triangles = cycles = 0
    for one, other, third in _triangles(beaten):
        triangles += 1
        wins = [other in beaten[one], third in beaten[other], one in beaten[third]]
        cycles += all(wins) or not any(wins)
        if triangles == _MOST_TRIANGLES:
            break
    return Consistency(len(both), contradictions, triangles, cycles)


def _rows(verdicts: Verdicts) -> Iterable[tuple[int, int, float]]:
    return zip(verdicts.first.tolist(), verdicts.second.tolist(), verdicts.won.tolist(), strict=True)


def _beaten(won: dict[tuple[int, int], float]) -> dict[int, set[int]]:
    """Whom each idea beat, both orders together; a pair that ends level is in neither set."""
    margin: dict[tuple[int, int], float] = defaultdict(float)
    for (first, second), outcome in won.items():
        sign = 1.0 if first < second else -1.0
        margin[min(first, second), max(first, second)] += sign * (outcome - 0.5)
    beaten: dict[int, set[int]] = defaultdict(set)
    for (one, other), lead in margin.items():
        if lead:
            winner, loser = (one, other) if lead > 0 else (other, one)
            beaten[winner].add(loser)
            beaten[loser]
    return beaten


def _triangles(beaten: dict[int, set[int]]) -> Iterable[tuple[int, int, int]]:
    beside: dict[int, set[int]] = {idea: set(losers) for idea, losers in beaten.items()}
    for winner, losers in beaten.items():
        for loser in losers:
            beside[loser].add(winner)
    for one in sorted(beside):
        later = sorted(other for other in beside[one] if other > one)
        for other, third in combinations(later, 2):
            if third in beside[other]:
                yield one, other, third
