"""What the HTML and the Markdown page of a ranking have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from assayer.models import Absent
from assayer.models.ranking import Band, Baseline, Comparison, RankedIdea, Ranking
from assayer.reports.ranking.encounters import Analysis, analyses

__all__ = ["BANDS", "Caution", "Group", "RankingPage"]

BANDS: dict[Band, str] = {
    "in": "Certainly in",
    "human": "For people to decide",
    "out": "Certainly out",
}
"""In the order in which they are read."""

_LEANING = 0.5
"""Logits of bias beyond which a reader should know: an even pair goes 62 to 38 to what is shown first."""
_LIKE_DICE = 0.2
_FEW_TRIANGLES = 20
_FEW_BOTH_WAYS = 10
_FEW_VERDICTS = 8
"""On each idea: below that, an order is mostly its start."""
_MANY_LOST = 0.05


class Caution(NamedTuple):
    title: str
    text: str
    grave: bool = False


class Group(NamedTuple):
    """Ideas of one band; all of them, unnamed, without a cut."""

    band: Band | None
    title: str
    ideas: tuple[RankedIdea, ...]


@dataclass(frozen=True)
class RankingPage:
    ranking: Ranking
    comparisons: Sequence[Comparison]

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Each in the order of ranks; bands that hold nobody are there, and empty."""
        ideas = self.ranking.ideas
        if self.ranking.cut is None:
            return (Group(None, "The order", ideas),)
        return tuple(
            Group(band, title, tuple(one for one in ideas if one.band == band)) for band, title in BANDS.items()
        )

    @cached_property
    def analyses(self) -> tuple[Analysis, ...]:
        return analyses(self.ranking, self.comparisons)

    @property
    def baselines(self) -> tuple[Baseline, ...]:
        return () if isinstance(self.ranking.baselines, Absent) else self.ranking.baselines

    @property
    def per_idea(self) -> float:
        """Verdicts on each idea; every comparison is one on two ideas."""
        return 2 * self.ranking.judge.comparisons / len(self.ranking.ideas)

    def place(self, rank: float) -> str:
        """Where a rank stands on the drawn scale, as a percentage; ranks lie in the middle of their share."""
        return f"{100 * (rank - 0.5) / len(self.ranking.ideas):.2f}%"

    @cached_property
    def cut_place(self) -> str | None:
        """Between the last rank that is in and the first that is out."""
        return None if self.ranking.cut is None else self.place(self.ranking.cut + 0.5)

    @cached_property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reader must know of this judge before relying on the order."""
        judge = (self._no_answer(), self._stopped(), self._dice(), self._leaning(), self._turncoat(), self._lost())
        return tuple(one for one in (*judge, self._cut_short(), self._few()) if one is not None)

    def _no_answer(self) -> Caution | None:
        if self.ranking.judge.comparisons:
            return None
        start = "of the point scores" if self.ranking.seeded else "of their ids, which means nothing"
        return Caution("No comparison", f"The judge gave no usable answer: the order is that {start}.", True)

    def _stopped(self) -> Caution | None:
        stopped = self.ranking.stopped
        text = "The ranking rests on the comparisons that had been answered by then."
        return None if stopped is None else Caution("Budget spent", f"{stopped.reason} {text}")

    def _dice(self) -> Caution | None:
        judge = self.ranking.judge
        if judge.triangles < _FEW_TRIANGLES or judge.cycles / judge.triangles < _LIKE_DICE:
            return None
        share = 100 * judge.cycles / judge.triangles
        text = f"{share:.0f} % of the triples go round in a circle; dice would make 25 %. Do not rely on this order."
        return Caution("Hardly better than dice", text, True)

    def _leaning(self) -> Caution | None:
        interval = self.ranking.judge.bias_interval
        if interval.low < _LEANING and interval.high > -_LEANING:
            return None
        side = "first" if interval.low > 0 else "second"
        text = (
            f"This judge favours the idea that is shown {side}. Who is shown first is drawn and the leaning is taken "
            "out, so no idea gains by it, but every verdict tells less."
        )
        return Caution("A leaning judge", text)

    def _turncoat(self) -> Caution | None:
        judge = self.ranking.judge
        if judge.asked_both_ways < _FEW_BOTH_WAYS or judge.contradictions <= judge.asked_both_ways / 2:
            return None
        text = (
            f"Asked again in the other order, the judge said something else on {judge.contradictions} of "
            f"{judge.asked_both_ways} pairs. Pairs asked twice are close ones, and yet: half would be dice."
        )
        return Caution("A judge who changes", text)

    def _lost(self) -> Caution | None:
        judge = self.ranking.judge
        asked = judge.comparisons - judge.handed_in + judge.failed
        if not asked or judge.failed / asked < _MANY_LOST:
            return None
        return Caution("Answers lost", f"{judge.failed} of {asked} comparisons ended without a usable answer.")

    def _cut_short(self) -> Caution | None:
        unread = self.ranking.unread
        if unread is None:
            return None
        text = (
            f"The judge is shown {unread.limit:,} characters of an idea. {unread.ideas:,} of "
            f"{len(self.ranking.ideas):,} ideas are longer: {unread.characters:,} characters at their ends took no "
            "part in any comparison. ASSAYER_RANKING__IDEA_CHARS sets how much is shown."
        )
        return Caution("Long ideas cut", text)

    def _few(self) -> Caution | None:
        if not self.ranking.judge.comparisons or self.per_idea >= _FEW_VERDICTS:
            return None
        text = f"Each idea had {self.per_idea:.1f} verdicts. Read the intervals, not the ranks."
        return Caution("Few comparisons", text)
