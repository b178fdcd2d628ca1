"""Who sits on the board, what they judge, and how the final score becomes a decision."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from assayer.methods.innoeval.dimensions import Dimension
from assayer.models import Frozen

__all__ = ["BoardOptions"]


class BoardOptions(Frozen):
    board: int = Field(default=5, ge=0, le=100)
    """Reviewers drawn for each idea; 0 asks nobody in particular: the control without personas or masking."""
    seed: int = 0
    """Of the draw and of the masking, together with the idea."""
    draw: Literal["near", "uniform"] = "near"
    """`near` keeps the larger half of the seats for reviewers whose topics the idea names, as far as there are any."""
    personas: Path | None = None
    """A pool in TOML in place of the shipped one."""
    dimensions: Path | tuple[Dimension, ...] | None = None
    """A file of dimensions, or dimensions themselves, in place of the built-in five."""
    calibration: Path | None = None
    """Fitted thresholds, a file or the name of one that `assayer calibrate` keeps; without them the report gives scores
    and no decision."""
    section_wise: Literal["auto", "on", "off"] = "auto"
    """Whether a dimension is judged on the sections that speak to it; `auto`: only if the idea is long."""
    long_idea_chars: int = Field(default=15_000, ge=1)
    """From here on `auto` judges by section."""
    section_chars: int = Field(default=20_000, ge=1_000)
    """Of the sections shown for one dimension."""
    excerpt_chars: int = Field(default=700, ge=100)
    """Of one find, as a reviewer sees it beside what was said about it."""
    advice_chars: int = Field(default=1_500, ge=100)
    """Of one find from after the cutoff."""
