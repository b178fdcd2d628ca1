"""The exact chance that a debate ends with a match, for voters who err independently at known rates."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from assayer.methods.debate.composition import Composition
from assayer.models.reward import DebateRole

__all__ = ["chance_of_match"]


def chance_of_match(composition: Composition, votes: Mapping[DebateRole, float], halts: float = 0.0) -> float:
    """`votes` is the chance that a seat of a role votes for a match, in every round anew and whatever others say: the
    true positive rate where the idea matches, the false positive rate where it does not. `halts` is a moderator's."""
    chances = [votes[seat.role] for seat in composition.voters]
    goes_on = 1.0 - halts if composition.moderators else 1.0
    all_match, none_match = prod(chances), prod(1.0 - one for one in chances)
    open_after_round = goes_on * (1.0 - all_match - none_match)
    earlier = sum(goes_on * all_match * open_after_round**number for number in range(composition.rounds - 1))
    last = goes_on * open_after_round ** (composition.rounds - 1)
    return earlier + last * _match_in_last_round(composition, chances)


def _match_in_last_round(composition: Composition, chances: Sequence[float]) -> float:
    ways = product((True, False), repeat=len(chances))
    return sum(
        prod(one if vote else 1.0 - one for one, vote in zip(chances, way, strict=True))
        for way in ways
        if _matches(composition, way)
    )


def _matches(composition: Composition, way: Sequence[bool]) -> bool:
    evaluators = way[len(way) - composition.evaluators :]
    others = way[: len(way) - composition.evaluators]
    if not evaluators:
        return all(others)
    return all(evaluators) and 2 * sum(others) >= len(others)
