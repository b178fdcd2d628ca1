"""The rules of a debate, without a language model: which seats speak next, and whether the outcome is settled.

To run a debate, pass it the ballots of the seats that speak next, until no seat is left to speak. Start with `debate =
Debate(composition("two-analysts-evaluator"))`, then repeat `debate = debate.with_ballots([ballot_of(seat, debate.round)
for seat in debate.speaking])` while `debate.speaking` is not empty. `debate.outcome` is then the verdict, and
`len(debate.ballots)` the number of LLM requests. `ballot_of` can be a language model, a script, or a simulated judge
that votes at random with a known error rate.

These rules determine the verdict from the ballots, in the order in which they were cast:

1. If the moderator halts the debate, the idea has no substance: no match.

2. The first round in which all voting seats cast the same vote settles the debate with that vote.

3. If there is no such round, the last round decides: the idea matches only if every evaluator votes for a match and at
least half of the other voting seats do. Evaluators can therefore settle a split and overrule a minority, but not a
majority. In a debate without an evaluator, disagreement in the last round means no match.

Later ballots cannot change a verdict by rule 1 or 2. In the last round they often cannot change the verdict by rule 3
either, because a vote for a match never makes a match less likely. The debate ends as soon as the remaining ballots
cannot change the verdict, so stopping early always gives the verdict of the full debate. Seats are never skipped,
because later seats would have read their arguments.

A lost ballot leaves the verdict undecided, unless no possible ballot could have changed it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from assayer.methods.debate.composition import Composition, Seat

Vote = Literal["match", "no_match"]
Ballot = Literal["match", "no_match", "go_on", "halt", "lost"]
"""A seat's ballot: `match` or `no_match` from a voting seat, `go_on` or `halt` from a moderator, `lost` if no answer
arrived."""

OutcomeGround = Literal["halted", "agreed", "evaluators", "disagreed", "lost"]

_ALLOWED_BALLOTS: dict[bool, frozenset[Ballot]] = {
    True: frozenset({"go_on", "halt", "lost"}),
    False: frozenset({"match", "no_match", "lost"}),
}
"""The ballots that a seat may cast, keyed by whether it is a moderator."""


class DebateOutcome(NamedTuple):
    vote: Vote | None
    """The verdict, or None if lost ballots left it undecided."""
    round: int
    """The round in which the debate was settled, from 1."""
    ground: OutcomeGround
    """Reason why the debate was settled:
    - `halted`: a moderator ended the debate.
    - `agreed`: all voting seats agreed in one round.
    - `evaluators`: the evaluators settled a split.
    - `disagreed`: the last round ended in disagreement, without a match.
    - `lost`: lost ballots left the outcome undecided."""


@dataclass(frozen=True)
class Debate:
    composition: Composition
    ballots: tuple[Ballot, ...] = ()
    """Ballots in speaking order. Seats that speak in parallel always cast theirs together."""

    @property
    def round(self) -> int:
        """The round in which the next seats speak or, if the debate is over, in which it was settled."""
        return self.outcome.round if self.outcome else len(self.ballots) // len(self._seats) + 1

    @property
    def speaking(self) -> tuple[Seat, ...]:
        """The seats that speak next, in parallel; empty once the outcome is settled. Each has read everything said so
        far, but not the answers of the other seats that speak with it."""
        if self.outcome is not None:
            return ()
        spoken_count = len(self.ballots) % len(self._seats)
        for group in self.composition.groups:
            if spoken_count == 0:
                return group
            spoken_count -= len(group)
        raise AssertionError("ballots come in whole groups")

    def cast_ballots(self, ballots: Sequence[Ballot]) -> "Debate":
        """Return the debate after the next seats have cast their ballots, in seat order. Raises ValueError if these
        seats may not cast such ballots."""
        seats = self.speaking
        if len(ballots) != len(seats):
            raise ValueError(f"{len(seats)} seats speak next, but {len(ballots)} ballots were cast.")
        for seat, ballot in zip(seats, ballots, strict=True):
            if ballot not in _ALLOWED_BALLOTS[seat.role == "moderator"]:
                raise ValueError(f"{seat.role} {seat.number} cannot cast {ballot!r}.")
        return Debate(self.composition, (*self.ballots, *ballots))

    @cached_property
    def outcome(self) -> DebateOutcome | None:
        """The outcome; None while the debate is open."""
        size = len(self._seats)
        for start in range(0, len(self.ballots), size):
            number = start // size + 1
            outcome = self._find_outcome(number, self.ballots[start : start + size])
            if outcome is not None:
                return outcome
        return None

    @property
    def _seats(self) -> tuple[Seat, ...]:
        return tuple(seat for group in self.composition.groups for seat in group)

    def _find_outcome(self, number: int, ballots: Sequence[Ballot]) -> DebateOutcome | None:
        if "halt" in ballots:
            return DebateOutcome("no_match", number, "halted")
        cast = [(seat, ballot) for seat, ballot in zip(self._seats, ballots, strict=False) if seat.role != "moderator"]
        votes = [ballot for _, ballot in cast]
        complete = len(votes) == len(self.composition.voters)
        if complete and len(set(votes)) == 1 and votes[0] in ("match", "no_match"):
            return DebateOutcome("match" if votes[0] == "match" else "no_match", number, "agreed")
        if number == self.composition.rounds and "lost" not in ballots[: len(ballots) - len(votes)]:
            by_seat = dict(cast)
            if not self._is_match(by_seat, open_vote="match"):
                return DebateOutcome("no_match", number, "disagreed")
            if self._is_match(by_seat, open_vote="no_match"):
                return DebateOutcome("match", number, "evaluators")
        return DebateOutcome(None, number, "lost") if "lost" in ballots else None

    def _is_match(self, cast: dict[Seat, Ballot], open_vote: Vote) -> bool:
        """Return whether the rule for the last round gives a match if all unknown votes are cast as `open_vote`."""
        seat_votes = [(seat, cast.get(seat, "lost")) for seat in self.composition.voters]
        votes = [(seat, open_vote if ballot == "lost" else ballot) for seat, ballot in seat_votes]
        evaluators = [vote == "match" for seat, vote in votes if seat.role == "evaluator"]
        other_votes = [vote == "match" for seat, vote in votes if seat.role != "evaluator"]
        if not evaluators:
            return all(other_votes)
        return all(evaluators) and 2 * sum(other_votes) >= len(other_votes)
