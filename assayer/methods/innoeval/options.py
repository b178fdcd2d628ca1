"""Options for InnoEval: how far it searches, and who sits on the board. Where the paper specifies a number, it is the
default."""

from pathlib import Path

from pydantic import Field

from assayer.models import Frozen
from assayer_client.evaluations import BoardModel, BoardSize

METHOD = "innoeval"


class BoardOptions(Frozen):
    board: BoardSize = 5
    seed: int = 0
    """Seed for drawing personas and masking evidence; it is combined with the idea."""
    elsewhere: int = Field(default=4, ge=1, le=10)
    """Maximum familiarity, 1 to 10, of a reviewer with an idea that names too few of the reviewer's topics; 10 for no
    maximum."""
    models: tuple[BoardModel, ...] = ()
    """Models that take the seats in rotation, so that the board does not share one model's habits. The configured
    endpoint must serve all of them; if empty, the strong model takes every seat."""
    calibration: Path | None = None
    """Fitted thresholds: a file, or the name of a calibration stored by `assayer calibrate`. Without them, the report
    has scores but no decision."""
    long_idea_chars: int = Field(default=15_000, ge=1)
    """Minimum length, in characters, at which an idea is judged by section: for each dimension, only the relevant
    sections are read."""
    section_chars: int = Field(default=20_000, ge=1_000)
    """Maximum number of characters of the sections shown for one dimension."""
    excerpt_chars: int = Field(default=600, ge=100)
    """Maximum number of characters of a source shown to a reviewer, in addition to its grounding."""
    advice_chars: int = Field(default=1_500, ge=100)
    """Maximum number of characters shown from a source published after the cutoff."""


class InnoEvalOptions(Frozen):
    rounds: int = Field(default=3, ge=0, le=5)
    """Maximum number of rounds of refined queries; the search ends earlier if nothing new is found."""
    parts_per_call: int = Field(default=4, ge=1)
    """Number of the idea's parts for which one LLM request writes queries."""
    web_queries: int = Field(default=24, ge=0)
    """Maximum number of initial web queries; each search is billed."""
    code_queries: int = Field(default=10, ge=0)
    """Maximum number of initial code queries; the code host allows only a few per minute."""
    data_queries: int = Field(default=6, ge=0)
    """Maximum number of initial queries for data sets."""
    refined: int = Field(default=12, ge=1)
    """Maximum number of refined queries per round."""
    tried_per_call: int = Field(default=24, ge=1)
    """Number of earlier queries reviewed in one LLM request."""
    hits: int = Field(default=10, ge=1)
    """Number of papers retrieved per query."""
    pages: int = Field(default=10, ge=1)
    """Number of web pages retrieved per query."""
    repositories: int = Field(default=5, ge=1)
    """Number of repositories retrieved per query."""
    datasets: int = Field(default=5, ge=1)
    """Number of data sets retrieved per query and catalogue."""
    alpha: float = Field(default=0.2, ge=0, le=1)
    """Weight of semantic similarity in the ranking; the rest goes to the judge's score."""
    quality_weight: float = Field(default=0.3, ge=0, le=1)
    """Weight of quality in the judge's score; the rest goes to relevance."""
    least_relevance: int = Field(default=4, ge=0, le=10)
    """Minimum relevance at which a source is read. Less relevant sources are not read, even if few remain."""
    top: int = Field(default=10, ge=1)
    """Maximum number of sources read of each kind: papers, pages, repositories and data sets."""
    later: int = Field(default=5, ge=0)
    """Maximum number of sources of each kind published after the cutoff, for revision advice."""
    judged_per_call: int = Field(default=20, ge=1)
    judged_chars: int = Field(default=1_200, ge=100)
    """Maximum number of characters of a source shown to the judge of relevance and quality."""
    evidence_chars: int = Field(default=5_000, ge=100)
    """Maximum number of characters read from a source."""
    grounded_per_call: int = Field(default=5, ge=1)
    grounded_chars: int = Field(default=20_000, ge=1)
    """Maximum number of characters of all sources in one LLM request."""
    board: BoardOptions = BoardOptions()
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Maximum number of an idea's characters in prompts. Longer ideas are cut, and the report says so."""
