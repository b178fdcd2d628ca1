"""Assignment of reviewers to proposals: each proposal gets a given number of reviewers without conflicts of interest,
with expertise as close to it as possible, and without overloading anyone.

This is a transportation problem. The solution of its linear program consists of integers, as for all network flow
problems. Only the cheapest pairs of each proposal enter the program at first; further pairs are added while their
reduced costs show that they could improve the plan (column generation), so the plan is
optimal among all pairs, up to a tolerance."""

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_MISSING_COST = 1e7
"""Cost of a missing reviewer. It is higher than the cost of any load."""
_RANDOM_WEIGHT, _RANDOM_WEIGHT_WITH_VALUES = 0.1, 1e-3
"""Weights of the random costs that select one of the best plans, so that the same reviewers do not always share
proposals. Improvements below the weight are not meaningful, so no further pair is added to the program for them."""
_EXTRA_PLACES = 8
"""Number of places above the mean load that each have a different cost. All further places have the same cost."""
_OVERLOAD_COST = 2.0
"""Cost of the first place above the mean load; the next costs twice as much, and so on. It is higher than the value of
any pair but lower than the cost of an unwilling reviewer."""
_INITIAL_PAIRS, _ADDED_PAIRS = 20, 10
"""Number of pairs per proposal in the initial linear program, and maximum number added in each further step."""


class AssignmentPlan(NamedTuple):
    pairs: list[tuple[str, str]]
    """Assignments as pairs of a proposal and a reviewer, in the order of the proposals."""
    missing_reviewers: dict[str, int]
    """Number of missing reviewers, by proposal. Reviewers are missing because of conflicts, or because there are too
    few."""


class _Places(NamedTuple):
    """Places of a reviewer with the same cost."""

    column: int
    size: float
    cost: float


def plan_assignments(
    reviewers_needed: Mapping[str, int],
    reviewers: Sequence[str],
    barred_pairs: Set[tuple[str, str]],
    loads: Mapping[str, int],
    max_load: int | None = None,
    values: NDArray[np.float64] | None = None,
) -> AssignmentPlan:
    """Assign reviewers to proposals; equal arguments give equal plans. `reviewers_needed` is the number of additional
    reviewers that each proposal needs. `barred_pairs` contains the forbidden pairs of a proposal and a reviewer,
    including those that are already assigned. `loads` is the number of assignments that each reviewer already has; no
    reviewer gets more than `max_load`.

    `values`, with a row for each proposal in `reviewers_needed` and a column for each reviewer, states what each
    assignment is worth; their sum is maximised. Without `max_load`, no reviewer then gets more than the mean load while
    others can review the proposal. Without `values`, loads are as even as possible."""
    rows = [row for row, count in enumerate(reviewers_needed.values()) if count > 0]
    names = list(reviewers_needed)
    proposals = [names[row] for row in rows]
    needed_by_row = [reviewers_needed[name] for name in proposals]
    random_weight = _RANDOM_WEIGHT if values is None else _RANDOM_WEIGHT_WITH_VALUES
    costs = np.random.default_rng(0).random((len(proposals), len(reviewers))) * random_weight
    if values is not None:
        costs -= values[rows]
    row_of, column_of = _number_names(proposals), _number_names(reviewers)
    for proposal, reviewer in barred_pairs:
        if proposal in row_of and reviewer in column_of:
            costs[row_of[proposal], column_of[reviewer]] = np.inf
    if not np.isfinite(costs).any():
        return AssignmentPlan([], dict(zip(proposals, needed_by_row, strict=True)))
    total = sum(needed_by_row) + sum(loads.get(name, 0) for name in reviewers)
    # By value, no reviewer should get more than the mean load, rounded up, or than the limit. Otherwise, loads are even
    # if as few places as possible are above the mean load, rounded down.
    mean = total / len(reviewers)
    base_load = min(math.floor(mean), max_load or total) if values is None else max_load or math.ceil(mean)
    places = [
        _Places(column, *place)
        for column, name in enumerate(reviewers)
        for place in _list_reviewer_places(loads.get(name, 0), base_load, max_load)
    ]
    chosen, missing = _solve(costs, needed_by_row, places, tolerance=random_weight)
    return AssignmentPlan(
        [(proposals[proposal_index], reviewers[reviewer_index]) for proposal_index, reviewer_index in chosen],
        {name: count for name, count in zip(proposals, missing, strict=True) if count},
    )


