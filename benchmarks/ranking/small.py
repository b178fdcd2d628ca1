"""`python -m benchmarks.ranking.small`: whether bands at the cut and intervals keep their promise in small groups."""

from typing import NamedTuple

import numpy as np

from assayer.ranking.bradley_terry import StrengthPosterior, fit_strengths
from assayer.ranking.pair_selection import choose_pairs
from benchmarks.index.machine import machine
from benchmarks.ranking.worlds import World, no_verdicts, with_verdicts

_CONFIDENCE = 0.95
_SETUPS = ((4, 12, 150), (8, 40, 100), (20, 200, 40))
"""Ideas, comparisons, and worlds."""


class Kept(NamedTuple):
    called_in: int
    right_in: int
    called_out: int
    right_out: int
    covered: float
    """Share of intervals of strengths that hold the truth."""


def compared(world: World, budget: int, cut: int, seed: int) -> StrengthPosterior:
    n = len(world.strengths)
    verdicts = no_verdicts(n)
    while len(verdicts) < budget:
        size = min(max(8, n // 2), budget - len(verdicts))
        pairs = choose_pairs(fit_strengths(verdicts), size, len(verdicts) + seed, cut)
        if not len(pairs[0]):
            break
        verdicts = with_verdicts(verdicts, *pairs, world.judge(*pairs))
    return fit_strengths(verdicts)


def kept(world: World, strengths: StrengthPosterior, cut: int) -> Kept:
    drawn = strengths.draws(500, 0)
    drawn -= drawn.mean(axis=1, keepdims=True)
    chance = (np.argsort(np.argsort(-drawn, axis=1), axis=1) < cut).mean(axis=0)
    best = np.argsort(np.argsort(-world.strengths)) < cut
    low, high = np.quantile(drawn, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2], axis=0)
    truth = world.strengths - world.strengths.mean()
    inside, outside = chance >= _CONFIDENCE, chance <= 1 - _CONFIDENCE
    covered = float(np.mean((low <= truth) & (truth <= high)))
    return Kept(
        int(inside.sum()), int((inside & best).sum()), int(outside.sum()), int((outside & ~best).sum()), covered
    )


def main() -> None:
    print(
        f"cut at a quarter, on {machine()}\nideas  comparisons  accuracy  in: called, right  out: called, right  hold"
    )
    for ideas, budget, worlds in _SETUPS:
        for accuracy in (0.65, 0.80):
            found = []
            for seed in range(worlds):
                world = World.drawn(ideas, accuracy, seed)
                found.append(kept(world, compared(world, budget, ideas // 4, seed), ideas // 4))
            called_in, right_in, called_out, right_out, _ = np.sum(found, axis=0).astype(int)
            print(
                f"{ideas:5d}  {budget:11d}  {accuracy:8.2f}  {called_in:10d}, {right_in:5d}  {called_out:11d}, "
                f"{right_out:5d}  {np.mean([one.covered for one in found]):.3f}"
            )


if __name__ == "__main__":
    main()
