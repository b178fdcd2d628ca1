"""Head-to-head tables for small groups of ideas: each pair's winner in each dimension, and the judge's reasons."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from assayer.models import IdeaId
from assayer_client.comparisons import Comparison
from assayer_client.rankings import RankedIdea, Ranking

MAX_IDEAS = 12
"""Maximum number of ideas in a head-to-head table; larger tables are unreadable."""

Outcome = Literal["won", "lost", "level"]


class EncounterVerdict(NamedTuple):
    """Verdict on two ideas, in the order the judge saw them."""

    first: RankedIdea
    second: RankedIdea
    winner: Literal["first", "second", "tie"]
    reason: str


@dataclass(frozen=True)
class Encounter:
    """All verdicts on two ideas in one dimension."""

    idea: RankedIdea
    other: RankedIdea
    verdicts: tuple[EncounterVerdict, ...]

    @cached_property
    def lead(self) -> int:
        """Number of verdicts that `idea` won, minus the number that it lost."""
        signs = {"first": 1, "second": -1, "tie": 0}
        return sum(signs[verdict.winner] * (1 if verdict.first is self.idea else -1) for verdict in self.verdicts)

    @property
    def winner(self) -> RankedIdea | None:
        """Idea that won more verdicts; None if the verdicts cancel out or are ties."""
        return self.idea if self.lead > 0 else self.other if self.lead < 0 else None

    @property
    def loser(self) -> RankedIdea:
        return self.idea if self.lead < 0 else self.other

    @property
    def is_contradictory(self) -> bool:
        """True if each idea won at least one verdict against the other."""
        decisions = (verdict for verdict in self.verdicts if verdict.winner != "tie")
        return len({verdict.first.id if verdict.winner == "first" else verdict.second.id for verdict in decisions}) > 1


@dataclass(frozen=True)
class HeadToHeadTable:
    """Head-to-head table of a small group in one dimension."""

    dimension: str
    question: str
    order: tuple[RankedIdea, ...]
    """Ideas sorted by strength in this dimension, best first."""
    encounters: tuple[Encounter, ...]
    """Encounters, those between ideas closest in strength first, because their verdicts affect the order most."""

    def get_outcome(self, ranked_idea: RankedIdea, other: RankedIdea) -> Outcome | None:
        """Return the outcome for `ranked_idea` against `other`; None if the two were not compared."""
        encounter = self._encounter_by_pair.get(frozenset((ranked_idea.id, other.id)))
        if encounter is None:
            return None
        if encounter.winner is None:
            return "level"
        return "won" if encounter.winner.id == ranked_idea.id else "lost"

    @cached_property
    def _encounter_by_pair(self) -> dict[frozenset[IdeaId], Encounter]:
        return {frozenset((encounter.idea.id, encounter.other.id)): encounter for encounter in self.encounters}


def build_head_to_head_tables(ranking: Ranking, comparisons: Sequence[Comparison]) -> tuple[HeadToHeadTable, ...]:
    """Return a table for each dimension, beginning with the dimension that orders the ranking. Returns an empty tuple
    if there are more than MAX_IDEAS ideas."""
    if len(ranking.ideas) > MAX_IDEAS:
        return ()
    dimensions = sorted(ranking.dimensions, key=lambda dimension: dimension.name != ranking.dimension)
    return tuple(_build_table(ranking, dimension.name, dimension.question, comparisons) for dimension in dimensions)


def _build_table(ranking: Ranking, name: str, question: str, comparisons: Iterable[Comparison]) -> HeadToHeadTable:
    ideas = {idea.id: idea for idea in ranking.ideas}
    by_pair: dict[tuple[IdeaId, IdeaId], list[EncounterVerdict]] = {}
    for comparison in comparisons:
        for verdict in comparison.verdicts:
            if verdict.dimension == name:
                first, second = ideas[comparison.first], ideas[comparison.second]
                ahead, behind = sorted((first, second), key=lambda idea: idea.rank)
                by_pair.setdefault((ahead.id, behind.id), []).append(
                    EncounterVerdict(first, second, verdict.winner, verdict.reason)
                )

    def measure_gap(encounter: Encounter) -> tuple[float, int, int]:
        ahead, behind = encounter.idea, encounter.other
        return abs(ahead.dimension_strengths[name] - behind.dimension_strengths[name]), ahead.rank, behind.rank

    encounters = [Encounter(ideas[item], ideas[other], tuple(verdicts)) for (item, other), verdicts in by_pair.items()]
    return HeadToHeadTable(
        dimension=name,
        question=question,
        order=tuple(sorted(ranking.ideas, key=lambda idea: (-idea.dimension_strengths[name], idea.rank))),
        encounters=tuple(sorted(encounters, key=measure_gap)),
    )
