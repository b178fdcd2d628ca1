"""The analytic chance of a match is that of the state machine, way by way."""

from itertools import product

import pytest

from assayer.methods.debate.composition import COMPOSITIONS, Composition
from assayer.methods.debate.rounds import Ballot, Debate
from assayer.models.reward import DebateRole
from benchmarks.quality.debate_chances import chance_of_match

RATES: dict[DebateRole, float] = {"analyst": 0.7, "critic": 0.45, "evaluator": 0.8}
HALTS = 0.1


def _by_the_rules(debate: Debate) -> float:
    """Sums over everything that whoever speaks next may say."""
    if debate.outcome is not None:
        return float(debate.outcome.vote == "match")
    total = 0.0
    for said in product((True, False), repeat=len(debate.speaking)):
        chance = 1.0
        ballots: list[Ballot] = []
        for seat, yes in zip(debate.speaking, said, strict=True):
            rate = 1 - HALTS if seat.role == "moderator" else RATES[seat.role]
            chance *= rate if yes else 1 - rate
            moderated: tuple[Ballot, Ballot] = ("go_on", "halt")
            voted: tuple[Ballot, Ballot] = ("match", "no_match")
            ballots.append((moderated if seat.role == "moderator" else voted)[0 if yes else 1])
        total += chance * _by_the_rules(debate.heard(ballots))
    return total


@pytest.mark.parametrize("chosen", COMPOSITIONS.values(), ids=lambda one: one.name)
def test_the_chance_of_a_match_is_that_of_the_rules(chosen: Composition) -> None:
    assert chance_of_match(chosen, RATES, HALTS) == pytest.approx(_by_the_rules(Debate(chosen)))
