"""How far reviewers agree, pair by pair: Cohen's kappa with quadratic weights, and the order in which they put
proposals; and the spread of a proposal's scores.

Kappa: Cohen, Psychological Bulletin 70 (1968) 213-220. 1 is full agreement, 0 what chance would give.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assayer.models import Absent

__all__ = ["FEWEST", "SCALE", "PairAgreement", "SameOrder", "mean_kappa", "pair_agreements", "same_order", "spread"]

SCALE = (1, 2, 3, 4, 5)
FEWEST = 5
"""Proposals that two people must have in common: of fewer, kappa says nothing."""

_WEIGHTS = np.subtract.outer(SCALE, SCALE) ** 2


class SameOrder(NamedTuple):
    """Of pairs of proposals that one person scored differently: how many another puts in the same order. A tie of the
    other counts half, so that chance comes to half of all, and so does whoever scores everything alike."""

    pairs: int
    kept: float


class PairAgreement(NamedTuple):
    first: str
    second: str
    common: int
    """Proposals that both have scored."""
    kappa: float | Absent
    order: SameOrder
    """Of the pairs that the first told apart, and of those that the second did."""


def pair_agreements(scores: Mapping[str, Mapping[str, int]]) -> list[PairAgreement]:
    """`scores`: by reviewer, then by proposal. Every two reviewers with a proposal in common."""
    pairs = []
    for first, second in itertools.combinations(sorted(scores), 2):
        common = sorted(scores[first].keys() & scores[second].keys())
        if common:
            of_first, of_second = ([scores[who][one] for one in common] for who in (first, second))
            orders = same_order(of_first, of_second), same_order(of_second, of_first)
            order = SameOrder(sum(one.pairs for one in orders), sum(one.kept for one in orders))
            pairs.append(PairAgreement(first, second, len(common), _kappa(of_first, of_second), order))
    return pairs


def same_order(scores: Sequence[int], others: ArrayLike) -> SameOrder:
    """`others`: figures of any scale for the same proposals."""
    given, values = np.asarray(scores), np.asarray(others, dtype=float)
    groups = [np.sort(values[given == score]) for score in SCALE]
    pairs, kept = 0, 0.0
    for lower, higher in itertools.combinations(groups, 2):
        pairs += len(lower) * len(higher)
        below = np.searchsorted(lower, higher, "left").sum() + np.searchsorted(lower, higher, "right").sum()
        kept += float(below) / 2
    return SameOrder(pairs, kept)


def mean_kappa(pairs: Iterable[PairAgreement]) -> float | Absent:
    """Of all pairs that have one, weighted by how many proposals they share."""
    known = [(one.kappa, one.common) for one in pairs if not isinstance(one.kappa, Absent)]
    if not known:
        return Absent(reason=f"No two reviewers have scored {FEWEST} proposals in common with scores that differ.")
    return sum(kappa * common for kappa, common in known) / sum(common for _, common in known)


def spread(scores: Sequence[int]) -> int | None:
    """Between the highest and the lowest; None for fewer than two."""
    return max(scores) - min(scores) if len(scores) > 1 else None


def _kappa(first: Sequence[int], second: Sequence[int]) -> float | Absent:
    if len(first) < FEWEST:
        return Absent(reason=f"Fewer than {FEWEST} proposals in common.")
    if len({*first, *second}) == 1:
        return Absent(reason="Both gave the same score to everything: chance cannot be told from agreement.")
    table = _counts(first, second)
    by_chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(first)
    return float(1 - (_WEIGHTS * table).sum() / (_WEIGHTS * by_chance).sum())


def _counts(first: Sequence[int], second: Sequence[int]) -> NDArray[np.float64]:
    table = np.zeros(_WEIGHTS.shape)
    np.add.at(table, (np.asarray(first) - 1, np.asarray(second) - 1), 1)
    return table
