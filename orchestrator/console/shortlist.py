"""A ranking's shortlist at a cutoff, for a page: three bands, each limited to a readable number of proposals."""

from typing import NamedTuple

from assayer.ranking.moved_cut import MovedCut, StrengthIntervals, apply_cut
from assayer.reports.wording import BANDS
from assayer_client.rankings import Band
from orchestrator.store.rankings import CallStandings, RankingSummary
from orchestrator.store.rows import PAGE

_MAX_ROWS_PER_BAND = 200
"""Maximum number of rows shown per band; the call's table shows all of them."""


class ShortlistRow(NamedTuple):
    rank: int
    title: str
    proposal: str | None
    """Id of the proposal in the call; None if it is not in the call or has been deleted."""
    low: float
    high: float
    shortlist_probability: float
    comparisons: int
    alike: bool
    score: float | None
    """Score from the proposal's report, 0 to 1."""
    unscored: str
    """The reason why there is no score; empty if there is a score or no report is known."""
    uncovered: bool
    """True if the corpus does not cover the proposal's field, so that it was judged without that field's literature."""


class ShortlistBand(NamedTuple):
    band: Band
    title: str
    size: int
    rows: tuple[ShortlistRow, ...]
    """The band's first rows."""
    next_page: int
    """Number of the page, in the table sorted by rank, on which the remaining proposals begin."""


class Shortlist(NamedTuple):
    moved_cut: MovedCut
    ideas: int
    proposals_in_call: int
    """Number of ideas that are still proposals in the call."""
    uncompared: int
    """Number of ideas without any comparison; they keep their starting position."""
    unscored: int
    """Number of the call's proposals without a score; they are ranked by comparisons alone."""
    uncovered: int
    """Number of ideas whose field the corpus does not cover."""
    bands: tuple[ShortlistBand, ...]


def build_shortlist(standings: CallStandings, summary: RankingSummary, size: int | None) -> Shortlist:
    """Return the shortlist at the cutoff `size`. The default is the ranking's own cutoff, or else a quarter of the
    ideas."""
    ideas = len(standings.ranks)
    shortlist_size = min(size or summary.shortlist_size or max(1, ideas // 4), ideas - 1)
    if size in (None, summary.shortlist_size) and summary.shortlist_size is not None:
        # Even if so many ideas were erased that all the remaining ones are within it.
        shortlist_size = summary.shortlist_size
    intervals = StrengthIntervals(
        standings.strengths,
        standings.strength_lows,
        standings.strength_highs,
        standings.chances,
        summary.shortlist_size,
        summary.confidence,
    )
    moved_cut = apply_cut(intervals, shortlist_size)
    return Shortlist(
        moved_cut=moved_cut,
        ideas=ideas,
        proposals_in_call=sum(proposal is not None for proposal in standings.proposals),
        uncompared=standings.comparisons.count(0),
        unscored=sum(map(bool, standings.unscored)),
        uncovered=sum(map(bool, standings.uncovered)),
        bands=tuple(_build_band(standings, moved_cut, band, title) for band, title in BANDS.items()),
    )


def _build_band(standings: CallStandings, moved_cut: MovedCut, band: Band, title: str) -> ShortlistBand:
    positions = moved_cut.list_indexes_in_band(band)
    first_hidden = positions[_MAX_ROWS_PER_BAND] if len(positions) > _MAX_ROWS_PER_BAND else 0
    rows = tuple(_build_row(standings, moved_cut, position) for position in positions[:_MAX_ROWS_PER_BAND])
    return ShortlistBand(band, title, len(positions), rows, first_hidden // PAGE + 1)


def _build_row(standings: CallStandings, moved_cut: MovedCut, position: int) -> ShortlistRow:
    return ShortlistRow(
        rank=standings.ranks[position],
        title=standings.titles[position] or standings.ideas[position],
        proposal=standings.proposals[position],
        low=standings.lows[position],
        high=standings.highs[position],
        shortlist_probability=float(moved_cut.chances[position]),
        comparisons=standings.comparisons[position],
        alike=standings.alike[position],
        score=standings.scores[position],
        unscored=standings.unscored[position] or "",
        uncovered=bool(standings.uncovered[position]),
    )
