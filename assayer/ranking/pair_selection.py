"""Select the pairs to compare next: a few random pairs for each idea, then the pairs with the largest expected gain.

Under Laplace's approximation, a verdict on (i, j) lowers the summed variance of all strengths by about
p(1 − p)(vᵢ² + vⱼ²) / (1 + p(1 − p)(vᵢ + vⱼ)), which is large for uncertain and close pairs. With a cut, this gain is
weighted by how uncertain it is on which side of the cut each idea lies. The first pairs are random: in measurements,
choosing them by estimates from a few verdicts gave worse rankings (docs/adr/0009).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from assayer.ranking.bradley_terry import StrengthPosterior
from assayer.ranking.verdicts import Floats, Ints

_OPENING_VERDICTS = 8
"""Number of verdicts per idea before pairs are chosen by gain, unless seeds are provided."""
_SAMPLES = 200
_NEAR_CANDIDATES = 8
"""Number of candidate partners per idea, taken from its neighbours in an order drawn from the posterior; as many more
are drawn at random."""
_ALL_PAIRS_UP_TO = 64
"""Maximum number of ideas at which every pair is a candidate."""
_OFF_CUT_WEIGHT = 0.15
"""Weight of a pair far from the cut; above 0, because the report also ranks ideas beyond the cut."""


class Unanswered(NamedTuple):
    """Pairs that got no answer, and ideas about which no more questions are asked."""

    first: Ints
    second: Ints
    closed: NDArray[np.bool_]
    """Whether each idea is closed to further questions, by row."""

    @classmethod
    def empty(cls, n: int) -> "Unanswered":
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(n, np.bool_))


def choose_pairs(
    strengths: StrengthPosterior, count: int, seed: int, cut: int | None = None, unanswered: Unanswered | None = None
) -> tuple[Ints, Ints]:
    """Choose up to `count` pairs of rows to compare, limiting how often an idea occurs; each pair is in random order.
    Takes O(n log n) time.

    The same arguments give the same pairs. Returns no pairs if every candidate has been asked in both orders."""
    n = len(strengths.mean)
    if n < 2:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    excluded = unanswered or Unanswered.empty(n)
    generator = np.random.default_rng(seed)
    if len(strengths.verdicts) * 2 < _OPENING_VERDICTS * (n - int(excluded.closed.sum())):
        random_pairs = _keep_unasked(strengths, excluded, *_choose_random_pairs(strengths, excluded, count, generator))
        if len(random_pairs[0]):
            return random_pairs
    first, second = _keep_unasked(strengths, excluded, *_list_candidate_pairs(strengths, generator))
    gain = _compute_expected_gain(strengths, first, second)
    if cut is not None:
        gain *= _measure_cut_uncertainty(strengths, first, second, cut, generator)
    order = np.argsort(-gain, kind="stable")
    chosen = _limit_per_idea(first[order], second[order], n, count)
    return first[order][chosen], second[order][chosen]


def choose_reversed_pairs(
    strengths: StrengthPosterior, count: int, seed: int, cut: int | None = None, unanswered: Unanswered | None = None
) -> tuple[Ints, Ints]:
    """Return up to `count` reversed pairs: those with the largest gain among the pairs asked in only one order."""
    verdicts = strengths.verdicts
    asked_pairs = set(zip(verdicts.first.tolist(), verdicts.second.tolist(), strict=True))
    excluded = unanswered or Unanswered.empty(len(strengths.mean))
    closed_pairs = asked_pairs | set(zip(excluded.first.tolist(), excluded.second.tolist(), strict=True))
    pairs = np.array(sorted((b, a) for a, b in asked_pairs if (b, a) not in closed_pairs), np.int64).reshape(-1, 2)
    gain = _compute_expected_gain(strengths, pairs[:, 0], pairs[:, 1])
    if cut is not None:
        gain *= _measure_cut_uncertainty(strengths, pairs[:, 0], pairs[:, 1], cut, np.random.default_rng(seed))
    best = np.argsort(-gain, kind="stable")[:count]
    return pairs[best, 0], pairs[best, 1]


def _choose_random_pairs(
    strengths: StrengthPosterior, excluded: Unanswered, count: int, generator: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return random pairs of the ideas that have the fewest verdicts."""
    order = np.lexsort((generator.random(len(strengths.mean)), strengths.verdicts.counts))
    order = order[~excluded.closed[order]]
    size = min(count, len(order) // 2)
    least_compared = order[: 2 * size]
    shuffled_rows = generator.permutation(least_compared)
    return shuffled_rows[:size], shuffled_rows[size:]


def _keep_unasked(strengths: StrengthPosterior, excluded: Unanswered, first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """Return the pairs that have not been asked in both orders, swapped if they have been asked in the order passed.
    Attempts without an answer count as asked."""
    n, verdicts = len(strengths.mean), strengths.verdicts
    asked_codes = np.concatenate([verdicts.first * n + verdicts.second, excluded.first * n + excluded.second])
    is_asked, is_asked_reversed = np.isin(first * n + second, asked_codes), np.isin(second * n + first, asked_codes)
    shown_first = np.where(is_asked, second, first)
    shown_second = np.where(is_asked, first, second)
    is_open = ~(is_asked & is_asked_reversed) & ~excluded.closed[first] & ~excluded.closed[second]
    return shown_first[is_open], shown_second[is_open]


def _list_candidate_pairs(strengths: StrengthPosterior, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Return candidate pairs in random order, without duplicates. If there are few ideas, these are all pairs. If there
    are many, they are random pairs and pairs of neighbours in an order drawn from the posterior."""
    n = len(strengths.mean)
    if n <= _ALL_PAIRS_UP_TO:
        pairs = np.stack(np.triu_indices(n, 1)).astype(np.int64)
    else:
        sampled_strengths = strengths.mean + np.sqrt(strengths.variance) * generator.standard_normal(n)
        order = np.argsort(-sampled_strengths)
        neighbour_pairs = [np.stack([order[:-gap], order[gap:]]) for gap in range(1, min(_NEAR_CANDIDATES, n - 1) + 1)]
        far = generator.integers(0, n, (2, n * _NEAR_CANDIDATES))
        pairs = np.sort(np.concatenate([*neighbour_pairs, far], axis=1), axis=0)
        pairs = np.unique(pairs[:, pairs[0] != pairs[1]], axis=1)
    swap = generator.random(pairs.shape[1]) < 0.5
    return np.where(swap, pairs[1], pairs[0]), np.where(swap, pairs[0], pairs[1])


def _compute_expected_gain(strengths: StrengthPosterior, first: Ints, second: Ints) -> Floats:
    first_variance, second_variance = strengths.variance[first], strengths.variance[second]
    chance = expit(strengths.mean[first] - strengths.mean[second])
    weight = chance * (1 - chance)
    gain: Floats = weight * (first_variance**2 + second_variance**2) / (1 + weight * (first_variance + second_variance))
    return gain


def _measure_cut_uncertainty(
    strengths: StrengthPosterior, first: Ints, second: Ints, cut: int, generator: np.random.Generator
) -> Floats:
    n = len(strengths.mean)
    sampled_strengths = strengths.mean + np.sqrt(strengths.variance) * generator.standard_normal((_SAMPLES, n))
    threshold = np.sort(sampled_strengths, axis=1)[:, max(n - cut, 0)]
    chance = (sampled_strengths >= threshold[:, None]).mean(axis=0)
    uncertainty = -(xlogy(chance, chance) + xlogy(1 - chance, 1 - chance)) / np.log(2)
    weight: Floats = _OFF_CUT_WEIGHT + (1 - _OFF_CUT_WEIGHT) * np.maximum(uncertainty[first], uncertainty[second])
    return weight


def _limit_per_idea(first: Ints, second: Ints, n: int, count: int) -> NDArray[np.int64]:
    """Choose pairs greedily, with a limit per idea, and return their positions. All pairs in a batch are asked
    together, so a second verdict on the same idea adds less."""
    share = max(1, -(-4 * count // n))
    pair_counts = [0] * n
    chosen_positions: list[int] = []
    for position, (item, other) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        if len(chosen_positions) == count:
            break
        if pair_counts[item] < share and pair_counts[other] < share:
            pair_counts[item] += 1
            pair_counts[other] += 1
            chosen_positions.append(position)
    return np.array(chosen_positions, np.int64)
