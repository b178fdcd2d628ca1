"""Seats whose errors are known beforehand: how often each role says yes and no wrongly, alone or together.

A seat votes for a match with a chance that depends on its role and on whether the idea matches. Seats that share a
model err together: each vote then follows, with the chance `shared`, one belief about the item that all seats have in
common, and is the seat's own otherwise. The belief is a number drawn evenly from 0 to 1, and a seat that follows it
votes for a match if it lies under the seat's chance. So each role errs as often as it would alone, and two votes of one
role correlate by the square of `shared`.
"""

import hashlib
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from assayer.methods.debate.composition import Composition, Seat
from assayer.methods.debate.rounds import Ballot
from assayer.models import Frozen
from assayer.models.reward import DebateRole
from benchmarks.quality.debate_chances import chance_of_match

__all__ = ["GULLIBLE", "ORACLE", "Ballots", "SeatErrors", "SeatNoise", "ballot_of", "drawn", "exact_chance", "noises"]

Ballots = tuple[Ballot, ...]
"""What every seat would say in every round, in the order of speaking."""


class SeatErrors(Frozen):
    """Of one role, whatever the round."""

    false_yes: float
    """Chance of a vote for a match where the idea does not match."""
    false_no: float
    """Chance of a vote against one where it does."""


class SeatNoise(Frozen):
    name: str
    errors: Mapping[DebateRole, SeatErrors]
    shared: float = 0.0
    halts: float = 0.0
    """A moderator's chance to halt, whatever the idea, in each round."""

    def votes(self, matches: bool) -> Mapping[DebateRole, float]:
        """The chance of a vote for a match, by role."""
        return {role: 1.0 - one.false_no if matches else one.false_yes for role, one in self.errors.items()}

    def in_common(self, name: str, shared: float) -> "SeatNoise":
        return self.model_copy(update={"name": name, "shared": shared})


def _alike(false_yes: float, false_no: float) -> Mapping[DebateRole, SeatErrors]:
    voting: tuple[DebateRole, ...] = ("analyst", "critic", "evaluator")
    return {role: SeatErrors(false_yes=false_yes, false_no=false_no) for role in voting}


GULLIBLE = SeatNoise(name="gullible", errors=_alike(1.0, 0.0))
"""Believes whatever the idea says."""
ORACLE = SeatNoise(name="oracle", errors=_alike(0.0, 0.0))
"""Knows the truth."""

_STRICT: Mapping[DebateRole, SeatErrors] = {
    "analyst": SeatErrors(false_yes=0.10, false_no=0.20),
    "critic": SeatErrors(false_yes=0.05, false_no=0.40),
    "evaluator": SeatErrors(false_yes=0.08, false_no=0.30),
}
_LENIENT: Mapping[DebateRole, SeatErrors] = {
    "analyst": SeatErrors(false_yes=0.40, false_no=0.05),
    "critic": SeatErrors(false_yes=0.25, false_no=0.15),
    "evaluator": SeatErrors(false_yes=0.30, false_no=0.10),
}
_HALTS = 0.02


def noises(shared: float, dialled: Mapping[DebateRole, SeatErrors] | None = None) -> tuple[SeatNoise, ...]:
    """Each set of rates twice: seats that err alone, and seats that share `shared` of their beliefs. The rates are
    invented: no model was measured. Those that are dialled take the place of both sets, for the roles that they
    name."""
    sets = {"strict": _STRICT, "lenient": _LENIENT} if dialled is None else {"dialled": {**_LENIENT, **dialled}}
    alone = [SeatNoise(name=name, errors=errors, halts=_HALTS) for name, errors in sets.items()]
    return tuple(found for one in alone for found in (one, one.in_common(f"{one.name}-together", shared)))


def ballot_of(noise: SeatNoise, item: str, matches: bool, seat: Seat, number: int) -> Ballot:
    """What this seat says of this item in round `number`: always the same, whoever asks, so that a debate over HTTP
    and one by the rules alone can be held side by side."""
    place = f"{noise.name}|{item}|{seat.role}|{seat.number}|{number}"
    own = _drawn_for(f"own|{place}")
    if seat.role == "moderator":
        return "halt" if own < noise.halts else "go_on"
    follows = _drawn_for(f"follows|{place}") < noise.shared
    belief = _drawn_for(f"belief|{noise.name}|{item}") if follows else own
    return "match" if belief < noise.votes(matches)[seat.role] else "no_match"


def _drawn_for(key: str) -> float:
    """Evenly from 0 to 1, 1 excluded."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=6).digest()) / 2**48


def drawn(
    composition: Composition, noise: SeatNoise, matches: bool, count: int, dice: np.random.Generator
) -> Iterator[tuple[Ballots, int]]:
    """The ballots of so many debates: each way that was drawn, and how often it was."""
    votes = noise.votes(matches)
    seats = [seat for group in composition.groups for seat in group] * composition.rounds
    moderated = np.array([seat.role == "moderator" for seat in seats])
    chances = np.array([1.0 - noise.halts if seat.role == "moderator" else votes[seat.role] for seat in seats])
    follows = (dice.random((count, len(seats))) < noise.shared) & ~moderated
    numbers = np.where(follows, dice.random((count, 1)), dice.random((count, len(seats))))
    for ways, times in zip(*np.unique(numbers < chances, axis=0, return_counts=True), strict=True):
        yield tuple(_ballot(seat, bool(yes)) for seat, yes in zip(seats, ways, strict=True)), int(times)


def _ballot(seat: Seat, yes: bool) -> Ballot:
    if seat.role == "moderator":
        return "go_on" if yes else "halt"
    return "match" if yes else "no_match"


def exact_chance(composition: Composition, noise: SeatNoise, matches: bool) -> float:
    """Of a match: that of independent seats, averaged over all that the shared belief can be."""
    votes = noise.votes(matches)
    total = 0.0
    for low, high in pairwise(sorted({0.0, 1.0, *votes.values()})):
        told = {role: noise.shared * (rate >= high) + (1.0 - noise.shared) * rate for role, rate in votes.items()}
        total += (high - low) * chance_of_match(composition, told, noise.halts)
    return total
