"""First opinions of a call, beside each other and beside the program's scores: counted, with what chance would give.

First opinions alone: they were given before anybody saw the program's, so that it cannot have moved them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Absent
from orchestrator.reviewing.agreement import FEWEST, SCALE, SameOrder, mean_kappa, pair_agreements, same_order

__all__ = [
    "AmongPeople",
    "Distance",
    "FirstOpinions",
    "Likeness",
    "ProgramBin",
    "WithProgram",
    "among_people",
    "with_program",
]

_TENTHS = 10


class FirstOpinions(NamedTuple):
    """Columns: one entry for each first opinion of a call."""

    members: list[str]
    proposals: list[str]
    scores: list[int]
    machine: list[float | None]
    """The proposal's score, 0 to 1; None where the program gave none."""


class Distance(NamedTuple):
    apart: int
    """Between two first opinions of one proposal: 0 to 4."""
    pairs: int
    by_chance: float
    """Of as many pairs, if each opinion were drawn from all of them."""


class Likeness(NamedTuple):
    """Shares of pairs of opinions."""

    same: float
    near: float
    """At most one apart."""


class AmongPeople(NamedTuple):
    proposals: int
    """With two first opinions or more."""
    reviewers: int
    pairs: int
    """Of opinions of one proposal."""
    distances: tuple[Distance, ...]
    seen: Likeness
    chance: Likeness
    constant: Likeness
    """Of somebody who gives everything the most frequent score."""
    most_frequent: int
    kappa: float | Absent
    """As the panel has it."""
    kappa_pairs: int
    """Of reviewers, of whom it is the mean."""
    order: SameOrder | Absent


class ProgramBin(NamedTuple):
    low: int
    high: int
    """The program's scores, 0 to 100."""
    opinions: tuple[int, ...]
    """How many of each score from 1 to 5 are of proposals that the program scored so."""


class WithProgram(NamedTuple):
    opinions: int
    proposals: int
    unscored: int
    """First opinions of proposals that have no score of the program."""
    bins: tuple[ProgramBin, ...]
    """From the highest."""
    middles: tuple[float | None, ...]
    """The median of the program's scores, 0 to 1, for each score from 1 to 5; None where nobody gave it."""
    order: SameOrder | Absent


def among_people(given: FirstOpinions) -> AmongPeople | Absent:
    """Absent where too few proposals have two first opinions."""
    if not given.scores:
        return Absent(reason="Nobody has given a first opinion yet.")
    _, places = np.unique(given.proposals, return_inverse=True)
    counts = np.zeros((int(places.max()) + 1, len(SCALE)))
    np.add.at(counts, (places, np.asarray(given.scores) - 1), 1)
    counts = counts[counts.sum(axis=1) > 1]
    if len(counts) < FEWEST:
        what = _only(len(counts), "proposal has", "proposals have")
        return Absent(reason=f"{what} two first opinions or more; {FEWEST} are the fewest that say something.")
    table = counts.T @ counts - np.diag(counts.sum(axis=0))  # each pair both ways
    shares = table.sum(axis=1) / table.sum()
    by_chance = np.outer(shares, shares)
    apart = np.abs(np.subtract.outer(SCALE, SCALE))
    frequent = int(shares.argmax())
    agreements = pair_agreements(given.members, given.proposals, given.scores)
    return AmongPeople(
        proposals=len(counts),
        reviewers=len({who for one in agreements for who in (one.first, one.second)}),
        pairs=round(table.sum() / 2),
        distances=tuple(
            Distance(one, round(table[apart == one].sum() / 2), float(table.sum() / 2 * by_chance[apart == one].sum()))
            for one in range(len(SCALE))
        ),
        seen=_likeness(table / table.sum(), apart),
        chance=_likeness(by_chance, apart),
        constant=Likeness(float(shares[frequent]), float(shares[apart[frequent] <= 1].sum())),
        most_frequent=SCALE[frequent],
        kappa=mean_kappa(agreements),
        kappa_pairs=sum(not isinstance(one.kappa, Absent) for one in agreements),
        order=_told_apart([one.order for one in agreements]),
    )


def with_program(given: FirstOpinions) -> WithProgram | Absent:
    """Absent where too few first opinions are of proposals that have a score of the program."""
    if not given.scores:
        return Absent(reason="Nobody has given a first opinion yet.")
    machine = np.asarray(given.machine, dtype=float)
    known = ~np.isnan(machine)
    if known.sum() < FEWEST:
        what = _only(int(known.sum()), "first opinion is", "first opinions are")
        of = f"of a proposal that has a score of the program; {FEWEST} are the fewest that say something"
        return Absent(reason=f"{what} {of}.")
    scores, figures, members = np.asarray(given.scores)[known], machine[known], np.asarray(given.members)[known]
    borders = np.arange(_TENTHS + 1) / _TENTHS
    by_score = [figures[scores == score] for score in SCALE]
    counted = np.array([np.histogram(one, borders)[0] for one in by_score])
    return WithProgram(
        opinions=len(figures),
        proposals=len({one for one, there in zip(given.proposals, known, strict=True) if there}),
        unscored=int((~known).sum()),
        bins=tuple(
            ProgramBin(10 * place, 10 * place + 10, tuple(counted[:, place].tolist()))
            for place in reversed(range(_TENTHS))
        ),
        middles=tuple(float(np.median(one)) if len(one) else None for one in by_score),
        order=_told_apart(
            [same_order(scores[members == who].tolist(), figures[members == who]) for who in np.unique(members)]
        ),
    )


def _likeness(shares: NDArray[np.float64], apart: NDArray[np.int64]) -> Likeness:
    return Likeness(float(shares[apart == 0].sum()), float(shares[apart <= 1].sum()))


def _told_apart(orders: list[SameOrder]) -> SameOrder | Absent:
    found = SameOrder(sum(one.pairs for one in orders), sum(one.kept for one in orders))
    return found if found.pairs else Absent(reason="No reviewer has scored two of these proposals differently.")


def _only(count: int, one: str, several: str) -> str:
    said = f"No {one}" if not count else f"Only 1 {one}" if count == 1 else f"Only {count} {several}"
    return f"Not enough opinions. {said}"
