"""Ranking as Python code sees it: proposals in order, tables, and HTML in a notebook.

The names in this file are a stable interface under semantic versioning, unlike those of other modules."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assayer.reports.python_report import build_table, frame_page
from assayer.reports.ranking_page import RankingPage, render_ranking_html, render_ranking_markdown
from assayer_client.comparisons import Comparison
from assayer_client.rankings import Band, Ranking

if TYPE_CHECKING:
    from pandas import DataFrame


class RankedProposal(NamedTuple):
    """Proposal at its place in a ranking."""

    rank: int
    low: int
    high: int
    """Ends of the interval for the rank, from `low` to `high`."""
    title: str
    source: str
    """Path, id or URL from which the proposal was read; `text` if it was passed as text."""
    band: Band | None
    """`in`: among the top `cut` proposals; `out`: not among them; `human`: for people to decide. None without a cut."""
    shortlist_probability: float | None
    """Probability of being among the top `cut` proposals; None without a cut."""

    def __str__(self) -> str:
        return f"{self.rank}. {self.title} (between {self.low} and {self.high})"


@dataclass(frozen=True, repr=False)
class ProposalRanking:
    """Ranking of several proposals, best first."""

    _full: Ranking
    _comparisons: Sequence[Comparison]
    files: tuple[Path, ...] = field(default=())
    """Files that were written; empty unless a folder was passed."""

    @cached_property
    def proposals(self) -> tuple[RankedProposal, ...]:
        return tuple(
            RankedProposal(
                idea.rank,
                round(idea.ranks.low),
                round(idea.ranks.high),
                idea.title,
                idea.source,
                idea.band,
                idea.shortlist_probability,
            )
            for idea in self._full.ideas
        )

    @cached_property
    def notices(self) -> tuple[str, ...]:
        """Cautions that a reader must see before the order."""
        return tuple(f"{caution.title}: {caution.text}" for caution in RankingPage(self._full, ()).cautions)

    def to_dict(self) -> dict[str, Any]:
        """Return the complete ranking, with the same fields as the JSON file."""
        return self._full.model_dump(mode="json")

    def to_html(self) -> str:
        """Return the ranking as a standalone HTML page."""
        return render_ranking_html(self._full, self._comparisons)

    def to_markdown(self) -> str:
        return render_ranking_markdown(self._full, self._comparisons)

    def to_pandas(self) -> "DataFrame":
        """Return the proposals as a table with one row each. Raises ConfigurationError if pandas is not installed."""
        return build_table([proposal._asdict() for proposal in self.proposals], RankedProposal._fields)

    def __repr__(self) -> str:
        return f"<ProposalRanking of {len(self.proposals)} proposals, {self._full.judge.comparisons} comparisons>"

    def _repr_html_(self) -> str:
        """Return the page as an iframe, so that a notebook shows it with the page's own styles."""
        return frame_page(self.to_html())
