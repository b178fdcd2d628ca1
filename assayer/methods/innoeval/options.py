"""How far InnoEval looks and who sits on its board. The defaults follow the paper where it gives a number."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.models import Frozen

__all__ = ["METHOD", "BoardModel", "BoardOptions", "BoardSize", "InnoEvalOptions"]


METHOD = "innoeval"
BoardModel = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
"""A model of the endpoint, by its name there."""
BoardSize = Annotated[int, Field(ge=0, le=100)]
"""Reviewers drawn for each idea; 0 runs the control: one reviewer without persona or masking."""


class BoardOptions(Frozen):
    board: BoardSize = 5
    seed: int = 0
    """Of the draw and of the masking, together with the idea."""
    draw: Literal["near", "uniform"] = "near"
    """`near` keeps the larger half of the seats for reviewers whose topics the idea names, as far as there are any."""
    elsewhere: int = Field(default=4, ge=1, le=10)
    """Most familiarity, 1 to 10, of a reviewer with an idea that names none of the topics of their field; 10 leaves
    everybody as familiar everywhere as at home."""
    models: tuple[BoardModel, ...] = ()
    """Among which the seats are dealt in turn, so that the board does not share one model's habits; all served by the
    endpoint of the settings. Without any, every seat is answered by the strong model."""
    personas: Path | None = None
    """A pool in TOML in place of the shipped one."""
    dimensions: Path | tuple[RubricDimension, ...] | None = None
    """A file of dimensions, or dimensions themselves, in place of the built-in five."""
    calibration: Path | None = None
    """Fitted thresholds, a file or the name of one that `assayer calibrate` keeps; without them the report gives scores
    and no decision."""
    section_wise: Literal["auto", "on", "off"] = "auto"
    """Whether a dimension is judged on the sections relevant to it; `auto`: only if the idea is long."""
    long_idea_chars: int = Field(default=15_000, ge=1)
    """From here on `auto` judges by section."""
    section_chars: int = Field(default=20_000, ge=1_000)
    """Of the sections shown for one dimension."""
    excerpt_chars: int = Field(default=700, ge=100)
    """Of one source, as a reviewer sees it beside its grounding."""
    advice_chars: int = Field(default=1_500, ge=100)
    """Of one source from after the cutoff."""


class InnoEvalOptions(Frozen):
    rounds: int = Field(default=3, ge=0, le=5)
    """Of refined queries, at most; the search ends earlier when nothing new is found."""
    parts_per_call: int = Field(default=4, ge=1)
    """Parts of the idea for which one call writes queries."""
    web_queries: int = Field(default=24, ge=0)
    """First queries of the web, at most; its searches are paid for one by one."""
    code_queries: int = Field(default=10, ge=0)
    """First queries of code, at most; its host allows few in a minute."""
    data_queries: int = Field(default=6, ge=0)
    """First queries of data sets, at most."""
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
    datasets: int = Field(default=5, ge=1)
    """Per query and source of data sets."""
    alpha: float = Field(default=0.2, ge=0, le=1)
    """Weight of semantic closeness; the rest is the judge's."""
    quality_weight: float = Field(default=0.3, ge=0, le=1)
    """Of quality in the judge's score; the rest is relevance."""
    least_relevance: int = Field(default=4, ge=0, le=10)
    """What the judge finds less relevant than this is not read, however few remain."""
    top: int = Field(default=10, ge=1)
    """Papers, pages, repositories and data sets that are read: so many of each."""
    later: int = Field(default=5, ge=0)
    """Of each kind that were published after the cutoff, for advice on revision."""
    judged_per_call: int = Field(default=10, ge=1)
    judged_chars: int = Field(default=1_200, ge=100)
    """Of one source, as the judge of relevance and quality sees it."""
    grounding: bool = True
    """Whether what was read is matched to the parts of the idea, with quotes, before the board sees it; left out to
    measure what that is worth."""
    evidence_chars: int = Field(default=5_000, ge=100)
    """Of one source that was read."""
    grounded_per_call: int = Field(default=5, ge=1)
    grounded_chars: int = Field(default=20_000, ge=1)
    """Of all sources in one call."""
    board: BoardOptions = BoardOptions()
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Longer ideas are cut, and the cut is reported."""
