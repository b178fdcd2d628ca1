"""Assignment of reviewers to proposals: each proposal gets a given number of reviewers without conflicts of interest,
and reviewers get about the same number of proposals.

This is a transportation problem. Each additional proposal of a reviewer costs more than the previous one, so that the
cheapest plan distributes the proposals most evenly. The solution of the linear program consists of integers, as for all
network flow problems."""

import random
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np

_MISSING_COST = 1e7
"""Cost of a missing reviewer. It is higher than the cost of any load."""
_RANDOM_WEIGHT = 1e-3
"""Weight of the random costs that select one of the most even plans, so that the same reviewers do not always share
proposals."""
_EXTRA_PLACES = 8
"""Number of places above the mean load that have costs of their own. All further places have the same cost."""


class AssignmentPlan(NamedTuple):
    pairs: list[tuple[str, str]]
    """Assignments as pairs of a proposal and a reviewer, in the order of the proposals."""
    short: dict[str, int]
    """Number of missing reviewers, by proposal. Reviewers are missing because of conflicts, or because there are too
    few."""


def plan_assignments(
    wanted: Mapping[str, int],
    reviewers: Sequence[str],
    barred: Set[tuple[str, str]],
    loads: Mapping[str, int],
    most: int | None = None,
) -> AssignmentPlan:
    """Assign reviewers to proposals; equal arguments give equal plans. `wanted` is the number of additional reviewers
    that each proposal needs. `barred` contains the forbidden pairs of a proposal and a reviewer, including those that
    are already assigned. `loads` is the number of assignments that each reviewer already has; no reviewer gets more
    than `most`."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    proposals = [name for name, count in wanted.items() if count > 0]
    pairs = [(p, r) for p in range(len(proposals)) for r in range(len(reviewers))]
    pairs = [(p, r) for p, r in pairs if (proposals[p], reviewers[r]) not in barred]
    if not pairs:
        return AssignmentPlan([], {name: wanted[name] for name in proposals})
    places = [
        (r, cost) for r, name in enumerate(reviewers) for cost in _place_costs(name, wanted, reviewers, loads, most)
    ]
    draw = random.Random(0)  # noqa: S311 - for variety, not for secrets
    costs = np.array(
        [
            *(draw.random() * _RANDOM_WEIGHT for _ in pairs),
            *(cost for _, cost in places),
            *(_MISSING_COST for _ in proposals),
        ]
    )
    # Variables (columns): pairs, then places, then the number of missing reviewers of each proposal. Constraints
    # (rows): for each proposal, its pairs plus missing reviewers equal the wanted number; for each reviewer, pairs
    # equal places.
    first_place, first_missing = len(pairs), len(pairs) + len(places)
    rows = [
        *(p for p, _ in pairs),
        *range(len(proposals)),
        *(len(proposals) + r for _, r in pairs),
        *(len(proposals) + r for r, _ in places),
    ]
    columns = [
        *range(len(pairs)),
        *range(first_missing, len(costs)),
        *range(len(pairs)),
        *range(first_place, first_missing),
    ]
    values = [*([1.0] * (2 * len(pairs) + len(proposals))), *([-1.0] * len(places))]
    # All coefficients are 1, except those of places in the reviewers' constraints, which come last in all three lists.
    matrix = coo_array((values, (rows, columns)), shape=(len(proposals) + len(reviewers), len(costs))).tocsr()
    needed = np.array([*(wanted[name] for name in proposals), *(0 for _ in reviewers)], dtype=float)
    last = _are_last(places) if most is None else [False] * len(places)
    unbounded = np.array([False] * len(pairs) + last + [True] * len(proposals))
    bounds = Bounds(0.0, np.where(unbounded, np.inf, 1.0))
    solved = milp(costs, constraints=LinearConstraint(matrix, needed, needed), bounds=bounds)
    if solved.x is None:
        raise ArithmeticError(f"no plan of assignments was found: {solved.message}")
    chosen = [(proposals[p], reviewers[r]) for (p, r), share in zip(pairs, solved.x, strict=False) if share > 0.5]
    lacking = dict(zip(proposals, np.rint(solved.x[first_missing:]).astype(int).tolist(), strict=True))
    return AssignmentPlan(chosen, {name: count for name, count in lacking.items() if count})


def _place_costs(
    reviewer: str, wanted: Mapping[str, int], reviewers: Sequence[str], loads: Mapping[str, int], limit: int | None
) -> list[float]:
    """Return the costs of a reviewer's additional places. Each cost equals the resulting load of the reviewer; the last
    place stands for any number of further assignments, unless there is a limit."""
    has = loads.get(reviewer, 0)
    if limit is not None:
        return [float(load) for load in range(has + 1, limit + 1)]
    total = sum(max(0, count) for count in wanted.values()) + sum(loads.get(name, 0) for name in reviewers)
    most = max(has, -(-total // len(reviewers))) + _EXTRA_PLACES
    return [float(load) for load in range(has + 1, most + 1)] + [float(2 * most)]


def _are_last(places: Sequence[tuple[int, float]]) -> list[bool]:
    """Return whether each place is the last place of its reviewer."""
    return [at + 1 == len(places) or places[at + 1][0] != r for at, (r, _) in enumerate(places)]
