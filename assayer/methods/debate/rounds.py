"""Who speaks next in a debate, and whether its outcome is settled: rules alone, without any language model.

A debate is driven by handing it the ballots of whoever speaks next, until nobody does:

    debate = Debate(composition("two-analysts-evaluator"))
    while debate.speaking:
        debate = debate.heard([ballot_of(seat, debate.round) for seat in debate.speaking])
    debate.outcome, len(debate.ballots)   # the verdict, and the calls that it took

`ballot_of` may be a language model, a script, or a judge of known noise that draws a vote at random.

The verdict is strict, and read off the ballots in the order in which they were cast:

1. Where the moderator halts, the idea has no substance: no match.
2. The first round in which all voting seats vote alike settles it, as they vote.
3. If no round does, the last one decides: the idea matches only if every evaluator votes so, and at least half of the
   other voting seats do. So evaluators may settle a split and overrule a minority, but not a majority, and a debate
   without an evaluator that ends in disagreement is no match.

Ballots that are still to come cannot undo 1 and 2, and in the last round often not 3, since a vote for a match never
makes one less likely. As soon as all that is left could be cast in any way without changing the verdict, nobody
speaks any more: stopping early always gives the verdict of the full debate. Seats are never skipped, because those
who speak later would have read what they said.

A lost answer leaves the verdict open, unless it is settled whatever the answer had been.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from assayer.methods.debate.composition import Composition, Seat

__all__ = ["Ballot", "Debate", "DebateOutcome", "OutcomeGround", "Vote"]

Vote = Literal["match", "no_match"]
Ballot = Literal["match", "no_match", "go_on", "halt", "lost"]
"""Of a seat that votes, `match` or `no_match`; of a moderator, `go_on` or `halt`; `lost` where no answer came."""

OutcomeGround = Literal["halted", "agreed", "evaluators", "disagreed", "lost"]

_ALLOWED: dict[bool, frozenset[Ballot]] = {
    True: frozenset({"go_on", "halt", "lost"}),
    False: frozenset({"match", "no_match", "lost"}),
}
"""By whether the seat is a moderator's."""


class DebateOutcome(NamedTuple):
    vote: Vote | None
    """None where a lost answer left it open."""
    round: int
    """In which it was settled, from 1."""
    ground: OutcomeGround
    """`agreed`: all voting seats of a round; `evaluators`: they settled a split; `disagreed`: neither came about."""


@dataclass(frozen=True)
class Debate:
    composition: Composition
    ballots: tuple[Ballot, ...] = ()
    """In the order of speaking, whole groups only."""

    @property
    def round(self) -> int:
        """That of whoever speaks next; of a debate that is over, the one in which it was settled."""
        return self.outcome.round if self.outcome else len(self.ballots) // len(self._seats) + 1

    @property
    def speaking(self) -> tuple[Seat, ...]:
        """The seats that speak next, side by side: each has read all that was said before, and nothing of what the
        others of this group say now. Empty once the outcome is settled."""
        if self.outcome is not None:
            return ()
        spoken = len(self.ballots) % len(self._seats)
        for group in self.composition.groups:
            if spoken == 0:
                return group
            spoken -= len(group)
        raise AssertionError("ballots come in whole groups")

    def heard(self, ballots: Sequence[Ballot]) -> "Debate":
        """After those who speak next have spoken, in the order of their seats. Raises ValueError for ballots that are
        not theirs to cast."""
        seats = self.speaking
        if len(ballots) != len(seats):
            raise ValueError(f"{len(seats)} seats speak next, and {len(ballots)} ballots were cast.")
        for seat, ballot in zip(seats, ballots, strict=True):
            if ballot not in _ALLOWED[seat.role == "moderator"]:
                raise ValueError(f"{seat.role} {seat.number} cannot cast {ballot!r}.")
        return Debate(self.composition, (*self.ballots, *ballots))

    @cached_property
    def outcome(self) -> DebateOutcome | None:
        """None while it is open."""
        size = len(self._seats)
        for start in range(0, len(self.ballots), size):
            number = start // size + 1
            settled = self._settled_in(number, self.ballots[start : start + size])
            if settled is not None:
                return settled
        return None

    @property
    def _seats(self) -> tuple[Seat, ...]:
        return tuple(seat for group in self.composition.groups for seat in group)

    def _settled_in(self, number: int, ballots: Sequence[Ballot]) -> DebateOutcome | None:
        if "halt" in ballots:
            return DebateOutcome("no_match", number, "halted")
        cast = [(seat, ballot) for seat, ballot in zip(self._seats, ballots, strict=False) if seat.role != "moderator"]
        votes = [ballot for _, ballot in cast]
        complete = len(votes) == len(self.composition.voters)
        if complete and len(set(votes)) == 1 and votes[0] in ("match", "no_match"):
            return DebateOutcome("match" if votes[0] == "match" else "no_match", number, "agreed")
        if number == self.composition.rounds and "lost" not in ballots[: len(ballots) - len(votes)]:
            by_seat = dict(cast)
            if not self._matches(by_seat, open_vote="match"):
                return DebateOutcome("no_match", number, "disagreed")
            if self._matches(by_seat, open_vote="no_match"):
                return DebateOutcome("match", number, "evaluators")
        return DebateOutcome(None, number, "lost") if "lost" in ballots else None

    def _matches(self, cast: dict[Seat, Ballot], open_vote: Vote) -> bool:
        """By the rule of the last round, if all votes that are not known were cast like this."""
        known = [(seat, cast.get(seat, "lost")) for seat in self.composition.voters]
        votes = [(seat, open_vote if ballot == "lost" else ballot) for seat, ballot in known]
        evaluators = [vote == "match" for seat, vote in votes if seat.role == "evaluator"]
        others = [vote == "match" for seat, vote in votes if seat.role != "evaluator"]
        if not evaluators:
            return all(others)
        return all(evaluators) and 2 * sum(others) >= len(others)
