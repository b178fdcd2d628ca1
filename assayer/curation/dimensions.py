"""Dimensions for scoring candidates one by one: novelty, feasibility and effectiveness from 1 to 5, or a file supplied
by the user."""

from pathlib import Path

from assayer.errors import InputError
from assayer.methods.innoeval.dimensions import RubricDimension, resolve_dimensions

_MOST = 20
"""Maximum dimensions in one request."""


def score_dimensions(path: Path | None = None) -> tuple[RubricDimension, ...]:
    """Load the dimensions from a file in InnoEval's format, or return the built-in ones. Raises InputError."""
    dimensions = resolve_dimensions(path, "assayer.curation")
    if len(dimensions) > _MOST:
        raise InputError(f"{path} has {len(dimensions)} dimensions, but at most {_MOST} are allowed.")
    return dimensions
