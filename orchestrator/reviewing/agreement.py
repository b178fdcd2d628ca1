"""Agreement between every two reviewers: Cohen's kappa with quadratic weights, and the order of their scores.

Kappa: Cohen, Psychological Bulletin 70 (1968) 213-220. 1 is full agreement; 0 is the agreement expected by chance."""

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assayer.models import Absent

SCALE = (1, 2, 3, 4, 5)
MIN_COMMON_PROPOSALS = 5
"""Minimum number of proposals that both reviewers must have scored. With fewer, kappa is not meaningful."""

_WEIGHTS = np.subtract.outer(SCALE, SCALE) ** 2
_TOO_FEW = Absent(reason=f"They reviewed fewer than {MIN_COMMON_PROPOSALS} of the same proposals.")
_CONSTANT = Absent(reason="Both gave every proposal the same score, so agreement cannot be distinguished from chance.")


class OrderAgreement(NamedTuple):
    """Agreement on the order of two proposals, counted over pairs of proposals that the first person scored
    differently.

    `pairs_in_order` is the number of pairs that the other person ordered in the same way. A pair that the other person
    scored equally counts one half. For random scores, and for equal scores for all proposals, it is therefore half of
    the pairs."""

    pairs: int
    pairs_in_order: float


class PairAgreement(NamedTuple):
    first: str
    second: str
    common_proposals: int
    """Number of proposals that both reviewers scored."""
    kappa: float | Absent
    order: OrderAgreement
    """Agreement on the order: pairs that the first reviewer scored differently, plus pairs that the second reviewer
    scored differently."""


def compute_pair_agreements(
    members: Sequence[str], proposals: Sequence[str], scores: Sequence[int]
) -> list[PairAgreement]:
    """Return the agreement between every two reviewers with a proposal in common, in the order of their ids. The
    arguments are columns with an entry for each review."""
    if not scores:
        return []
    names, member_numbers = np.unique(members, return_inverse=True)
    pairs, tables = _build_tables(member_numbers, _number_names(proposals), np.asarray(scores) - SCALE[0], len(names))
    common_counts = tables.sum(axis=(1, 2))
    constant = np.diagonal(tables, axis1=1, axis2=2).max(axis=1, initial=0) == common_counts
    kappas, orders = _compute_kappas(tables), _compare_orders(tables)
    pair_columns = zip(
        pairs.tolist(), common_counts.astype(int).tolist(), constant.tolist(), kappas.tolist(), orders, strict=True
    )
    return [
        PairAgreement(
            str(names[pair // len(names)]),
            str(names[pair % len(names)]),
            count,
            _TOO_FEW if count < MIN_COMMON_PROPOSALS else _CONSTANT if is_constant else kappa,
            order,
        )
        for pair, count, is_constant, kappa, order in pair_columns
    ]


def compare_orders(scores: Sequence[int], other_scores: ArrayLike) -> OrderAgreement:
    """Return the agreement of `scores` with `other_scores` on the order of the same proposals. `other_scores` can have
    any scale."""
    first_scores, values = np.asarray(scores), np.asarray(other_scores, dtype=float)
    groups = [np.sort(values[first_scores == score]) for score in SCALE]
    pairs, pairs_in_order = 0, 0.0
    for lower, higher in itertools.combinations(groups, 2):
        pairs += len(lower) * len(higher)
        lower_count = np.searchsorted(lower, higher, "left").sum() + np.searchsorted(lower, higher, "right").sum()
        pairs_in_order += float(lower_count) / 2
    return OrderAgreement(pairs, pairs_in_order)


def compute_mean_kappa(pairs: Iterable[PairAgreement]) -> float | Absent:
    """Return the mean kappa over pairs of reviewers with a kappa, weighted by the number of proposals in common."""
    known_kappas = [(pair.kappa, pair.common_proposals) for pair in pairs if not isinstance(pair.kappa, Absent)]
    if not known_kappas:
        return Absent(
            reason=f"No two reviewers gave scores that differ to at least {MIN_COMMON_PROPOSALS} common proposals."
        )
    return sum(kappa * common for kappa, common in known_kappas) / sum(common for _, common in known_kappas)


def _number_names(names: Sequence[str]) -> NDArray[np.int64]:
    """Return a number for each name, the same for equal names. A dictionary is several times faster than `np.unique`,
    which sorts the names."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names])


def _build_tables(
    member_numbers: NDArray[np.int64],
    proposal_numbers: NDArray[np.int64],
    score_indexes: NDArray[np.int64],
    member_count: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the pairs of reviewers with a common proposal, and a table for each pair.

    A pair is encoded as the number of the first reviewer times `member_count` plus the number of the second. An element
    of its table is the number of proposals to which the first reviewer gave the row's score and the second the column's
    score."""
    order = np.lexsort((member_numbers, proposal_numbers))
    member_numbers, proposal_numbers, score_indexes = (
        member_numbers[order],
        proposal_numbers[order],
        score_indexes[order],
    )
    pairs, cells = [], []
    for step in range(1, int(np.bincount(proposal_numbers).max())):
        is_same_proposal = proposal_numbers[step:] == proposal_numbers[:-step]
        pairs.append((member_numbers[:-step] * member_count + member_numbers[step:])[is_same_proposal])
        cells.append((score_indexes[:-step] * len(SCALE) + score_indexes[step:])[is_same_proposal])
    if not pairs:
        return np.empty(0, np.int64), np.empty((0, len(SCALE), len(SCALE)))
    distinct_pairs, of_pair = np.unique(np.concatenate(pairs), return_inverse=True)
    size = len(SCALE) ** 2
    counts = np.bincount(of_pair * size + np.concatenate(cells), minlength=len(distinct_pairs) * size)
    return distinct_pairs, counts.reshape(-1, len(SCALE), len(SCALE)).astype(float)


def _compute_kappas(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weighted kappa of each table; NaN if both reviewers gave every proposal the same score."""
    by_chance = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :] / tables.sum(axis=(1, 2))[:, None, None]
    observed, chance = ((_WEIGHTS * table).sum(axis=(1, 2)) for table in (tables, by_chance))
    kappas: NDArray[np.float64] = 1 - np.divide(observed, chance, out=np.full_like(observed, np.nan), where=chance > 0)
    return kappas


def _compare_orders(tables: NDArray[np.float64]) -> list[OrderAgreement]:
    """Return the agreement on the order for each table: pairs that the first reviewer scored differently, plus pairs
    that the second reviewer scored differently."""
    higher = np.triu(np.ones(_WEIGHTS.shape), 1)
    weights = higher + np.eye(len(SCALE)) / 2
    transposed = tables.transpose(0, 2, 1)
    counts_by_order = np.zeros((2, len(tables)))
    for table, transposed_table in ((tables, transposed), (transposed, tables)):
        counts = table.sum(axis=2)
        counts_by_order[0] += (higher * counts[:, :, None] * counts[:, None, :]).sum(axis=(1, 2))
        counts_by_order[1] += (higher * (table @ weights @ transposed_table)).sum(axis=(1, 2))
    return [OrderAgreement(int(pairs), count) for pairs, count in counts_by_order.T.tolist()]
