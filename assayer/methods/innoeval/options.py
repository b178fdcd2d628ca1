"""How far InnoEval looks. The defaults follow the paper where it gives a number."""

from pydantic import Field

from assayer.methods.innoeval.board_options import BoardOptions
from assayer.models import Frozen

__all__ = ["METHOD", "Options"]

METHOD = "innoeval"


class Options(Frozen):
    rounds: int = Field(default=3, ge=0, le=5)
    """Of refined queries, at most; the search ends earlier when nothing new is found."""
    parts_per_call: int = Field(default=4, ge=1)
    """Parts of the idea for which one call writes queries."""
    web_queries: int = Field(default=24, ge=0)
    """First queries of the web, at most; its searches are paid for one by one."""
    code_queries: int = Field(default=10, ge=0)
    """First queries of code, at most; its host allows few in a minute."""
    refined: int = Field(default=12, ge=1)
    """Refined queries of one round, at most."""
    tried_per_call: int = Field(default=24, ge=1)
    """Queries that one call looks back on."""
    hits: int = Field(default=10, ge=1)
    """Papers per query."""
    pages: int = Field(default=10, ge=1)
    """Web pages per query."""
    repositories: int = Field(default=5, ge=1)
    """Per query."""
    alpha: float = Field(default=0.2, ge=0, le=1)
    """Weight of semantic closeness; the rest is the judge's."""
    quality_weight: float = Field(default=0.3, ge=0, le=1)
    """Of quality in the judge's score; the rest is relevance."""
    least_relevance: int = Field(default=4, ge=0, le=10)
    """What the judge finds less relevant than this is not read, however few remain."""
    top: int = Field(default=10, ge=1)
    """Papers, pages and repositories that are read: so many of each."""
    later: int = Field(default=5, ge=0)
    """Of each kind that were published after the cutoff, for advice on revision."""
    judged_per_call: int = Field(default=10, ge=1)
    judged_chars: int = Field(default=1_200, ge=100)
    """Of one find, as the judge of relevance and quality sees it."""
    evidence_chars: int = Field(default=5_000, ge=100)
    """Of one find that was read."""
    grounded_per_call: int = Field(default=5, ge=1)
    grounded_chars: int = Field(default=20_000, ge=1)
    """Of all finds in one call."""
    board: BoardOptions = BoardOptions()
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Longer ideas are cut, and the cut is reported."""
