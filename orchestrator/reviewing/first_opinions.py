"""Agreement of a call's first opinions with each other and with the program's scores, compared with chance.

Only first opinions are used, because they were given before the reviewers saw the program's report.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Absent
from orchestrator.reviewing.agreement import FEWEST, SCALE, SameOrder, mean_kappa, pair_agreements, same_order

_TENTHS = 10


class FirstOpinions(NamedTuple):
    """First opinions of a call, as columns with one entry for each opinion."""

    members: list[str]
    proposals: list[str]
    scores: list[int]
    machine: list[float | None]
    """Program's score of the proposal, 0 to 1; None if the program gave none."""


class Distance(NamedTuple):
    apart: int
    """Difference between two first opinions of the same proposal, 0 to 4."""
    pairs: int
    by_chance: float
    """Expected number of such pairs if each opinion were drawn at random from all opinions."""


class Likeness(NamedTuple):
    """Fractions of pairs of opinions that are alike."""

    same: float
    near: float
    """Share of pairs that are at most 1 apart."""


class AmongPeople(NamedTuple):
    proposals: int
    """Number of proposals with two or more first opinions."""
    reviewers: int
    pairs: int
    """Number of pairs of opinions of the same proposal."""
    distances: tuple[Distance, ...]
    seen: Likeness
    chance: Likeness
    constant: Likeness
    """Agreement with a reviewer who always gives the most frequent score."""
    most_frequent: int
    kappa: float | Absent
    """Mean kappa, computed as in the panel."""
    kappa_pairs: int
    """Number of reviewer pairs over which kappa is averaged."""
    order: SameOrder | Absent


class ProgramBin(NamedTuple):
    low: int
    high: int
    """Upper end of the range of the program's scores, 0 to 100."""
    opinions: tuple[int, ...]
    """Number of opinions of each score from 1 to 5 on proposals whose program score is in this range."""


class WithProgram(NamedTuple):
    opinions: int
    proposals: int
    unscored: int
    """Number of first opinions of proposals that the program did not score."""
    bins: tuple[ProgramBin, ...]
    """Bins in descending order."""
    middles: tuple[float | None, ...]
    """Median of the program's scores, 0 to 1, for each opinion score from 1 to 5; None for a score without opinions."""
    order: SameOrder | Absent


def among_people(opinions: FirstOpinions) -> AmongPeople | Absent:
    """Return the agreement among people; Absent if too few proposals have two first opinions."""
    if not opinions.scores:
        return Absent(reason="There are no first opinions yet.")
    _, places = np.unique(opinions.proposals, return_inverse=True)
    counts = np.zeros((int(places.max()) + 1, len(SCALE)))
    np.add.at(counts, (places, np.asarray(opinions.scores) - 1), 1)
    counts = counts[counts.sum(axis=1) > 1]
    if len(counts) < FEWEST:
        too_few = _only(len(counts), "proposal has", "proposals have")
        return Absent(reason=f"{too_few} two first opinions or more; {FEWEST} are the fewest that say something.")
    table = counts.T @ counts - np.diag(counts.sum(axis=0))  # each pair both ways
    shares = table.sum(axis=1) / table.sum()
    by_chance = np.outer(shares, shares)
    apart = np.abs(np.subtract.outer(SCALE, SCALE))
    frequent = int(shares.argmax())
    agreements = pair_agreements(opinions.members, opinions.proposals, opinions.scores)
    return AmongPeople(
        proposals=len(counts),
        reviewers=len({who for agreement in agreements for who in (agreement.first, agreement.second)}),
        pairs=round(table.sum() / 2),
        distances=tuple(
            Distance(
                number,
                round(table[apart == number].sum() / 2),
                float(table.sum() / 2 * by_chance[apart == number].sum()),
            )
            for number in range(len(SCALE))
        ),
        seen=_likeness(table / table.sum(), apart),
        chance=_likeness(by_chance, apart),
        constant=Likeness(float(shares[frequent]), float(shares[apart[frequent] <= 1].sum())),
        most_frequent=SCALE[frequent],
        kappa=mean_kappa(agreements),
        kappa_pairs=sum(not isinstance(agreement.kappa, Absent) for agreement in agreements),
        order=_told_apart([agreement.order for agreement in agreements]),
    )


def with_program(opinions: FirstOpinions) -> WithProgram | Absent:
    """Return the agreement with the program; Absent if too few first opinions are of proposals that the program
    scored."""
    if not opinions.scores:
        return Absent(reason="There are no first opinions yet.")
    machine = np.asarray(opinions.machine, dtype=float)
    known = ~np.isnan(machine)
    if known.sum() < FEWEST:
        too_few = _only(int(known.sum()), "first opinion is", "first opinions are")
        of = f"of a proposal that has a score of the program; {FEWEST} are the fewest that say something"
        return Absent(reason=f"{too_few} {of}.")
    scores, figures, members = np.asarray(opinions.scores)[known], machine[known], np.asarray(opinions.members)[known]
    borders = np.arange(_TENTHS + 1) / _TENTHS
    by_score = [figures[scores == score] for score in SCALE]
    counted = np.array([np.histogram(item, borders)[0] for item in by_score])
    return WithProgram(
        opinions=len(figures),
        proposals=len({proposal for proposal, there in zip(opinions.proposals, known, strict=True) if there}),
        unscored=int((~known).sum()),
        bins=tuple(
            ProgramBin(10 * place, 10 * place + 10, tuple(counted[:, place].tolist()))
            for place in reversed(range(_TENTHS))
        ),
        middles=tuple(float(np.median(item)) if len(item) else None for item in by_score),
        order=_told_apart(
            [same_order(scores[members == who].tolist(), figures[members == who]) for who in np.unique(members)]
        ),
    )


def _likeness(shares: NDArray[np.float64], apart: NDArray[np.int64]) -> Likeness:
    return Likeness(float(shares[apart == 0].sum()), float(shares[apart <= 1].sum()))


def _told_apart(orders: list[SameOrder]) -> SameOrder | Absent:
    order = SameOrder(sum(item.pairs for item in orders), sum(item.kept for item in orders))
    return order if order.pairs else Absent(reason="No reviewer has scored two of these proposals differently.")


def _only(count: int, text: str, several: str) -> str:
    sentence = f"No {text}" if not count else f"Only 1 {text}" if count == 1 else f"Only {count} {several}"
    return f"Not enough opinions. {sentence}"
