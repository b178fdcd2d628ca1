"""A ranking at a cut, for a page: three bands, each with as many of its proposals as people read there."""

from typing import NamedTuple

from assayer.models.ranking import Band
from assayer.ranking.moved_cut import MovedCut, StrengthIntervals, at_cut
from assayer.reports.wording import BANDS
from orchestrator.store.call_tables import PAGE
from orchestrator.store.rankings import CallStandings, RankingSummary

__all__ = ["Shortlist", "ShortlistBand", "ShortlistRow", "shortlist"]

_SHOWN = 200
"""Of each band; the table of the call has all."""


class ShortlistRow(NamedTuple):
    rank: int
    title: str
    proposal: str | None
    """Of the call; None: it is none of it, or was deleted since."""
    low: float
    high: float
    chance_in: float
    comparisons: int
    alike: bool
    score: float | None
    """Of its report, 0 to 1."""
    unscored: str
    """Why there is none; empty where there is one, or no report is known."""
    uncovered: bool
    """The corpus does not cover its field: it was judged without what was written there."""


class ShortlistBand(NamedTuple):
    band: Band
    title: str
    size: int
    rows: tuple[ShortlistRow, ...]
    """The first of them."""
    more_from: int
    """The page of the table by rank on which those that are not shown begin."""


class Shortlist(NamedTuple):
    moved: MovedCut
    ideas: int
    of_call: int
    """How many of them are proposals of the call now."""
    uncompared: int
    """Of which the judge said nothing: they stand where they started."""
    unscored: int
    """Proposals of the call without a score, which the comparisons alone have placed."""
    uncovered: int
    """Those whose field the corpus does not cover."""
    bands: tuple[ShortlistBand, ...]


def shortlist(standings: CallStandings, summary: RankingSummary, cut: int | None) -> Shortlist:
    """At the cut that is asked for, else at the ranking's own, else at a quarter of the ideas."""
    ideas = len(standings.ranks)
    chosen = min(cut or summary.cut or max(1, ideas // 4), ideas - 1)
    if cut in (None, summary.cut) and summary.cut is not None:
        chosen = summary.cut  # also where so many were erased that all who are left are within it
    ranked = StrengthIntervals(
        standings.strengths,
        standings.strength_lows,
        standings.strength_highs,
        standings.chances,
        summary.cut,
        summary.confidence,
    )
    moved = at_cut(ranked, chosen)
    return Shortlist(
        moved=moved,
        ideas=ideas,
        of_call=sum(one is not None for one in standings.proposals),
        uncompared=standings.comparisons.count(0),
        unscored=sum(map(bool, standings.unscored)),
        uncovered=sum(map(bool, standings.uncovered)),
        bands=tuple(_band(standings, moved, band, title) for band, title in BANDS.items()),
    )


def _band(standings: CallStandings, moved: MovedCut, band: Band, title: str) -> ShortlistBand:
    places = moved.of_band(band)
    hidden = places[_SHOWN] if len(places) > _SHOWN else 0
    rows = tuple(_row(standings, moved, place) for place in places[:_SHOWN])
    return ShortlistBand(band, title, len(places), rows, hidden // PAGE + 1)


def _row(standings: CallStandings, moved: MovedCut, place: int) -> ShortlistRow:
    return ShortlistRow(
        rank=standings.ranks[place],
        title=standings.titles[place] or standings.ideas[place],
        proposal=standings.proposals[place],
        low=standings.lows[place],
        high=standings.highs[place],
        chance_in=float(moved.chances[place]),
        comparisons=standings.comparisons[place],
        alike=standings.alike[place],
        score=standings.scores[place],
        unscored=standings.unscored[place] or "",
        uncovered=bool(standings.uncovered[place]),
    )
