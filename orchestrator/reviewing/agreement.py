"""How far reviewers agree: Cohen's kappa with quadratic weights, pair by pair, and the spread of a proposal's scores.

Kappa: Cohen, Psychological Bulletin 70 (1968) 213-220. 1 is full agreement, 0 what chance would give.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assayer.models import Absent

__all__ = ["PairAgreement", "mean_kappa", "pair_agreements", "spread"]

_SCALE = (1, 2, 3, 4, 5)
_FEWEST = 5
"""Proposals that two people must have in common: of fewer, kappa says nothing."""


class PairAgreement(NamedTuple):
    first: str
    second: str
    common: int
    """Proposals that both have scored."""
    kappa: float | Absent


def pair_agreements(scores: Mapping[str, Mapping[str, int]]) -> list[PairAgreement]:
    """`scores`: by reviewer, then by proposal. Every two reviewers with a proposal in common."""
    pairs = []
    for first, second in itertools.combinations(sorted(scores), 2):
        common = sorted(scores[first].keys() & scores[second].keys())
        if common:
            of_first, of_second = ([scores[who][one] for one in common] for who in (first, second))
            pairs.append(PairAgreement(first, second, len(common), _kappa(of_first, of_second)))
    return pairs


def mean_kappa(pairs: Iterable[PairAgreement]) -> float | Absent:
    """Of all pairs that have one, weighted by how many proposals they share."""
    known = [(one.kappa, one.common) for one in pairs if not isinstance(one.kappa, Absent)]
    if not known:
        return Absent(reason=f"No two reviewers have scored {_FEWEST} proposals in common with scores that differ.")
    return sum(kappa * common for kappa, common in known) / sum(common for _, common in known)


def spread(scores: Sequence[int]) -> int | None:
    """Between the highest and the lowest; None for fewer than two."""
    return max(scores) - min(scores) if len(scores) > 1 else None


def _kappa(first: Sequence[int], second: Sequence[int]) -> float | Absent:
    if len(first) < _FEWEST:
        return Absent(reason=f"Fewer than {_FEWEST} proposals in common.")
    if len({*first, *second}) == 1:
        return Absent(reason="Both gave the same score to everything: chance cannot be told from agreement.")
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(first, second, labels=_SCALE, weights="quadratic"))
