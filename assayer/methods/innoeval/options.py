"""Options of InnoEval: extent of the search and composition of the board. The defaults follow the paper if it specifies
a number."""

from pathlib import Path

from pydantic import Field

from assayer.models import Frozen
from assayer_client.evaluations import BoardModel, BoardSize

METHOD = "innoeval"


class BoardOptions(Frozen):
    board: BoardSize = 5
    seed: int = 0
    """Seed for the draw and for the masking; it is combined with the idea."""
    elsewhere: int = Field(default=4, ge=1, le=10)
    """Maximum familiarity, 1 to 10, of a reviewer with an idea that names none of the reviewer's topics. A value of 10
    disables this limit."""
    models: tuple[BoardModel, ...] = ()
    """Models that are assigned to the seats in rotation, so that the board does not share a single model's habits.
    All must be served by the configured endpoint; if empty, the strong model answers for every seat."""
    calibration: Path | None = None
    """Fitted thresholds: a file, or the name of a calibration stored by `assayer calibrate`. Without them the
    report has scores but no decision."""
    long_idea_chars: int = Field(default=15_000, ge=1)
    """Length in characters from which an idea is judged by section: for each dimension, only the relevant sections."""
    section_chars: int = Field(default=20_000, ge=1_000)
    """Maximum characters of the sections shown for one dimension."""
    excerpt_chars: int = Field(default=600, ge=100)
    """Maximum characters of a source as shown to a reviewer beside its grounding."""
    advice_chars: int = Field(default=1_500, ge=100)
    """Maximum characters of a source published after the cutoff."""


class InnoEvalOptions(Frozen):
    rounds: int = Field(default=3, ge=0, le=5)
    """Maximum rounds of refined queries; the search ends earlier if nothing new is found."""
    parts_per_call: int = Field(default=4, ge=1)
    """Number of the idea's parts for which a single call writes queries."""
    web_queries: int = Field(default=24, ge=0)
    """Maximum initial web queries; each search is billed."""
    code_queries: int = Field(default=10, ge=0)
    """Maximum initial code queries; the code host allows only a few per minute."""
    data_queries: int = Field(default=6, ge=0)
    """Maximum initial data set queries."""
    refined: int = Field(default=12, ge=1)
    """Maximum refined queries per round."""
    tried_per_call: int = Field(default=24, ge=1)
    """Number of earlier queries reviewed in a single call."""
    hits: int = Field(default=10, ge=1)
    """Number of papers per query."""
    pages: int = Field(default=10, ge=1)
    """Number of web pages per query."""
    repositories: int = Field(default=5, ge=1)
    """Number of repositories per query."""
    datasets: int = Field(default=5, ge=1)
    """Number of data sets per query and data set source."""
    alpha: float = Field(default=0.2, ge=0, le=1)
    """Weight of semantic similarity; the remaining weight goes to the judge's score."""
    quality_weight: float = Field(default=0.3, ge=0, le=1)
    """Weight of quality in the judge's score; the remaining weight goes to relevance."""
    least_relevance: int = Field(default=4, ge=0, le=10)
    """Minimum relevance for reading a source. Less relevant sources are not read, even if few remain."""
    top: int = Field(default=10, ge=1)
    """Maximum number of sources read of each kind: papers, pages, repositories and data sets."""
    later: int = Field(default=5, ge=0)
    """Maximum sources of each kind published after the cutoff, for revision advice."""
    judged_per_call: int = Field(default=20, ge=1)
    judged_chars: int = Field(default=1_200, ge=100)
    """Maximum characters of a source as shown to the judge of relevance and quality."""
    evidence_chars: int = Field(default=5_000, ge=100)
    """Maximum characters of a source that was read."""
    grounded_per_call: int = Field(default=5, ge=1)
    grounded_chars: int = Field(default=20_000, ge=1)
    """Maximum characters of all sources in one call."""
    board: BoardOptions = BoardOptions()
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Maximum characters of an idea; longer ideas are cut, and the cut is reported."""
