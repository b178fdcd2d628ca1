"""`python -m benchmarks.ranking`: rank correlation and top-share against the number of comparisons.

Random pairs with plain Bradley–Terry strengths (evalica, maximum likelihood) are the baseline; every row is the mean of
several worlds. An idea without a win has no finite strength, and evalica then gives all of them the same: so every idea
also has a light tie with a phantom.
"""

import argparse
import time
from typing import Literal, NamedTuple

import evalica
import numpy as np
from scipy.stats import spearmanr

from assayer.ranking.bradley_terry import StrengthPosterior, fit_strengths
from assayer.ranking.pair_selection import choose_pairs
from assayer.ranking.verdicts import Floats, PairwiseVerdicts
from benchmarks.index.machine import machine
from benchmarks.ranking.worlds import World, no_verdicts, with_verdicts

Way = Literal["random, plain", "random", "chosen", "chosen, seeded"]
_WAYS: tuple[Way, ...] = ("random, plain", "random", "chosen", "chosen, seeded")
_SEED_CORRELATION = 0.6
_PHANTOM, _PHANTOM_WEIGHT = -1, 0.1


class Outcome(NamedTuple):
    spearman: float
    top_share: float
    """Of the true best tenth, how much is in the ranking's best fifth."""
    covered: float
    """Share of 95 % intervals that hold the true strength; nan where there are none."""
    cpu_seconds: float


def run(world: World, budget: int, way: Way) -> Outcome:
    began = time.process_time()
    n = len(world.strengths)
    seeds = _SEED_CORRELATION * world.scores(_SEED_CORRELATION) if way == "chosen, seeded" else None
    if way == "random, plain":
        estimate, covered = _plain(_random(world, budget)), float("nan")
    else:
        strengths = fit_strengths(_random(world, budget), None) if way == "random" else _chosen(world, budget, seeds)
        estimate, covered = strengths.mean, _covered(strengths, world)
    best, listed = set(np.argsort(-world.strengths)[: n // 10]), set(np.argsort(-estimate)[: n // 5])
    correlation = float(spearmanr(estimate, world.strengths).statistic)
    return Outcome(correlation, len(best & listed) / len(best), covered, time.process_time() - began)


def _random(world: World, budget: int) -> PairwiseVerdicts:
    n = len(world.strengths)
    first = world.generator.integers(0, n, budget)
    second = (first + world.generator.integers(1, n, budget)) % n
    return PairwiseVerdicts(n, first, second, world.judge(first, second))


def _plain(verdicts: PairwiseVerdicts) -> Floats:
    ideas = list(range(verdicts.ideas))
    winners = [evalica.Winner.X if won else evalica.Winner.Y for won in verdicts.won]
    scores = evalica.bradley_terry(
        verdicts.first.tolist() + ideas,
        verdicts.second.tolist() + [_PHANTOM] * len(ideas),
        winners + [evalica.Winner.Draw] * len(ideas),
        weights=[1.0] * len(winners) + [_PHANTOM_WEIGHT] * len(ideas),
        limit=2_000,
    ).scores
    logits: Floats = np.log(scores.loc[ideas].to_numpy(np.float64))
    return logits


def _chosen(world: World, budget: int, seeds: Floats | None) -> StrengthPosterior:
    n = len(world.strengths)
    verdicts = no_verdicts(n)
    while len(verdicts) < budget:
        pairs = choose_pairs(fit_strengths(verdicts, seeds), min(n // 2, budget - len(verdicts)), len(verdicts))
        verdicts = with_verdicts(verdicts, *pairs, world.judge(*pairs))
    return fit_strengths(verdicts, seeds)


def _covered(strengths: StrengthPosterior, world: World) -> float:
    drawn = strengths.draws(400, 0)
    drawn -= drawn.mean(axis=1, keepdims=True)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    truth = world.strengths - world.strengths.mean()
    return float(np.mean((low <= truth) & (truth <= high)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ideas", type=int, default=1_000)
    parser.add_argument("--worlds", type=int, default=5, help="repetitions of every row")
    parser.add_argument("--accuracies", type=float, nargs="+", default=[0.65, 0.70, 0.80])
    parser.add_argument("--budgets", type=int, nargs="+", default=[2_000, 5_000, 10_000, 20_000])
    options = parser.parse_args()
    print(f"{options.ideas} ideas, {options.worlds} worlds a row, on {machine()}")
    print("accuracy  comparisons  way              Spearman  top 10 % in top 20 %  95 % intervals hold  CPU s")
    for accuracy in options.accuracies:
        for budget in options.budgets:
            for way in _WAYS:
                rows = [run(World.drawn(options.ideas, accuracy, seed), budget, way) for seed in range(options.worlds)]
                mean = Outcome(*np.mean(rows, axis=0))
                print(
                    f"{accuracy:8.2f}  {budget:11d}  {way:15s}  {mean.spearman:8.3f}  {mean.top_share:20.3f}  "
                    f"{mean.covered:19.3f}  {mean.cpu_seconds:5.1f}"
                )


if __name__ == "__main__":
    main()