def _solve(
    costs: NDArray[np.float64], needed_by_row: Sequence[int], places: Sequence[_Places], *, tolerance: float
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the chosen pairs of row and column, and the number of missing reviewers in each row."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    rows, columns = costs.shape
    width = min(columns, max(needed_by_row) + _INITIAL_PAIRS)
    active = np.zeros(costs.shape, dtype=bool)
    np.put_along_axis(active, np.argpartition(costs, width - 1, axis=1)[:, :width], True, axis=1)
    active &= np.isfinite(costs)
    place_columns = np.array([place.column for place in places], dtype=int)
    place_costs = [place.cost for place in places]
    # Constraints (rows): for each proposal, its pairs plus missing reviewers equal the number needed; for each
    # reviewer, pairs equal places. Variables (columns): pairs, places, the number of missing reviewers.
    right_side = np.array([*needed_by_row, *(0 for _ in range(columns))], dtype=float)
    while True:
        active_rows, active_columns = np.nonzero(active)
        pairs, first_missing = len(active_rows), len(active_rows) + len(places)
        matrix: Any = coo_array(
            (
                np.concatenate([np.ones(2 * pairs), -np.ones(len(places)), np.ones(rows)]),
                (
                    np.concatenate([active_rows, rows + active_columns, rows + place_columns, np.arange(rows)]),
                    np.concatenate([np.arange(pairs), np.arange(first_missing), first_missing + np.arange(rows)]),
                ),
            ),
            shape=(rows + columns, first_missing + rows),
        ).tocsr()
        upper = np.concatenate([np.ones(pairs), [place.size for place in places], np.full(rows, np.inf)])
        bounds: Any = np.column_stack([np.zeros(len(upper)), upper])
        solution = linprog(
            np.concatenate([costs[active_rows, active_columns], place_costs, np.full(rows, _MISSING_COST)]),
            A_eq=matrix,
            b_eq=right_side,
            bounds=bounds,
            method="highs-ds",
        )
        if solution.x is None:
            raise ArithmeticError(f"the solver found no assignment of reviewers to proposals: {solution.message}")
        prices = solution.eqlin.marginals
        reduced_costs = np.where(active, np.inf, costs - prices[:rows, None] - prices[None, rows:])
        pairs_to_add = min(columns, _ADDED_PAIRS)
        cheapest = np.argpartition(reduced_costs, pairs_to_add - 1, axis=1)[:, :pairs_to_add]
        improving = np.take_along_axis(reduced_costs, cheapest, axis=1) < -tolerance
        if not improving.any():
            chosen = solution.x[:pairs] > 0.5
            pairs_chosen = list(zip(active_rows[chosen].tolist(), active_columns[chosen].tolist(), strict=True))
            return pairs_chosen, np.rint(solution.x[first_missing:]).astype(int).tolist()
        row_numbers, position = np.nonzero(improving)
        active[row_numbers, cheapest[row_numbers, position]] = True


def _list_reviewer_places(load: int, base_load: int, max_load: int | None) -> Iterator[tuple[float, float]]:
    """Yield groups of a reviewer's additional places, as the number of places and the cost of each: the places up to a
    load of `base_load`, then single places at rising costs and, if there is no limit, any number of places."""
    if load < base_load:
        yield base_load - load, 0.0
    first = max(load, base_load) + 1
    last = max(load, base_load) + _EXTRA_PLACES if max_load is None else max_load
    for place in range(first, last + 1):
        yield 1, _OVERLOAD_COST * (place - base_load)
    if max_load is None:
        yield np.inf, _OVERLOAD_COST * (last + 1 - base_load)


def _number_names(names: Sequence[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}
