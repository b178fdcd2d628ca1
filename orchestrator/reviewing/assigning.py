"""Assignment of reviewers: each proposal gets a set number of reviewers without conflicts of interest, at about equal
loads.

This is a transportation problem: each additional proposal of a reviewer costs more than the previous one, so that the
cheapest plan is the most even plan. As in all network flow problems, the solution of its linear program is integral."""

import random
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np

_SHORT = 1e7
"""Cost of a missing reviewer: more than any load."""
_MIXING = 1e-3
"""Weight of random costs, which select among equally even plans so that the same people do not always share proposals.
"""
_SPARE = 8
"""Number of places above the mean load with distinct costs; further places cost the same."""


class AssignmentPlan(NamedTuple):
    pairs: list[tuple[str, str]]
    """Pairs of proposal and reviewer, in the order of the proposals."""
    short: dict[str, int]
    """Number of reviewers that a proposal lacks, because of conflicts or because there are too few."""


def plan_assignments(
    wanted: Mapping[str, int],
    reviewers: Sequence[str],
    barred: Set[tuple[str, str]],
    loads: Mapping[str, int],
) -> AssignmentPlan:
    """Assign reviewers to proposals; the same input gives the same plan. `wanted`: number of additional reviewers that
    each proposal needs. `barred`: forbidden pairs, including pairs already assigned. `loads`: number of assignments
    that each reviewer already has."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    proposals = [name for name, count in wanted.items() if count > 0]
    pairs = [(p, r) for p in range(len(proposals)) for r in range(len(reviewers))]
    pairs = [(p, r) for p, r in pairs if (proposals[p], reviewers[r]) not in barred]
    if not pairs:
        return AssignmentPlan([], {name: wanted[name] for name in proposals})
    places = [(r, cost) for r, name in enumerate(reviewers) for cost in _place_costs(name, wanted, reviewers, loads)]
    draw = random.Random(0)  # noqa: S311 - for variety, not for secrets
    costs = np.array(
        [*(draw.random() * _MIXING for _ in pairs), *(cost for _, cost in places), *(_SHORT for _ in proposals)]
    )
    # Rows: first a proposal's reviewers and what it lacks, then a reviewer's proposals and places.
    first_place, first_short = len(pairs), len(pairs) + len(places)
    rows = [
        *(p for p, _ in pairs),
        *range(len(proposals)),
        *(len(proposals) + r for _, r in pairs),
        *(len(proposals) + r for r, _ in places),
    ]
    columns = [
        *range(len(pairs)),
        *range(first_short, len(costs)),
        *range(len(pairs)),
        *range(first_place, first_short),
    ]
    values = [*([1.0] * (2 * len(pairs) + len(proposals))), *([-1.0] * len(places))]
    # The ones of a reviewer's proposals come before those of places in both lists.
    matrix = coo_array((values, (rows, columns)), shape=(len(proposals) + len(reviewers), len(costs))).tocsr()
    needed = np.array([*(wanted[name] for name in proposals), *(0 for _ in reviewers)], dtype=float)
    unbounded = np.array([False] * len(pairs) + _lasts(places) + [True] * len(proposals))
    bounds = Bounds(0.0, np.where(unbounded, np.inf, 1.0))
    solved = milp(costs, constraints=LinearConstraint(matrix, needed, needed), bounds=bounds)
    if solved.x is None:
        raise ArithmeticError(f"the plan of assignments was not solved: {solved.message}")
    chosen = [(proposals[p], reviewers[r]) for (p, r), share in zip(pairs, solved.x, strict=False) if share > 0.5]
    lacking = dict(zip(proposals, np.rint(solved.x[first_short:]).astype(int).tolist(), strict=True))
    return AssignmentPlan(chosen, {name: count for name, count in lacking.items() if count})


def _place_costs(
    reviewer: str, wanted: Mapping[str, int], reviewers: Sequence[str], loads: Mapping[str, int]
) -> list[float]:
    """Return the costs of a reviewer's further places, each equal to the resulting load; the last place has no
    limit on assignments."""
    has = loads.get(reviewer, 0)
    total = sum(max(0, count) for count in wanted.values()) + sum(loads.get(name, 0) for name in reviewers)
    most = max(has, -(-total // len(reviewers))) + _SPARE
    return [float(load) for load in range(has + 1, most + 1)] + [float(2 * most)]


def _lasts(places: Sequence[tuple[int, float]]) -> list[bool]:
    return [at + 1 == len(places) or places[at + 1][0] != r for at, (r, _) in enumerate(places)]
