"""Small groups, dimension by dimension: who beat whom, and the judge's reasons."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from assayer.models import IdeaId
from assayer.models.ranking import Comparison, RankedIdea, Ranking

__all__ = ["MOST_IDEAS", "Encounter", "EncounterVerdict", "HeadToHeadTable", "head_to_head_tables"]

MOST_IDEAS = 12
"""Beyond that a table of everyone against everyone is not read."""

Outcome = Literal["won", "lost", "level"]


class EncounterVerdict(NamedTuple):
    """One verdict, as the judge saw the two ideas."""

    first: RankedIdea
    second: RankedIdea
    winner: Literal["first", "second", "tie"]
    reason: str


@dataclass(frozen=True)
class Encounter:
    """All verdicts on two ideas in one dimension."""

    one: RankedIdea
    other: RankedIdea
    verdicts: tuple[EncounterVerdict, ...]

    @cached_property
    def lead(self) -> int:
        """Verdicts that `one` won less those that it lost."""
        signs = {"first": 1, "second": -1, "tie": 0}
        return sum(signs[said.winner] * (1 if said.first is self.one else -1) for said in self.verdicts)

    @property
    def winner(self) -> RankedIdea | None:
        """None where the verdicts cancel out or are ties."""
        return self.one if self.lead > 0 else self.other if self.lead < 0 else None

    @property
    def loser(self) -> RankedIdea:
        return self.one if self.lead < 0 else self.other

    @property
    def contradicted(self) -> bool:
        """Whether both ideas won against each other."""
        won = {said.first.id if said.winner == "first" else said.second.id for said in self.verdicts if _decided(said)}
        return len(won) > 1


@dataclass(frozen=True)
class HeadToHeadTable:
    """One dimension of a small group."""

    dimension: str
    question: str
    order: tuple[RankedIdea, ...]
    """By strength in this dimension, best first."""
    encounters: tuple[Encounter, ...]
    """The most telling first: between ideas that stand nearest in this dimension, where a verdict decides most."""

    def outcome(self, one: RankedIdea, other: RankedIdea) -> Outcome | None:
        """For `one`; None where they did not meet."""
        met = self._met.get(frozenset((one.id, other.id)))
        if met is None:
            return None
        if met.winner is None:
            return "level"
        return "won" if met.winner.id == one.id else "lost"

    @cached_property
    def _met(self) -> dict[frozenset[IdeaId], Encounter]:
        return {frozenset((one.one.id, one.other.id)): one for one in self.encounters}


def head_to_head_tables(ranking: Ranking, comparisons: Sequence[Comparison]) -> tuple[HeadToHeadTable, ...]:
    """One for each dimension, that of the order first; empty for groups of more than twelve."""
    if len(ranking.ideas) > MOST_IDEAS:
        return ()
    dimensions = sorted(ranking.dimensions, key=lambda one: one.name != ranking.dimension)
    return tuple(_analysis(ranking, one.name, one.question, comparisons) for one in dimensions)


def _analysis(ranking: Ranking, name: str, question: str, comparisons: Iterable[Comparison]) -> HeadToHeadTable:
    ideas = {idea.id: idea for idea in ranking.ideas}
    met: dict[tuple[IdeaId, IdeaId], list[EncounterVerdict]] = {}
    for comparison in comparisons:
        for verdict in comparison.verdicts:
            if verdict.dimension == name:
                first, second = ideas[comparison.first], ideas[comparison.second]
                ahead, behind = sorted((first, second), key=lambda idea: idea.rank)
                met.setdefault((ahead.id, behind.id), []).append(
                    EncounterVerdict(first, second, verdict.winner, verdict.reason)
                )

    def gap(one: Encounter) -> tuple[float, int, int]:
        return abs(one.one.by_dimension[name] - one.other.by_dimension[name]), one.one.rank, one.other.rank

    encounters = [Encounter(ideas[one], ideas[other], tuple(said)) for (one, other), said in met.items()]
    return HeadToHeadTable(
        dimension=name,
        question=question,
        order=tuple(sorted(ranking.ideas, key=lambda idea: (-idea.by_dimension[name], idea.rank))),
        encounters=tuple(sorted(encounters, key=gap)),
    )


def _decided(said: EncounterVerdict) -> bool:
    return said.winner != "tie"
