"""Debates between seats of known error, held by the rules alone: verdicts, calls, and what stopping early saves."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

from assayer.methods.debate.composition import Composition, Seat
from assayer.methods.debate.rounds import Ballot, Debate
from benchmarks.quality.debate_chances import chance_of_match
from benchmarks.quality.rewards.noise import Ballots, SeatNoise, drawn, exact_chance

__all__ = ["HeldDebate", "NoisyDebates", "both_ways", "full_verdict", "hold", "noisy_debates", "share"]


class HeldDebate(NamedTuple):
    match: bool
    calls: int
    agreed_at_once: bool
    """All voting seats said the same in the first round, and nobody halted."""


def hold(composition: Composition, says: Callable[[Seat, int], Ballot]) -> HeldDebate:
    """By the rules that the judge follows, which stop as soon as the outcome is settled. `says` is asked with the seat
    and the round."""
    debate = Debate(composition)
    while (outcome := debate.outcome) is None:
        debate = debate.heard([says(seat, debate.round) for seat in debate.speaking])
    return HeldDebate(
        match=outcome.vote == "match",
        calls=len(debate.ballots),
        agreed_at_once=outcome.round == 1 and outcome.ground == "agreed",
    )


def full_verdict(composition: Composition, says: Callable[[Seat, int], Ballot]) -> bool:
    """Whether a debate in which everybody speaks in every round ends with a match: the rules read anew from the page,
    and not from the code that stops early."""
    for number in range(1, composition.rounds + 1):
        said = {seat: says(seat, number) for group in composition.groups for seat in group}
        if "halt" in said.values():
            return False
        votes = {seat: said[seat] == "match" for seat in composition.voters}
        if len(set(votes.values())) == 1:
            return all(votes.values())
    evaluators = [yes for seat, yes in votes.items() if seat.role == "evaluator"]
    others = [yes for seat, yes in votes.items() if seat.role != "evaluator"]
    return bool(evaluators) and all(evaluators) and 2 * sum(others) >= len(others)


class NoisyDebates(NamedTuple):
    """As many debates about ideas that match as about ideas that do not."""

    composition: Composition
    noise: SeatNoise
    each: int
    right: int
    """Ideas that match, told so."""
    wrong: int
    """Ideas that do not match, told that they do."""
    calls: int
    agreed: int
    """Debates that ended by agreement in the first round."""
    agreed_calls: int
    changed: int
    """Verdicts that are not those of the debate in which everybody speaks to the end."""

    @property
    def saved(self) -> float:
        """Share of the calls of debates that go on to their end."""
        return 1.0 - self.calls / (2 * self.each * self.composition.most_calls)

    @property
    def saved_where_agreed(self) -> float | None:
        """None where seats never agreed at once."""
        return 1.0 - self.agreed_calls / (self.agreed * self.composition.most_calls) if self.agreed else None

    @property
    def exact_recall(self) -> float:
        return exact_chance(self.composition, self.noise, True)

    def exact_precision(self, matching: float = 0.5) -> float:
        """Where this share of the ideas matches."""
        return _precision(self.exact_recall, exact_chance(self.composition, self.noise, False), matching)

    @property
    def independent_recall(self) -> float:
        """As if seats erred alone."""
        return self._independent(True)

    @property
    def independent_precision(self) -> float:
        return _precision(self.independent_recall, self._independent(False), 0.5)

    def _independent(self, matches: bool) -> float:
        return chance_of_match(self.composition, self.noise.votes(matches), self.noise.halts)

    def farthest(self, confidence: float) -> float:
        """By how much recall or precision could at most differ from the exact ones: from the farther end of its Wilson
        interval."""
        measured = ((self.right, self.each, self.exact_recall), (self.right, self.told, self.exact_precision()))
        return max(_distance(hits, of, exact, confidence) for hits, of, exact in measured if of)

    @property
    def told(self) -> int:
        """Ideas told to match."""
        return self.right + self.wrong


def _precision(recall: float, false_positives: float, matching: float) -> float:
    right = matching * recall
    return right / (right + (1.0 - matching) * false_positives)


def _distance(hits: int, of: int, exact: float, confidence: float) -> float:
    interval = binomtest(hits, of).proportion_ci(confidence, method="wilson")
    return max(abs(interval.low - exact), abs(interval.high - exact))


def noisy_debates(composition: Composition, noise: SeatNoise, each: int, dice: np.random.Generator) -> NoisyDebates:
    counted = dict.fromkeys(("right", "wrong", "calls", "agreed", "agreed_calls", "changed"), 0)
    for matches in (True, False):
        for ballots, times in drawn(composition, noise, matches, each, dice):
            held, full = both_ways(composition, ballots)
            counted["right" if matches else "wrong"] += times * held.match
            counted["calls"] += times * held.calls
            counted["agreed"] += times * held.agreed_at_once
            counted["agreed_calls"] += times * held.agreed_at_once * held.calls
            counted["changed"] += times * (held.match != full)
    return NoisyDebates(composition, noise, each, **counted)


@cache
def both_ways(composition: Composition, ballots: Ballots) -> tuple[HeldDebate, bool]:
    """The debate that stops early, and the verdict of the one that does not."""
    seats = [seat for group in composition.groups for seat in group]
    slots = [(seat, number) for number in range(1, composition.rounds + 1) for seat in seats]
    said = dict(zip(slots, ballots, strict=True))

    def says(seat: Seat, number: int) -> Ballot:
        return said[seat, number]

    return hold(composition, says), full_verdict(composition, says)


def share(hits: int, of: int) -> str:
    """In per cent, with Wilson's 95 % interval."""
    if not of:
        return "none"
    interval = binomtest(hits, of).proportion_ci(method="wilson")
    return f"{hits / of:.1%} [{interval.low:.1%}, {interval.high:.1%}]"
